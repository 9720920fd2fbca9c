import { coerceInputValue, type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';

/** A text as the number or the truth value that a type takes, where it spells one: what placeholders became is text. */
function spelled(value: unknown, type: string): unknown {
  if (typeof value !== 'string') return value;
  if (['Int', 'Float', 'Decimal'].includes(type) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  return type === 'Boolean' && /^(true|false)$/.test(value) ? value === 'true' : value;
}

/** A value of JSON as a field of an input class takes it, before its line of the model looks at it; or why it does not. */
export function inputValue(schema: GraphQLSchema, input: string, field: string, value: unknown): { coerced?: unknown; fault?: string } {
  const { type } = (schema.getType(input) as GraphQLInputObjectType).getFields()[field]!;
  let fault: string | undefined;
  const coerced = coerceInputValue(spelled(value, getNamedType(type).name), type, () => {
    fault = `must be a value of the type ${type}`;
  });
  return fault ? { fault } : { coerced };
}
