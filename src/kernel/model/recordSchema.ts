import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { wordsOf } from './enums.js';
import type { FieldRule } from './fieldRules.js';
import { shownFields } from './restRecord.js';

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = Record<string, unknown>;

/** What each scalar is in an answer. */
export const scalarSchemas: Record<string, JsonSchema> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  Decimal: { type: 'number' },
  DateTime: { type: 'string', format: 'date-time' },
  DateOrDateTime: { type: 'string' },
  LocalDate: { type: 'string', format: 'date' },
  JSONObject: { type: 'object', additionalProperties: true },
  JSON: {},
};

/** The schema of a value that a schema describes, or of null. */
export function nullableSchema(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema;
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  if (schema.type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const type = [...(Array.isArray(schema.type) ? schema.type : [schema.type]), 'null'];
  return { ...schema, type, ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) };
}

/** An object that has all these members. None more is forbidden: a later release may add some. */
const holding = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/**
 * The REST record of a type as a schema that stands by itself, by which `restRecordOf` makes it: what an
 * event carries.
 */
export const recordSchema = (schema: GraphQLSchema, typeName: string): JsonSchema => ofType(schema.getType(typeName) as GraphQLObjectType);

const ofType = (type: GraphQLObjectType, only?: string[]): JsonSchema =>
  holding(Object.fromEntries(shownFields(type, only).map(({ shown, field, selection }) => [shown, ofField(field, selection)])));

function ofField(field: GraphQLField<unknown, unknown>, only?: string[]): JsonSchema {
  const { rule } = field.extensions as { rule?: FieldRule };
  const inner = isNonNullType(field.type) ? (field.type.ofType as GraphQLOutputType) : field.type;
  const { format, examples } = rule?.schema ?? {};
  const own = { ...(format !== undefined && { format }), ...(examples !== undefined && { examples }) };
  const schema = { ...present(inner, only), ...(!rule?.list && own) };
  const said = isNonNullType(field.type) ? schema : nullableSchema(schema);
  return field.description ? { ...said, description: field.description } : said;
}

function present(type: GraphQLOutputType, only?: string[]): JsonSchema {
  if (isNonNullType(type)) return present(type.ofType as GraphQLOutputType, only);
  if (isListType(type)) return { type: 'array', items: present(type.ofType as GraphQLOutputType, only) };
  if (isEnumType(type)) return { type: 'string', enum: wordsOf(type) };
  if (isObjectType(type)) return ofType(type, only);
  return scalarSchemas[getNamedType(type).name] ?? {};
}
