import { type GraphQLInputType, type GraphQLSchema, getNullableType, isEnumType, isInputObjectType, isListType } from 'graphql';

const byType: Record<string, string> = {
  String: 'must be a string',
  ID: 'must be a string',
  Int: 'must be an integer',
  Float: 'must be a number',
  Boolean: 'must be true or false',
  DateTime: 'must be an ISO 8601 date-time with an offset',
  LocalDate: 'must be a date, YYYY-MM-DD',
  Decimal: 'must be a decimal number',
  JSONObject: 'must be a JSON object',
};

/** graphql-js's words for a value of the wrong type, in ours: they follow the field's name. */
export function coercionMessage(schema: GraphQLSchema, message: string, value: unknown): string {
  if (value === null || /Expected non-nullable type/.test(message)) return 'must not be null';
  if (/^Field "[^"]+" of required type/.test(message)) return message;
  const own = /^must be /.exec(message);
  if (own) return message;
  const unknown = /^Field "([^"]+)" is not defined/.exec(message);
  if (unknown) return `has no field ${unknown[1]}`;
  const scalar = /^(?:Expected type "([\w]+)"|(String|ID|Int|Float|Boolean|JSONObject) |.* valid (LocalDate)\b|(DateTime) )/.exec(message);
  const words = byType[scalar?.slice(1).find(Boolean) ?? ''];
  if (words) return words;
  const enumeration = schema.getType(/(?:in|Enum) "(\w+)"/.exec(message)?.[1] ?? '');
  if (isEnumType(enumeration)) {
    return `must be one of ${enumeration
      .getValues()
      .map((v) => v.name)
      .join(', ')}`;
  }
  return /Expected type "\w+" to be an object/.test(message) ? 'must be an object' : 'is malformed';
}

/** Whether a list belongs at the path. A value in its place is read as its only item, and faulted as such. */
export function wantsList(type: GraphQLInputType, path: readonly (string | number)[]): boolean {
  let at = getNullableType(type);
  for (const step of path) {
    if (isListType(at) && typeof step === 'string') at = getNullableType(at.ofType as GraphQLInputType);
    const inner = isListType(at) ? (at.ofType as GraphQLInputType) : isInputObjectType(at) ? at.getFields()[step]?.type : undefined;
    if (!inner) return false;
    at = getNullableType(inner);
  }
  return isListType(at);
}
