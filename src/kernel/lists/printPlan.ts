import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql';
import { isRenamed } from '../model/enums.js';
import { memberOf } from '../model/fieldRules.js';
import { mostItems } from '../model/recordMarks.js';
import { DateTime, Decimal } from '../model/scalars.js';
import type { ToMany, ToOne } from '../tables/relation.js';
import type { AnyTable, Table } from '../tables/table.js';
import { collect, type SelectionContext } from './collect.js';

/** What a selection of records, alias `t`, is printed from: each field under the name by which it answers. */
export type FieldPlan = { key: string } & (
  | { kind: 'raw'; sql: string }
  | { kind: 'computed'; table: AnyTable; name: string; shown: (value: string) => string }
  | { kind: 'one'; relation: ToOne; fields: FieldPlan[] }
  | { kind: 'list'; relation: ToMany; fields: FieldPlan[]; holds: number }
  | { kind: 'page'; relation: ToMany; page: PagePlan }
);

/** What is asked of a page. */
export interface PagePlan {
  field: GraphQLField<unknown, unknown>;
  node: FieldNode;
  members: PageMember[];
  withTotal: boolean;
}

export type PageMember = { key: string } & (
  | { kind: 'raw'; sql: string }
  | { kind: 'nodes'; fields: FieldPlan[] }
  | {
      kind: 'edges';
      members: ({ key: string } & ({ kind: 'cursor' } | { kind: 'raw'; sql: string } | { kind: 'node'; fields: FieldPlan[] }))[];
    }
  | { kind: 'total' }
  | { kind: 'info'; members: { key: string; name: string }[] }
  | { kind: 'figure'; name: string; shown: (value: string) => string }
);

/** Thrown where a document asks for what is neither a column, a computed field nor a declared relation. */
export class NotPrinted extends Error {}

// PostgreSQL cuts longer names.
const longestKey = 63;

const typeName = (key: string, { name }: GraphQLObjectType) => ({ kind: 'raw', key, sql: `to_json('${name}'::text)` }) as const;

/** The plan of a selection of records. */
export function planFields(context: SelectionContext, type: GraphQLObjectType, nodes: readonly FieldNode[]): FieldPlan[] {
  const table = type.extensions.table as AnyTable | undefined;
  if (!table) throw new NotPrinted(type.name);
  return selectedOf(context, type, nodes).map(([key, group]) => {
    const name = group[0]!.name.value;
    return name === '__typename' ? typeName(key, type) : planField(context, table, type.getFields()[name]!, key, group);
  });
}

function planField(
  context: SelectionContext,
  table: AnyTable,
  field: GraphQLField<unknown, unknown>,
  key: string,
  group: FieldNode[],
): FieldPlan {
  const name = memberOf(field);
  const relation = field.extensions.relation as ToOne | ToMany | undefined;
  if (relation) {
    const target = getNamedType(field.type) as GraphQLObjectType;
    if (relation.kind === 'one') return { kind: 'one', key, relation, fields: planFields(context, target, group) };
    if (relation.listed) {
      const holds = mostItems(field) ?? Number.POSITIVE_INFINITY;
      return { kind: 'list', key, relation, fields: planFields(context, target, group), holds };
    }
    return { kind: 'page', key, relation, page: planPage(context, relation.to, field, group) };
  }
  if (table.computed[name]) return { kind: 'computed', key, table, name, shown: shownAs(context, field, group) };
  const column = table.columnOf(name);
  if (column && field.extensions.exactOf) return { kind: 'raw', key, sql: `trim_scale(${column})::text` };
  if (!column || field.extensions.isResolved) throw new NotPrinted(`${table.name}.${name}`);
  const named = getNamedType(field.type);
  const isRenamedEnum = isEnumType(named) && isRenamed(named) && !context.inWords;
  return {
    kind: 'raw',
    key,
    sql:
      (isRenamedEnum ? undefined : table.printed(name)) ??
      `(select ${shownAs(context, field, group)('v.v')} from (select to_json(${column}) as v) v)`,
  };
}

/** What is selected of a type, by the names under which it answers: PostgreSQL would cut a longer one. */
export function selectedOf(
  context: SelectionContext,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): [key: string, nodes: FieldNode[]][] {
  const sets = nodes.map((node) => node.selectionSet);
  const selected = [...collect(context, type, sets)];
  for (const [key] of selected) if (key.length > longestKey) throw new NotPrinted(key);
  return selected;
}

/**
 * What is selected of a page or a part of it. Where `@skip` and `@include` leave nothing, the resolvers answer: SQL has no list of nothing.
 */
function someOf(context: SelectionContext, type: GraphQLObjectType, nodes: readonly FieldNode[]): [key: string, nodes: FieldNode[]][] {
  const selected = selectedOf(context, type, nodes);
  if (selected.length === 0) throw new NotPrinted(type.name);
  return selected;
}

/** The plan of a connection. */
export function planPage(context: SelectionContext, to: AnyTable, field: GraphQLField<unknown, unknown>, group: FieldNode[]): PagePlan {
  const type = getNamedType(field.type) as GraphQLObjectType;
  const record = getNamedType(type.getFields().nodes!.type) as GraphQLObjectType;
  const members = someOf(context, type, group).map(([key, nodes]): PageMember => {
    const name = nodes[0]!.name.value;
    if (name === '__typename') return typeName(key, type);
    if (name === 'nodes') return { kind: 'nodes', key, fields: planFields(context, record, nodes) };
    if (name === 'edges') return { kind: 'edges', key, members: planEdges(context, type, record, nodes) };
    if (name === 'totalCount') return { kind: 'total', key };
    if (name === 'pageInfo') return { kind: 'info', key, members: planInfo(context, type, nodes) };
    if (!(to as Table).options.figures?.[name]) throw new NotPrinted(`${type.name}.${name}`);
    return { kind: 'figure', key, name, shown: shownAs(context, type.getFields()[name]!, nodes) };
  });
  return { field, node: group[0]!, members, withTotal: members.some(({ kind }) => kind === 'total') };
}

function planEdges(context: SelectionContext, connection: GraphQLObjectType, record: GraphQLObjectType, nodes: readonly FieldNode[]) {
  const type = getNamedType(connection.getFields().edges!.type) as GraphQLObjectType;
  return someOf(context, type, nodes).map(([key, group]) => {
    const name = group[0]!.name.value;
    if (name === '__typename') return typeName(key, type);
    return name === 'cursor'
      ? { kind: 'cursor' as const, key }
      : { kind: 'node' as const, key, fields: planFields(context, record, group) };
  });
}

function planInfo(context: SelectionContext, connection: GraphQLObjectType, nodes: readonly FieldNode[]) {
  const type = getNamedType(connection.getFields().pageInfo!.type) as GraphQLObjectType;
  return someOf(context, type, nodes).map(([key, [node]]) => ({ key, name: node!.name.value }));
}

/** How a JSON value of a field's type is printed: a leaf as its scalar does, of an object the members that are selected. */
function shownAs(context: SelectionContext, field: GraphQLField<unknown, unknown>, group: readonly FieldNode[]): (value: string) => string {
  const type = getNullableType(field.type);
  const named = getNamedType(type);
  if (field.extensions.exactOf) return (value) => `trim_scale((${value}#>>'{}')::numeric)::text`;
  if (!isObjectType(named)) return leavesOf(context, type);
  const members = selectedOf(context, named, group).map(([key, nodes]) => {
    const { name } = nodes[0]!;
    if (name.value === '__typename') return () => `'${named.name}'::text as "${key}"`;
    const inner = named.getFields()[name.value]!;
    if (inner.extensions.isResolved) throw new NotPrinted(`${named.name}.${name.value}`);
    const shown = shownAs(context, inner, nodes);
    return (value: string) => `${shown(`(${value}->'${memberOf(inner)}')`)} as "${key}"`;
  });
  // As a row, like every record: so it is counted as one. No name of a client has a blank.
  const row = (value: string) => `(select ${members.map((member) => member(value)).join(', ')}) "x "`;
  if (isListType(type))
    return (value) => `(select coalesce(json_agg("x "), '[]') from json_array_elements(${value}) e(v) cross join lateral ${row('e.v')})`;
  return (value) => `case when ${value} is not null then (select row_to_json("x ") from ${row(value)}) end`;
}

const same = (value: string) => value;

/** A leaf, or each of a list of leaves. */
function leavesOf(context: SelectionContext, type: GraphQLNullableType): (value: string) => string {
  const shown = leafOf(context, getNamedType(type));
  if (!isListType(type) || shown === same) return shown;
  const each = (value: string) => `(select coalesce(json_agg(${shown('e.v')}), '[]') from json_array_elements(${value}) e(v))`;
  return (value) => `case when json_typeof(${value}) = 'array' then ${each(value)} end`;
}

/** A JSON leaf as its scalar prints it. */
function leafOf({ inWords }: SelectionContext, type: GraphQLNamedType): (value: string) => string {
  if (type === Decimal) return (value) => `trim_scale((${value}#>>'{}')::numeric)`;
  if (type === DateTime) return (value) => `to_char((${value}#>>'{}')::timestamptz, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  if (isEnumType(type) && isRenamed(type) && !inWords) return (value) => `replace(${value}#>>'{}', '-', '_')`;
  return same;
}
