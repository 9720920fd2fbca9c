import { type GraphQLField, type GraphQLObjectType, getArgumentValues, getNamedType, isInterfaceType } from 'graphql';
import { Extensions } from 'type-graphql';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { isUuid } from '../model/checks.js';
import { maxPageSize } from '../model/connection.js';
import type { AnyTable } from '../tables/table.js';
import type { SelectionContext } from './collect.js';
import { readableNodes } from './nodes.js';
import { type FieldPlan, NotPrinted, type PagePlan, planFields, selectedOf } from './printPlan.js';
import { fieldsSql, printedRow, type Run, within } from './printSql.js';

/** Marks a root field that answers records of any type by their ids, its only argument: one, or many in the order of the ids. */
export const ReadsNodes = () => Extensions({ readsNodes: true });

export const isOfNodes = (field: { extensions: Readonly<Record<string, unknown>> } | undefined): boolean =>
  field?.extensions.readsNodes === true;

/** Records of any type by their ids, and what is selected of each type. */
export interface NodesPlan {
  field: GraphQLField<unknown, unknown>;
  node: PagePlan['node'];
  types: ReadonlyMap<string, TypePlan>;
}

/** What is selected of a type: of one that is no table its id and its name alone, as a select list over `n`. */
type TypePlan = { table: AnyTable; fields: FieldPlan[] } | { table?: undefined; columns: string };

export function planNodes(context: SelectionContext, field: GraphQLField<unknown, unknown>, group: PagePlan['node'][]): NodesPlan {
  const any = getNamedType(field.type);
  if (!isInterfaceType(any)) throw new NotPrinted(field.name);
  const planned = context.schema.getPossibleTypes(any).map((type) => [type.name, planType(context, type, group)] as const);
  return { field, node: group[0]!, types: new Map(planned) };
}

function planType(context: SelectionContext, type: GraphQLObjectType, group: PagePlan['node'][]): TypePlan {
  const table = type.extensions.table as AnyTable | undefined;
  if (table) return { table, fields: planFields(context, type, group) };
  const columns = selectedOf(context, type, group).map(([key, [node]]) => {
    const name = node!.name.value;
    if (name === '__typename') return `'${type.name}'::text as "${key}"`;
    if (name === 'id') return `n.id as "${key}"`;
    throw new NotPrinted(type.name);
  });
  return { columns: columns.join(', ') };
}

/** The ids that are asked for, null for what is no id. Throws where there are too many. */
function idsOf({ field, node }: NodesPlan, { variables }: Run): { ids: (string | null)[]; areMany: boolean } {
  const [given] = Object.values(getArgumentValues(field, node, variables as Record<string, unknown>)) as (string | string[])[];
  const areMany = Array.isArray(given);
  const ids = (areMany ? given : [given as string]).map((id) => (isUuid(id) ? id.toLowerCase() : null));
  if (ids.length > maxPageSize) throw new NotPrinted('too many ids');
  return { ids, areMany };
}

/** The records of a table among those that are wanted, each with its id. */
async function recordsSql(run: Run, { table, fields }: { table: AnyTable; fields: FieldPlan[] }, wanted: Sql): Promise<Sql> {
  const where = table.readable(run.ctx, run.account, sql`${table.id} = any(${wanted})`);
  const { columns, joins } = await fieldsSql(run, fields);
  return sql`select ${table.id} as id, row_to_json(${printedRow}) as node from ${rawSql(table.name)} t ${joins}
    cross join lateral (select ${columns}) ${printedRow} where ${where}`;
}

const otherSql = (columns: string, rows: Sql): Sql =>
  sql`select n.id, row_to_json(${printedRow}) as node from (${rows}) n cross join lateral (select ${rawSql(columns)}) ${printedRow}`;

/** The SQL of records by their ids: those of the types that the caller may read; null for what is not found among them. */
export async function nodesSql(run: Run, plan: NodesPlan): Promise<Sql> {
  const { ids, areMany } = idsOf(plan, run);
  const each = areMany ? within(run, ids.length) : run;
  const parts: Sql[] = [];
  const wanted = sql`(select w.ids from wanted w)::uuid[]`;
  for (const [type, source] of readableNodes(run.ctx)) {
    const own = plan.types.get(type)!;
    parts.push(own.table ? await recordsSql(each, own, wanted) : otherSql(own.columns, source.rows(run.ctx, wanted)));
  }
  if (parts.length === 0) return areMany ? sql`${JSON.stringify(ids.map(() => null))}::json` : sql`null::json`;
  const found = sql`wanted as (select ${ids}::uuid[] as ids), found as (${joinSql(parts, ' union all ')})`;
  const rows = sql`from wanted w cross join lateral unnest(w.ids) with ordinality i(id, nth) left join found f on f.id = i.id`;
  return areMany
    ? sql`with ${found} select coalesce(json_agg(f.node order by i.nth), '[]') ${rows}`
    : sql`with ${found} select f.node ${rows}`;
}
