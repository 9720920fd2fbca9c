import { allOf, emptySql, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { maxPageSize, mostCounted, type SortOrder } from '../model/connection.js';
import { type Board, columnBase, type OrderKey } from '../tables/sortKeys.js';
import { isCheap } from '../tables/sqlCosts.js';
import type { Cursor, CursorOf } from './cursor.js';
import type { ByKeys } from './narrowing.js';

/** Which rows of a list, in which order, and which of them. */
export interface Window {
  /** What its cursors are of. */
  of: CursorOf;
  /** What it is sorted by; ties are broken by id, in the direction of the last key. */
  keys: readonly OrderKey[];
  /** Of a sort that goes column by column. */
  board?: Board;
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
  /**
   * How its total is found: kept, as a scalar, or counted; `bounded` counts no further than is worth it; none where it is not asked for.
   */
  total: Sql | 'counted' | 'bounded' | 'none';
  /** A select of how many match, where that takes less time than to count them. */
  counted?: Sql;
  /** Where all that narrows it is a condition that a key set says. */
  byKeys?: ByKeys;
  /** The ways to meet `where`, if there are several and each has an index: the rows of all of them are put together. */
  ways?: readonly Sql[];
}

/** What a page is read from. */
export interface PageTable {
  name: string;
  key: string;
}

/** Whether the rows of a list stand in an index in its order: a key and what leads it do. */
export const isByIndex = ({ of, board }: Window): boolean => !board && !of.sort.includes(',');

const flipped = { asc: 'desc', desc: 'asc' } as const;

/** The direction in which a key is read: a page from the end is read backward. */
const directionOf = ({ isBackward }: Window, { order }: Pick<OrderKey, 'order'>): SortOrder => (isBackward ? flipped[order] : order);

/** The direction in which ids are read. */
const idDirection = (window: Window): SortOrder => directionOf(window, window.keys.at(-1)!);

/** The order of rows, as they are read, by expressions of their keys and their id. */
function orderSql(window: Window, by: (key: OrderKey, i: number) => string, id: string): Sql {
  const nulls = `nulls ${window.isBackward ? 'first' : 'last'}`;
  const keys = window.keys.map((key, i) => `${by(key, i)} ${directionOf(window, key)} ${key.nullable ? nulls : ''}`);
  return rawSql(`${keys.join(', ')}, ${id} ${idDirection(window)}`);
}

/** The order of page rows as they are read. */
const readingOrder = (window: Window): Sql => orderSql(window, (_key, i) => `_k${i}`, 'id');

/** The sort key of a page row as text, for the cursor: of several a JSON list. */
const keyText = ({ keys }: Window) =>
  keys.length > 1 ? `json_build_array(${keys.map((_key, i) => `_k${i}::text`).join(', ')})::text` : '_k0::text';

/** The rows of a table, or their ids alone, with what they are sorted by. */
const keyed = (table: PageTable, { keys }: Window, isWhole: boolean): Sql => {
  const id = table.key === 'id' ? 't.id' : `t.${table.key} as id`;
  const columns = isWhole ? (table.key === 'id' ? 't.*' : `t.*, ${id}`) : id;
  return rawSql(`select ${columns}, ${keys.map(({ by }, i) => `${by} as _k${i}`).join(', ')} from ${table.name} t`);
};

/** A page as the tables of a WITH, a select of its rows, and an expression of its exact total. */
export interface PageSql {
  tables?: Sql;
  /** `t.*`, and of each row its place `_nth` as the page is read, and its sort key as text, `_key`. One row more than the page has. */
  rows: Sql;
  total: Sql;
}

/** The SQL of a page. Unfiltered totals of whole tables are kept by triggers and cost nothing. */
export function pageSql(table: PageTable, window: Window): PageSql {
  const { account, offset, total, cursor, board, isFiltered } = window;
  const order = readingOrder(window);
  const placed = (from: Sql) =>
    sql`select f.*, ${rawSql(keyText(window))} as _key, row_number() over (order by ${order}) as _nth from (${from}) f`;
  if (total !== 'none' && total !== 'bounded' && isFiltered && !cursor && !board) {
    const { tables, page, total: found } = matchedBy(table, window);
    return { tables, rows: joined(table, account, placed(page)), total: found };
  }
  const isWhole = offset === 0;
  const page = board ? pageOfBoard(table, window, board, isWhole) : pageOf(table, window, isWhole);
  return { rows: isWhole ? placed(page) : joined(table, account, placed(page)), total: totalOf(table, window) };
}

/** A filtered page and its total, of which both come from the tables: the ids of its rows and what they are sorted by. */
interface Matched {
  tables: Sql;
  page: Sql;
  total: Sql;
}

const matches = (table: PageTable, window: Window): Sql => {
  const rows = (window.ways ?? [window.where]).map((where) => sql`${keyed(table, window, false)} where ${where}`);
  return joinSql(rows, ' union ');
};

const matchingRows = (table: PageTable, window: Window): Sql => sql`matching as materialized (${matches(table, window)})`;

/** A select of the ids of all rows in order, 16 bytes each, as one text in base64. Not of a board. */
export const idsSql = (table: PageTable, window: Window): Sql =>
  sql`select encode(coalesce(string_agg(uuid_send(id), '' order by ${readingOrder(window)}), ''), 'base64') from (${matches(table, window)}) m`;

function matchedBy(table: PageTable, window: Window): Matched {
  if (!isByIndex(window)) return matched(table, window);
  if (window.byKeys) return walked(table, window, window.byKeys);
  return isCheap(window.where) ? fewOrMany(table, window) : matched(table, window);
}

/** Which of what matches, in order, a page has, and one more. */
const sliceOf = ({ size, offset }: Window): Sql => sql`limit ${size + 1}::int offset ${offset}::bigint`;

const pageOfMatching = (window: Window): Sql => sql`select * from matching order by ${readingOrder(window)} ${sliceOf(window)}`;

/** What matches is looked for once, and counted and sorted as a whole. */
function matched(table: PageTable, window: Window): Matched {
  return { tables: matchingRows(table, window), page: pageOfMatching(window), total: sql`select count(*) from matching` };
}

/** So many matches are sorted faster than many rows are looked at in the order of the list. */
const few = rawSql('1000');

/**
 * Few matches are looked for once and sorted as a whole; many are counted from an index and read in the order of the list, none of
 * them kept. A table is read no further than somebody asks, so matches are looked for up to one more than few: then it is known whether
 * they are few, whatever the planner expects. Where their total is kept, it is known beforehand.
 */
function fewOrMany(table: PageTable, window: Window): Matched {
  const { where, offset, total } = window;
  const kept = typeof total === 'string' ? undefined : total;
  const seen = sql`(select s.n from seen s)`;
  const isMany = sql`${seen} > ${few}`;
  const counted = sql`select count(*) as n from (select 1 from matching limit ${few} + 1) m`;
  const tables = sql`${matchingRows(table, window)}, seen as materialized (${kept ? sql`select ${kept} as n` : counted})`;
  const end = sliceOf(window);
  const rows = sql`${keyed(table, window, false)} where ${where} and ${isMany}
    order by ${orderSql(window, (key) => key.by, `t.${table.key}`)}`;
  const page = sql`(select * from matching where ${seen} <= ${few} order by ${readingOrder(window)} ${end})
    union all (${offset > 0 ? sql`${rows} ${end}` : sql`select * from (${rows} ${mostOfPage}) s ${end}`})`;
  const all = sql`case when ${isMany} then (${countOf(table, window)}) else ${seen} end`;
  return { tables, page, total: sql`select ${kept ? seen : all}` };
}

/**
 * Matches of a list that a key set narrows: counted by the keys. Where so many match that the page is likely among as many rows of the
 * list, these are read in its order, no more than twice as many as match. Where that does not fill the page, what matches is sorted.
 */
function walked(table: PageTable, window: Window, { count, all, listed, holds }: ByKeys): Matched {
  const { where, size, offset } = window;
  const n = sql`(select c.n from counted c)`;
  const isWalked = sql`(select count(*) from walked) >= least(${size + 1}::int, ${n} - ${offset}::bigint)`;
  const inOrder = sql`${keyed(table, window, true)} where ${listed}
    order by ${orderSql(window, (key) => key.by, `t.${table.key}`)} limit 2 * ${n}`;
  const keys = rawSql(window.keys.map((_key, i) => `t._k${i}`).join(', '));
  const isNear = sql`${n} > ${few} and ${n}::float8 * ${n} >= ${size + 1 + offset}::float8 * ${all}`;
  const tables = sql`counted as materialized (select ${count} as n),
    walked as materialized (select t.id, ${keys} from (${inOrder}) t where ${isNear} and ${holds}
      order by ${readingOrder(window)} ${sliceOf(window)}),
    matching as materialized (${keyed(table, window, false)} where ${where} and not ${isWalked})`;
  const page = sql`(select * from walked where ${isWalked}) union all (${pageOfMatching(window)})`;
  return { tables, page, total: sql`select coalesce(${n}, (select count(*) from matching))` };
}

const countOf = ({ name }: PageTable, { where, counted }: Window): Sql =>
  counted ?? sql`select count(*) from ${rawSql(name)} t where ${where}`;

function totalOf(table: PageTable, window: Window): Sql {
  const { total, where, byKeys } = window;
  if (typeof total !== 'string') return total;
  if (total === 'bounded')
    return sql`select count(*) from (select 1 from ${rawSql(table.name)} t where ${where} limit ${mostCounted}::int) b`;
  const counted = countOf(table, window);
  return byKeys ? sql`select coalesce(${byKeys.count}, (${counted}))` : counted;
}

/**
 * The rows to ids that were found in an index alone. The offset keeps them from being planned as one with the ids: each is looked up by
 * its key, whatever the statistics say.
 */
const joined = ({ name, key }: PageTable, account: string, ids: Sql): Sql =>
  sql`select t.*${rawSql(key === 'id' ? '' : ', i.id')}, i._key, i._nth from (${ids}) i cross join lateral (
    select * from ${rawSql(name)} t where t.account_id = ${account}::uuid and t.${rawSql(key)} = i.id offset 0) t`;

/** Tells the planner of a page how small it is, when it does not look at the values. */
const mostOfPage = rawSql(`limit ${maxPageSize + 1}`);

/** The rows of a page and one more, read from the sort's index where it has one. */
function pageOf(table: PageTable, window: Window, isWhole: boolean): Sql {
  const { where, cursor, offset } = window;
  const limit = window.size + 1;
  const id = `t.${table.key}`;
  const by = orderSql(window, (key) => key.by, id);
  const from = (condition: Sql, order: Sql = by) => sql`${keyed(table, window, isWhole)} where ${where} ${condition} order by ${order}`;
  if (!cursor) {
    if (offset > 0) return sql`${from(emptySql)} limit ${limit}::int offset ${offset}::bigint`;
    return sql`select * from (${from(emptySql)} ${mostOfPage}) s limit ${limit}::int`;
  }
  const parts = beyond(window, cursor, id).map(({ condition, order }) => sql`${from(sql`and ${condition}`, order)} limit ${limit}::int`);
  if (parts.length === 1) return parts[0]!;
  return sql`select * from ((${parts[0]!}) union all (${parts[1]!})) u order by ${readingOrder(window)} limit ${limit}::int`;
}

/** What asks for the rows beyond a cursor, in one part or two that indexes find each; with another order where it is a simpler one. */
interface Beyond {
  condition: Sql;
  order?: Sql;
}

function beyond(window: Window, cursor: Cursor, id: string): Beyond[] {
  const { keys, isBackward } = window;
  const direction = idDirection(window);
  const further = rawSql(direction === 'asc' ? '>' : '<');
  const isOneWay = keys.every(({ order }) => order === keys[0]!.order);
  const [first] = keys;
  if (keys.length > 1 && !(isOneWay && keys.every(({ nullable }) => !nullable))) return [{ condition: beyondKeys(window, cursor, id) }];
  const byId = rawSql(`${id} ${direction}`);
  const column = rawSql(first!.by);
  if (cursor.keys[0] === null) {
    const same = { condition: sql`${column} is null and ${rawSql(id)} ${further} ${cursor.id}::uuid`, order: byId };
    return isBackward ? [same, { condition: sql`${column} is not null` }] : [same];
  }
  const row = joinSql([...keys.map(({ by }) => rawSql(by)), rawSql(id)], ', ');
  const place = joinSql([...keys.map(({ type }, i) => sql`${cursor.keys[i]}::${rawSql(type)}`), sql`${cursor.id}::uuid`], ', ');
  const after = { condition: sql`(${row}) ${further} (${place})` };
  return first!.nullable && !isBackward ? [after, { condition: sql`${column} is null`, order: byId }] : [after];
}

/** The condition for the rows beyond a cursor of several keys, each in a direction of its own: the first key that differs decides. */
function beyondKeys(window: Window, { keys: values, id }: Cursor, idColumn: string): Sql {
  const sames: Sql[] = [];
  const ways = window.keys.map((key, i) => {
    const [column, value] = [rawSql(key.by), sql`${values[i]}::${rawSql(key.type)}`];
    const further = rawSql(directionOf(window, key) === 'asc' ? '>' : '<');
    const isNull = values[i] === null;
    // Nulls come last, or first where the list is read backward.
    const isBeyond = isNull
      ? window.isBackward
        ? sql`${column} is not null`
        : sql`false`
      : key.nullable && !window.isBackward
        ? sql`(${column} ${further} ${value} or ${column} is null)`
        : sql`${column} ${further} ${value}`;
    const way = sql`(${allOf([...sames, isBeyond])})`;
    sames.push(isNull ? sql`${column} is null` : sql`${column} = ${value}`);
    return way;
  });
  const byId = sql`${rawSql(idColumn)} ${rawSql(idDirection(window) === 'asc' ? '>' : '<')} ${id}::uuid`;
  return sql`(${joinSql([...ways, sql`(${allOf([...sames, byId])})`], ' or ')})`;
}

/** A page over the columns of a board. A cursor is turned into a place in each column, so that the index finds it. */
function pageOfBoard(table: PageTable, window: Window, board: Board, isWhole: boolean): Sql {
  const { size, offset, cursor, where } = window;
  const direction = idDirection(window);
  const [place, id] = [rawSql(board.place), rawSql(`t.${table.key}`)];
  const further = rawSql(direction === 'asc' ? '>' : '<');
  const from = cursor
    ? sql`and (${place}, ${id}) ${further} (${cursor.keys[0]}::numeric - ${rawSql(columnBase)}, ${cursor.id}::uuid)`
    : emptySql;
  const rows = sql`${keyed(table, window, isWhole)} where ${where} and ${rawSql(board.column)} = g.id ${from}
    order by ${place} ${rawSql(direction)}, ${id} ${rawSql(direction)} limit ${offset + size + 1}::bigint`;
  return sql`select o.* from (${board.columns(window.account)}) g cross join lateral (${rows}) o
    order by ${readingOrder(window)} limit ${size + 1}::int offset ${offset}::bigint`;
}
