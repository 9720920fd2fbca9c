import { accountSql, emptySql, keptTotal, rawSql, type Sql, sql } from '../database/sql.js';
import { maxPageSize, type SortOrder } from '../model/connection.js';
import type { Cursor } from './cursor.js';
import { type Board, columnBase, type ListSpec, type SortKey } from './listDefinition.js';

/** Which rows of a list, in which order, and which of them. */
export interface Window {
  sort: string;
  order: SortOrder;
  size: number;
  offset: number;
  after?: Cursor;
  where: Sql;
  account: string;
}

export const idOf = (spec: { key?: string }) => rawSql(`t.${spec.key ?? 'id'}`);

/** The rows' ids and what they are sorted by. */
const keysOf = (spec: { table: string; key?: string }, { by, lead }: SortKey, where: Sql): Sql =>
  sql`select ${idOf(spec)} as id, ${rawSql(lead ? `${lead.by} as _lead, ${by} as _sort` : `${by} as _sort`)} from ${rawSql(spec.table)} t where ${where}`;

/** The order of such rows. */
export const orderOf = ({ nullable, lead }: SortKey, order: SortOrder) =>
  rawSql(`${lead ? `_lead ${order}, ` : ''}_sort ${order} ${nullable ? 'nulls last' : ''}, id ${order}`);

/** The sort key of such a row as text, for the cursor: of two parts a JSON list. */
export const keyText = ({ lead }: SortKey) => rawSql(lead ? `json_build_array(_lead::text, _sort::text)::text` : '_sort::text');

/**
 * `ids`, the page's ids in order and one more, and the exact total, as the tables of a WITH and an expression. Unfiltered
 * totals are kept by triggers and cost nothing; for the others what matches is looked for once, and counted and paged.
 */
export function pageAndTotal<S extends string>(spec: ListSpec<S>, window: Window, total: 'kept' | 'counted' | 'none') {
  const { where, account, size, offset, order } = window;
  const key = spec.sorts[window.sort as S];
  if (total !== 'counted' || window.after || key.board) {
    const count = total === 'counted' ? sql`select count(*) from ${rawSql(spec.table)} t where ${where}` : sql`select null`;
    const kept = sql`select ${keptTotal(accountSql(account), spec.table)}`;
    return { tables: sql`ids as materialized (${pageOfIds(spec, window)})`, total: total === 'kept' ? kept : count };
  }
  const page = sql`select * from matching order by ${orderOf(key, order)} limit ${size + 1}::int offset ${offset}::bigint`;
  const tables = sql`matching as materialized (${keysOf(spec, key, where)}), ids as materialized (${page})`;
  return { tables, total: sql`select count(*) from matching` };
}

/** Tells the planner of a page how small it is, when it does not look at the values. */
const mostOfPage = rawSql(`limit ${maxPageSize + 1}`);

/** The ids and sort keys of a page and one row more, read from the index alone. */
function pageOfIds<S extends string>(spec: ListSpec<S>, window: Window): Sql {
  const key = spec.sorts[window.sort as S];
  const { order, where } = window;
  const limit = window.size + 1;
  const itsId = idOf(spec);
  if (key.board) return pageOfBoard(spec, { ...key, board: key.board }, window);
  const from = (condition: Sql) => keysOf(spec, key, sql`${where} ${condition}`);
  const lead = key.lead ? `${key.lead.by} ${order}, ` : '';
  const by = rawSql(`${lead}${key.by} ${order} ${key.nullable ? 'nulls last' : ''}, t.${spec.key ?? 'id'} ${order}`);
  if (!window.after) {
    const first = sql`${from(emptySql)} order by ${by}`;
    if (window.offset > 0) return sql`${first} limit ${limit}::int offset ${window.offset}::bigint`;
    return sql`select * from (${first} ${mostOfPage}) f limit ${limit}::int`;
  }

  const { key: value, id } = window.after;
  const beyond = rawSql(order === 'asc' ? '>' : '<');
  const nulls = sql`${from(sql`and ${rawSql(key.by)} is null ${value === null ? sql`and ${itsId} ${beyond} ${id}::uuid` : emptySql}`)}
    order by ${itsId} ${rawSql(order)} limit ${limit}::int`;
  if (value === null) return nulls;
  const first = key.lead ? [rawSql(`${key.lead.by}, `), sql`${window.after.lead}::${rawSql(key.lead.type)}, `] : [emptySql, emptySql];
  const place = sql`(${first[0]!}${rawSql(key.by)}, ${itsId}) ${beyond} (${first[1]!}${value}::${rawSql(key.type)}, ${id}::uuid)`;
  const seek = sql`${from(sql`and ${place}`)} order by ${by} limit ${limit}::int`;
  if (!key.nullable) return seek;
  return sql`select * from ((${seek}) union all (${nulls})) u order by ${orderOf(key, order)} limit ${limit}::int`;
}

/** The same over the columns of a board. A cursor is turned into a place in each column, so that the index finds it. */
function pageOfBoard(spec: { table: string; key?: string }, { by, board }: SortKey & { board: Board }, window: Window): Sql {
  const { size, offset, after, where } = window;
  const [place, itsId] = [rawSql(board.place), idOf(spec)];
  const beyond = after ? sql`and (${place}, ${itsId}) > (${after.key}::numeric - ${rawSql(columnBase)}, ${after.id}::uuid)` : emptySql;
  return sql`select o.* from (${board.columns(window.account)}) g cross join lateral (
      select ${itsId} as id, ${rawSql(by)} as _sort from ${rawSql(spec.table)} t
      where ${where} and ${rawSql(board.column)} = g.id ${beyond} order by ${place}, ${itsId} limit ${offset + size + 1}::bigint) o
    order by o._sort, o.id limit ${size + 1}::int offset ${offset}::bigint`;
}
