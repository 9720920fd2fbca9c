import {
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { type Detail, detailOf, type Fault, notOneOf } from '../base/errors.js';

const wrongType = (message: string): Fault => ({ code: 'invalid_type', message });
const malformed = (message: string): Fault => ({ code: 'invalid_format', message });

const byType: Record<string, Fault> = {
  String: wrongType('must be a string'),
  ID: wrongType('must be a string'),
  Int: wrongType('must be an integer'),
  Float: wrongType('must be a number'),
  Boolean: wrongType('must be true or false'),
  DateTime: malformed('must be an ISO 8601 date-time with an offset'),
  LocalDate: malformed('must be a date, YYYY-MM-DD'),
  Decimal: malformed('must be a decimal number'),
  JSONObject: wrongType('must be a JSON object'),
};

/** What a value is told that stands where a list belongs. */
export const notList = wrongType('must be a list');

/** A type fault of a variable as graphql-js tells it: where, of what value, in its own words. */
interface TypeFault {
  path: readonly (string | number)[];
  value: unknown;
  message: string;
}

/**
 * A type fault of a variable as a detail of ours. graphql-js reports a missing or unknown member on its object; the detail names the
 * member. `name` is the variable's, for a fault of the whole.
 */
export function coercionDetail(schema: GraphQLSchema, type: GraphQLInputType, name: string, { path, value, message }: TypeFault): Detail {
  const at = (...more: string[]) => placeOf(type, name, [...path, ...more]);
  const list = listAt(type, path);
  // An object in its place is read as its only item: what is wrong is within.
  if (list && !(isInputObjectType(getNamedType(list)) && typeof value === 'object' && value !== null)) return detailOf(at(), notList);
  const [, unknown] = /^Field "([^"]+)" is not defined/.exec(message) ?? [];
  return unknown ? detailOf(at(unknown), isNoField) : (missingDetail(message, at) ?? detailOf(at(), valueFault(schema, message, value)));
}

const isNoField: Fault = { code: 'unknown_field', message: 'is not a field' };

/** The detail of a member that is missing, which is reported on its object; undefined for another fault. */
function missingDetail(message: string, at: (member: string) => string): Detail | undefined {
  const [, missing] = /^Field "(?:\w+\.)?(\w+)" of required type/.exec(message) ?? [];
  return missing ? detailOf(at(missing), { code: 'required', message: 'is required' }) : undefined;
}

/** The detail of an argument that is missing, or that is none; undefined for another fault. */
export function argumentDetail(message: string): Detail | undefined {
  const [, missing] = /^Field "\w+" argument "(\w+)" of type "[^"]+" is required/.exec(message) ?? [];
  if (missing) return detailOf(missing, { code: 'required', message: 'is required' });
  const [, unknown] = /^Unknown argument "(\w+)"/.exec(message) ?? [];
  return unknown ? detailOf(unknown, { code: 'unknown_field', message: 'is not an argument' }) : undefined;
}

/** The detail for a fault of a value that is written in the document; `at` names its place. */
export function literalDetail(schema: GraphQLSchema, message: string, at: (...member: string[]) => string): Detail {
  if (/^Field "[^"]+" is not defined/.test(message)) return detailOf(at(), isNoField);
  const isNull = /, found null\.$/.test(message);
  return missingDetail(message, at) ?? detailOf(at(), valueFault(schema, message, isNull ? null : undefined));
}

/**
 * A place within a variable or an argument. What chooses the records of a list is told as it tells of its places itself:
 * `where.and[3].value`, `orderBy[1].lastName`. The members of an input stand for themselves, those of a list behind its name.
 */
export function placeOf(type: GraphQLInputType, name: string, path: readonly (string | number)[]): string {
  const named = getNamedType(type);
  const isOfList = /(Order|Group)By$/.test(named.name) || (isInputObjectType(named) && named.getFields().and);
  if (isOfList) return name + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return [...(isListType(getNullableType(type)) ? [name] : []), ...path].join('.') || name;
}

/** What is wrong with a value of the wrong type, in words that follow the field's name. */
function valueFault(schema: GraphQLSchema, message: string, value: unknown): Fault {
  if (value === null || /Expected non-nullable type/.test(message)) return { code: 'required', message: 'must not be null' };
  if (/^must be /.test(message)) return malformed(message);
  const scalar = /^(?:Expected type "([\w]+)"|(String|ID|Int|Float|Boolean|JSONObject) |.* valid (LocalDate)\b|(DateTime) )/.exec(message);
  const known = byType[scalar?.slice(1).find(Boolean) ?? ''];
  if (known) return known;
  const enumeration = schema.getType(/(?:in|Enum) "(\w+)"/.exec(message)?.[1] ?? '');
  if (isEnumType(enumeration)) return notOneOf(enumeration.getValues().map(({ name }) => name));
  const [, expected] = /^Expected value of type "\[*(\w+)/.exec(message) ?? [];
  const isObject = isInputObjectType(schema.getType(expected ?? '')) || /Expected type "\w+" to be an object/.test(message);
  return wrongType(isObject ? 'must be an object' : 'is malformed');
}

/** The list that belongs at the path, if one does. A value in its place is read as its only item, and faulted as such. */
function listAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLList<GraphQLInputType> | undefined {
  let at = getNullableType(type);
  for (const step of path) {
    if (isListType(at) && typeof step === 'string') at = getNullableType(at.ofType as GraphQLInputType);
    const inner = isListType(at) ? (at.ofType as GraphQLInputType) : isInputObjectType(at) ? at.getFields()[step]?.type : undefined;
    if (!inner) return undefined;
    at = getNullableType(inner);
  }
  return isListType(at) ? at : undefined;
}
