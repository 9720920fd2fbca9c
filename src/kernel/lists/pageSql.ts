import { accountSql, emptySql, keptTotal, rawSql, type Sql, sql } from '../database/sql.js';
import { maxPageSize, type SortOrder } from '../model/connection.js';
import type { Cursor } from './cursor.js';
import { type Board, columnBase, type SortKey } from './sortKeys.js';

/** Which rows of a list, in which order, and which of them. */
export interface Window {
  sort: string;
  order: SortOrder;
  key: SortKey;
  size: number;
  offset: number;
  /** The place that the page comes after, or before where it is read backward. */
  cursor?: Cursor;
  /** Whether it is read from its end: the last rows, or those before a cursor. */
  isBackward: boolean;
  where: Sql;
  account: string;
  /** Whether the caller's filter narrows it: then what matches is looked for once, and counted and paged. */
  isFiltered: boolean;
  /** How its total is found; none where it is not asked for. */
  total: 'kept' | 'counted' | 'none';
}

/** What a page is read from. */
export interface Source {
  name: string;
  key: string;
}

const flipped = { asc: 'desc', desc: 'asc' } as const;

/** The direction in which the index is read: a page from the end is read backward. */
const directionOf = ({ order, isBackward }: Window): SortOrder => (isBackward ? flipped[order] : order);

const nulls = ({ key, isBackward }: Window) => (key.nullable ? `nulls ${isBackward ? 'first' : 'last'}` : '');

/** The order of page rows as they are read. */
function readingOrder(window: Window): Sql {
  const direction = directionOf(window);
  return rawSql(`${window.key.lead ? `_lead ${direction}, ` : ''}_sort ${direction} ${nulls(window)}, id ${direction}`);
}

/** The sort key of a page row as text, for the cursor: of two parts a JSON list. */
const keyText = ({ lead }: SortKey) => (lead ? `json_build_array(_lead::text, _sort::text)::text` : '_sort::text');

/** The rows of a table, or their ids alone, with what they are sorted by. */
const keyed = (source: Source, { by, lead }: SortKey, isWhole: boolean): Sql => {
  const id = source.key === 'id' ? 't.id' : `t.${source.key} as id`;
  const columns = isWhole ? (source.key === 'id' ? 't.*' : `t.*, ${id}`) : id;
  return rawSql(`select ${columns}, ${lead ? `${lead.by} as _lead, ` : ''}${by} as _sort from ${source.name} t`);
};

/** A page as the tables of a WITH, a select of its rows, and an expression of its exact total. */
export interface PageSql {
  tables?: Sql;
  /** `t.*`, and of each row its place `_nth` as the page is read, and its sort key as text, `_key`. One row more than the page has. */
  rows: Sql;
  total: Sql;
}

/** The SQL of a page. Unfiltered totals of whole tables are kept by triggers and cost nothing. */
export function pageSql(source: Source, window: Window): PageSql {
  const { where, account, size, offset, total, cursor, key, isFiltered } = window;
  const order = readingOrder(window);
  const placed = (from: Sql) =>
    sql`select f.*, ${rawSql(keyText(key))} as _key, row_number() over (order by ${order}) as _nth from (${from}) f`;
  if (total === 'counted' && isFiltered && !cursor && !key.board) {
    const page = sql`select * from matching order by ${order} limit ${size + 1}::int offset ${offset}::bigint`;
    const tables = sql`matching as materialized (${keyed(source, key, false)} where ${where})`;
    return { tables, rows: joined(source, account, placed(page)), total: sql`select count(*) from matching` };
  }
  const isWhole = offset === 0;
  const page = key.board ? pageOfBoard(source, window, key.board, isWhole) : pageOf(source, window, isWhole);
  return {
    rows: isWhole ? placed(page) : joined(source, account, placed(page)),
    total:
      total === 'kept' ? keptTotal(accountSql(account), source.name) : sql`select count(*) from ${rawSql(source.name)} t where ${where}`,
  };
}

/** The rows to ids that were found in an index alone. */
const joined = ({ name, key }: Source, account: string, ids: Sql): Sql =>
  sql`select t.*${rawSql(key === 'id' ? '' : ', i.id')}, i._key, i._nth from (${ids}) i join ${rawSql(name)} t on t.account_id = ${account}::uuid and t.${rawSql(key)} = i.id`;

/** Tells the planner of a page how small it is, when it does not look at the values. */
const mostOfPage = rawSql(`limit ${maxPageSize + 1}`);

/** The rows of a page and one more, read from the sort's index. */
function pageOf(source: Source, window: Window, isWhole: boolean): Sql {
  const { key, where, cursor, offset, isBackward } = window;
  const limit = window.size + 1;
  const direction = directionOf(window);
  const id = `t.${source.key}`;
  const by = rawSql(`${key.lead ? `${key.lead.by} ${direction}, ` : ''}${key.by} ${direction} ${nulls(window)}, ${id} ${direction}`);
  const from = (condition: Sql, order: Sql = by) => sql`${keyed(source, key, isWhole)} where ${where} ${condition} order by ${order}`;
  if (!cursor) {
    if (offset > 0) return sql`${from(emptySql)} limit ${limit}::int offset ${offset}::bigint`;
    return sql`select * from (${from(emptySql)} ${mostOfPage}) s limit ${limit}::int`;
  }
  const beyond = rawSql(direction === 'asc' ? '>' : '<');
  const column = rawSql(key.by);
  const itsId = rawSql(id);
  const parts: Sql[] = [];
  if (cursor.key === null) {
    parts.push(from(sql`and ${column} is null and ${itsId} ${beyond} ${cursor.id}::uuid`, rawSql(`${id} ${direction}`)));
    if (isBackward) parts.push(from(sql`and ${column} is not null`));
  } else {
    const lead = key.lead ? [rawSql(`${key.lead.by}, `), sql`${cursor.lead}::${rawSql(key.lead.type)}, `] : [emptySql, emptySql];
    parts.push(
      from(sql`and (${lead[0]!}${column}, ${itsId}) ${beyond} (${lead[1]!}${cursor.key}::${rawSql(key.type)}, ${cursor.id}::uuid)`),
    );
    if (key.nullable && !isBackward) parts.push(from(sql`and ${column} is null`, rawSql(`${id} ${direction}`)));
  }
  const limited = parts.map((part) => sql`${part} limit ${limit}::int`);
  if (limited.length === 1) return limited[0]!;
  return sql`select * from ((${limited[0]!}) union all (${limited[1]!})) u order by ${readingOrder(window)} limit ${limit}::int`;
}

/** The same over the columns of a board. A cursor is turned into a place in each column, so that the index finds it. */
function pageOfBoard(source: Source, window: Window, board: Board, isWhole: boolean): Sql {
  const { size, offset, cursor, where, key } = window;
  const direction = directionOf(window);
  const [place, id] = [rawSql(board.place), rawSql(`t.${source.key}`)];
  const beyond = rawSql(direction === 'asc' ? '>' : '<');
  const from = cursor
    ? sql`and (${place}, ${id}) ${beyond} (${cursor.key}::numeric - ${rawSql(columnBase)}, ${cursor.id}::uuid)`
    : emptySql;
  const rows = sql`${keyed(source, key, isWhole)} where ${where} and ${rawSql(board.column)} = g.id ${from}
    order by ${place} ${rawSql(direction)}, ${id} ${rawSql(direction)} limit ${offset + size + 1}::bigint`;
  return sql`select o.* from (${board.columns(window.account)}) g cross join lateral (${rows}) o
    order by ${readingOrder(window)} limit ${size + 1}::int offset ${offset}::bigint`;
}
