import { Printed } from '../base/jsonText.js';
import { type Context, validId } from '../context/context.js';
import { readerOf, type Shape } from '../database/kinds.js';
import { emptySql, rawSql, type Sql, sql } from '../database/sql.js';
import { Page, selectsOfNodes } from '../model/connection.js';
import { encodeCursor } from './cursor.js';
import { pageSql, type Window } from './pageSql.js';
import { PrintedPage } from './recordSql.js';
import { type AnyListArgs, type AnyTable, windowOf } from './window.js';

export { modelRow } from './modelRow.js';
export * from './sortKeys.js';
export { type Asked, type Table, table } from './table.js';

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
 * Every sort ends in the id; nulls are last both ways; a
 * cursor goes on exactly after its row, or stops before it.
 */
export async function listRows<Row extends { id: string }>(
  ctx: Context,
  table: AnyTable,
  args: Listing,
  { more, columns, row = table.shape as Shape }: ListOptions = {},
): Promise<Page<Row>> {
  const window = await windowOf(ctx, table, args, { withTotal: args.selection.has('totalCount'), more });
  const page = pageSql(table, window);
  const computed = Object.keys(table.computed).filter((name) => selectsOfNodes(args.selection, name));
  const rows = sql`select ${columns ?? table.columnsWith(ctx, computed)}, t._key, t._nth from (${page.rows}) t`;
  const total = window.total === 'none' ? sql`null` : sql`(${page.total})`;
  const json = sql`json_build_object('total', ${total}, 'rows', coalesce((select json_agg(r order by r._nth) from (${rows}) r), '[]'))`;
  const text = await ask(ctx, window, sql`${tablesOf(page.tables)} select ${json}::text`);
  const found = JSON.parse(text) as { rows: (Row & Listed)[]; total: number | null };
  found.rows.forEach(readerOf(row));
  const read = pageOf(window, found.rows, found.total);
  ctx.request.budget?.read(read.nodes, text.length);
  return read;
}

const tablesOf = (tables: Sql | undefined) => (tables ? sql`with ${tables}` : emptySql);

/** A page of rows as they were read, one more than it has where there are more. */
function pageOf<Row extends { id: string }>(window: Window, read: (Row & Listed)[], total: number | null): Page<Row> {
  const rows = read.slice(0, window.size);
  if (window.isBackward) rows.reverse();
  const hasMore = read.length > window.size;
  const isLater = window.offset > 0 || window.cursor !== undefined;
  const more = window.isBackward ? { next: window.cursor !== undefined, previous: hasMore } : { next: hasMore, previous: isLater };
  const cursorOf = (row: Row) => encodeCursor(window.sort, window.order, { key: (row as Row & Listed)._key, id: row.id });
  return new Page<Row>(rows, cursorOf, more, total);
}

/** One that reads few rows from an index whatever its values are is planned once. */
function ask(ctx: Context, { isFiltered, offset, cursor, key }: Window, query: Sql): Promise<string> {
  return isFiltered || offset > 0 || cursor || key.board ? ctx.text(query) : ctx.planned(query);
}

/** The same for a page that goes out as it is: where the door takes print, PostgreSQL writes the records. */
export async function showRows<Row extends { id: string }>(
  ctx: Context,
  table: AnyTable,
  args: Listing,
  { record, ...options }: ListOptions & { record: Sql },
): Promise<Page<Row> | PrintedPage> {
  if (!ctx.takesPrint) return listRows<Row>(ctx, table, args, options);
  const window = await windowOf(ctx, table, args, { withTotal: args.selection.has('totalCount'), more: options.more });
  const page = pageSql(table, window);
  const { sort, order, size } = window;
  const last = sql`select json_build_array(_key, id) from p where _nth = ${size}::int and exists (select 1 from p where _nth > ${size}::int)`;
  const rows = sql`select json_agg(r order by t._nth) from p t cross join lateral (select ${record}) r where t._nth <= ${size}::int`;
  const total = window.total === 'none' ? sql`null` : sql`(${page.total})`;
  const head = sql`json_build_object('total', ${total}, 'last', (${last}))`;
  const tables = page.tables ? sql`${page.tables}, ` : emptySql;
  const text = await ask(
    ctx,
    window,
    sql`with ${tables} p as materialized (${page.rows}) select ${head}::text || E'\n' || coalesce((${rows})::text, '[]')`,
  );
  const end = text.indexOf('\n');
  const { total: sum, last: place } = JSON.parse(text.slice(0, end)) as { total: number; last: [string | null, string] | null };
  const endCursor = place && encodeCursor(sort, order, { key: place[0], id: place[1] });
  return new PrintedPage(new Printed(text.slice(end + 1)), sum, endCursor);
}

/** One live row by its id, as it is shown: printed where the door takes print, else read; null when there is none. */
export async function showRow<Row extends { id: string }>(
  ctx: Context,
  table: AnyTable,
  id: string,
  { record, columns, row: shape }: { record: Sql; columns: Sql; row: Shape },
): Promise<Row | Printed | null> {
  const row = sql`select ${ctx.takesPrint ? record : columns} from ${rawSql(table.name)} t
    where t.account_id = ${ctx.caller.account.id}::uuid and ${table.id} = ${validId(id, table.what)}::uuid and ${table.found}`;
  const text = await ctx.lookup(sql`select coalesce((select row_to_json(r)::text from (${row}) r), '')`);
  if (text === '') return null;
  return ctx.takesPrint ? new Printed(text) : readerOf<Row>(shape)(JSON.parse(text) as object);
}
