import { found } from '../base/errors.js';
import { type Context, validId } from '../context/context.js';
import { orItsBytes, whole } from '../database/bytes.js';
import { readerOf, type Shape } from '../database/kinds.js';
import { emptySql, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { listedSql } from '../database/statement.js';
import { Page, selectsOfNodes } from '../model/connection.js';
import type { AnyTable } from '../tables/table.js';
import { encodeCursor } from './cursor.js';
import { isByIndex, pageSql, type Window } from './pageSql.js';
import { type AnyListArgs, isLong, windowOf } from './window.js';

interface Listed {
  id: string;
  _key: string | null;
}

type Listing = AnyListArgs & { selection: ReadonlySet<string> };

/** What a list selects besides the table's own columns. */
interface ListOptions {
  /** Conditions besides those of the filter. */
  more?: readonly Sql[];
  /** The select list of a row and what it is; by default the table's, with what of the computed fields is selected. */
  columns?: Sql;
  row?: Shape;
}

/**
 * One page of a table in one statement: the rows in the order of the sort's index, and the exact total where it is asked for.
 * Every sort ends in the id; nulls are last both ways; a cursor goes on exactly after its row, or stops before it.
 */
export async function listRows<Row extends { id: string }>(
  ctx: Context,
  table: AnyTable,
  args: Listing,
  { more, columns, row = table.shape as Shape }: ListOptions = {},
): Promise<Page<Row>> {
  const window = await windowOf(ctx, table, args, { withTotal: args.selection.has('totalCount'), more });
  const computed = Object.keys(table.computed).filter((name) => selectsOfNodes(args.selection, name));
  const figures = Object.keys(table.options.figures ?? {}).filter((name) => args.selection.has(name));
  const page = pageRows(ctx, table, window, { columns: columns ?? table.columnsWith(ctx, computed), figures });
  const query = orItsBytes(sql`select (${page})::text as part`, ctx.request.mostBytes);
  const isPlanned = !window.isFiltered && window.offset === 0 && isByIndex(window);
  const text = whole(await (isPlanned ? ctx.planned(query) : isLong(window) ? ctx.longRead(() => ctx.text(query)) : ctx.text(query)));
  const read = pageOf(row, window, JSON.parse(text) as Read<Row>);
  ctx.request.budget?.read(read.nodes, text.length);
  return read;
}

/** One page of the records of a parent: those with this value of a field, which is one of the filter as well. */
export const listRowsOf = <Row extends { id: string }>(ctx: Context, table: AnyTable, args: Listing, parent: Partial<Row>) =>
  listRows<Row>(ctx, table, args, { more: table.conditions(ctx, parent) });

interface Read<Row> {
  rows: (Row & Listed)[];
  total: number | null;
  figures?: object;
}

/** A page as a select of one JSON object, with what is told of the whole list besides. */
export function pageRows(
  ctx: Context,
  table: AnyTable,
  window: Window,
  { columns, figures = [] }: { columns: Sql; figures?: readonly string[] },
): Sql {
  const page = pageSql(table, window);
  const rows = sql`select ${columns}, t._key, t._nth from (${page.rows}) t`;
  const members = [
    sql`'total', ${window.total === 'none' ? sql`null` : sql`(${page.total})`}`,
    sql`'rows', coalesce((select json_agg(r order by r._nth) from (${rows}) r), '[]')`,
  ];
  if (figures.length > 0) {
    const each = figures.map((name) => sql`${name}::text, (${table.options.figures![name]!(window.where, ctx)})`);
    members.push(sql`'figures', json_build_object(${joinSql(each, ', ')})`);
  }
  return sql`${page.tables ? sql`with ${page.tables}` : emptySql} select json_build_object(${joinSql(members, ', ')})`;
}

/** A page of rows as they were read, one more than it has where there are more. */
export function pageOf<Row extends { id: string }>(shape: Shape, window: Window, read: Read<Row>): Page<Row> {
  const rows = read.rows.slice(0, window.size);
  rows.forEach(readerOf(shape));
  if (window.isBackward) rows.reverse();
  const hasMore = read.rows.length > window.size;
  const isLater = window.offset > 0 || window.cursor !== undefined;
  const more = window.isBackward ? { next: window.cursor !== undefined, previous: hasMore } : { next: hasMore, previous: isLater };
  const cursorOf = (row: Row) => encodeCursor(window.of, (row as Row & Listed)._key, row.id);
  return Object.assign(new Page<Row>(rows, cursorOf, more, read.total), read.figures);
}

/** One row by its id, as a read by id finds it; null when there is none. Throws 404 for what is no id. `computed` is read besides. */
export async function findRow<Row extends { id: string }>(
  ctx: Context,
  table: AnyTable,
  id: string,
  computed: readonly string[] = [],
): Promise<Row | null> {
  const where = table.readable(ctx, sql`${ctx.caller.account.id}::uuid`, sql`${table.id} = ${validId(id, table.what)}::uuid`);
  const row = sql`select ${table.columnsWith(ctx, computed)} from ${rawSql(table.name)} t where ${where}`;
  const query = listedSql(row);
  const rows = JSON.parse(await (table.countsWith(computed) ? ctx.planned(query) : ctx.lookup(query))) as object[];
  ctx.request.budget?.read(rows);
  return rows[0] ? readerOf<Row>(table.shape as Shape)(rows[0]) : null;
}

/** One row of a table by its id, as `findRow` reads it. Throws 404 where there is none. */
export const getRow = async <Row extends { id: string }>(ctx: Context, table: AnyTable, id: string, computed?: readonly string[]) =>
  found(await findRow<Row>(ctx, table, id, computed), table.what as string);
