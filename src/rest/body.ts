import { type GraphQLInputObjectType, type GraphQLInputType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { badRequest } from '../kernel/base/errors.js';

/** A JSON body as an operation's input: members that the input does not know are left out and named. */
export function adaptBody(
  type: GraphQLInputObjectType,
  body: unknown,
  aliases: Record<string, string> = {},
): { input: Record<string, unknown>; ignored: string[] } {
  const given = body ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) throw badRequest('The body must be a JSON object');
  const ignored: string[] = [];
  const named = Object.entries(given).map(([name, value]) => [Object.hasOwn(aliases, name) ? aliases[name] : name, value]);
  return { input: known(type, Object.fromEntries(named), '', ignored), ignored };
}

function known(type: GraphQLInputObjectType, given: Record<string, unknown>, prefix: string, ignored: string[]) {
  const fields = type.getFields();
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const field = fields[name];
    if (field) kept[name] = inside(field.type, value, `${prefix}${name}`, ignored);
    else ignored.push(`${prefix}${name}`);
  }
  return kept;
}

function inside(declared: GraphQLInputType, value: unknown, at: string, ignored: string[]): unknown {
  const type = getNullableType(declared);
  if (isListType(type) && Array.isArray(value)) return value.map((item, i) => inside(type.ofType, item, `${at}.${i}`, ignored));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isInputObjectType(type) && isObject ? known(type, value as Record<string, unknown>, `${at}.`, ignored) : value;
}
