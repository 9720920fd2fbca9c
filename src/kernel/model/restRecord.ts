import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** One field of a record as REST shows it. `selection` names the fields of a relation that belongs to the record. */
export interface RecordField {
  name: string;
  field: GraphQLField<unknown, unknown>;
  selection?: string[];
}

const known = new WeakMap<GraphQLObjectType, RecordField[]>();

/** The fields that make a type's REST record: its own lines of the model, and the relations that it carries along. */
export function recordFields(type: GraphQLObjectType): RecordField[] {
  const cached = known.get(type);
  if (cached) return cached;
  const fields = Object.values(type.getFields()).flatMap((field): RecordField[] => {
    const selection = field.extensions.record as string[] | undefined;
    if (selection?.length) return [{ name: field.name, field, selection }];
    return selection || field.extensions.rule ? [{ name: field.name, field }] : [];
  });
  const ordered = [...fields.filter((f) => f.name === 'id'), ...fields.filter((f) => f.name !== 'id')];
  known.set(type, ordered);
  return ordered;
}

/** The selection set of a type's REST record. */
export function recordSelection(type: GraphQLObjectType, only?: string[]): string {
  const fields = recordFields(type)
    .filter((f) => !only || only.includes(f.name))
    .map(({ name, field, selection }) => {
      const inner = getNamedType(field.type);
      return isObjectType(inner) ? `${name} ${recordSelection(inner, selection)}` : name;
    });
  return `{ ${fields.join(' ')} }`;
}

/** The REST record of a row, made without a query: what webhooks, the feed and the export carry. */
export function recordOf(schema: GraphQLSchema, typeName: string, row: object): Record<string, unknown> {
  return project(schema.getType(typeName) as GraphQLObjectType, row as Record<string, unknown>);
}

function project(type: GraphQLObjectType, row: Record<string, unknown>, only?: string[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const { name, field, selection } of recordFields(type)) {
    if (!only || only.includes(name)) record[name] = shape(field.type, row[name], selection);
  }
  return record;
}

function shape(type: GraphQLField<unknown, unknown>['type'], value: unknown, only?: string[]): unknown {
  if (value === null || value === undefined) return null;
  if (isNonNullType(type)) return shape(type.ofType, value, only);
  if (isListType(type)) return (value as unknown[]).map((item) => shape(type.ofType, item, only));
  if (isLeafType(type)) return type.serialize(value);
  return isObjectType(type) ? project(type, value as Record<string, unknown>, only) : null;
}
