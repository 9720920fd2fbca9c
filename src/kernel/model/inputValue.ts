import {
  coerceInputValue,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import type { Fault } from '../base/errors.js';
import { coercionDetail, notList } from './coercionMessages.js';

const typeOf = (schema: GraphQLSchema, input: string, field: string): GraphQLInputType =>
  (schema.getType(input) as GraphQLInputObjectType).getFields()[field]!.type;

/** A text as the number or the truth value that a field of an input class takes, where it spells one: what placeholders became is text. */
export function spelled(schema: GraphQLSchema, input: string, field: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const { name } = getNamedType(typeOf(schema, input, field));
  // A decimal that a number would change stays the text that it is.
  const isKept = name === 'Decimal' && value.replace(/[-.]/g, '').length > 15;
  if (['Int', 'Float', 'Decimal'].includes(name) && !isKept && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  return name === 'Boolean' && /^(true|false)$/.test(value) ? value === 'true' : value;
}

/** Whether a field of an input class takes a text, or what one can spell: no list and no object. */
export function takesText(schema: GraphQLSchema, input: string, field: string): boolean {
  const type = typeOf(schema, input, field);
  const named = getNamedType(type);
  return !isListType(getNullableType(type)) && !isInputObjectType(named) && named.name !== 'JSONObject';
}

/**
 * A value of JSON as a field of an input class takes it, before its line of the model looks at it; or why it does not. As in a body of
 * REST, what is no list is none: coercion alone would read one word as a list of one.
 */
export function inputValue(schema: GraphQLSchema, input: string, field: string, value: unknown): { coerced?: unknown; fault?: Fault } {
  const type = typeOf(schema, input, field);
  if (value !== null && isListType(getNullableType(type)) && !Array.isArray(value)) return { fault: notList };
  let fault: Fault | undefined;
  const coerced = coerceInputValue(value, type, (path, wrong, { message }) => {
    fault ??= coercionDetail(schema, type, field, { path, value: wrong, message });
  });
  return fault ? { fault } : { coerced };
}
