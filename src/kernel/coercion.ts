import { type GraphQLSchema, isEnumType } from 'graphql';

const byType: Record<string, string> = {
  String: 'must be a string',
  ID: 'must be a string',
  Int: 'must be an integer',
  Float: 'must be a number',
  Boolean: 'must be true or false',
  DateTimeISO: 'must be an ISO 8601 date-time with an offset',
  LocalDate: 'must be a date, YYYY-MM-DD',
  Decimal: 'must be a decimal number',
  JSONObject: 'must be a JSON object',
};

/** graphql-js's words for a value of the wrong type, in ours: they follow the field's name. */
export function coercionMessage(schema: GraphQLSchema, message: string, value: unknown): string {
  if (value === null || /Expected non-nullable type/.test(message)) return 'must not be null';
  if (/^Field "[^"]+" of required type/.test(message)) return message;
  const unknown = /^Field "([^"]+)" is not defined/.exec(message);
  if (unknown) return `has no field ${unknown[1]}`;
  const scalar = /^(?:Expected type "([\w]+)"|(String|ID|Int|Float|Boolean|LocalDate|JSONObject|Decimal|DateTimeISO) )/.exec(message);
  const words = byType[scalar?.[1] ?? scalar?.[2] ?? ''];
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
