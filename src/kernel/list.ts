import type { Context } from './context.js';
import { invalidField } from './errors.js';
import { type ListArgs, Page, pageSize, type SortOrder } from './page.js';
import { allOf, emptySql, rawSql, type Sql, sql } from './sql.js';
import { isUuid } from './values.js';

/** A sort key: the expression that its index holds, over the alias `t`. */
export interface SortKey {
  by: string;
  type: KeyType;
  nullable?: boolean;
  /** What comes before it, in the same direction and with the same index; never null, nor is the key then. */
  lead?: { by: string; type: KeyType };
  /** A sort that goes column by column, as over a board. */
  board?: Board;
}

/** The columns of a board: their rows are read in order from an index on the column, one column after the other. */
export interface Board {
  /** A select of the columns' `id` and `rank`. */
  columns: (account: string) => Sql;
  /** A row's column, over the alias `t`, and its place in it. */
  column: string;
  place: string;
}

// Places are numeric(30, 15): below 10^15.
const columnBase = '(g.rank * 1e16)';

/** Column by column, in each by place. */
export const byBoard = (board: Board): SortKey => ({ by: `${columnBase} + ${board.place}`, type: 'numeric', board });

type KeyType = 'text' | 'timestamptz' | 'date' | 'integer' | 'numeric' | 'boolean';

/** What a list of one table is made of. */
export interface ListSpec<S extends string> {
  table: string;
  /** The column that is a row's id within its account; `id` unless told. */
  key?: string;
  /** The columns of a row, over the alias `t`. */
  columns: Sql;
  /** Which rows count as live; "not deleted" unless told. */
  live?: Sql;
  /** Whether triggers keep its total; true unless told. */
  counted?: boolean;
  sorts: Record<S, SortKey>;
  byDefault: readonly [S, SortOrder];
}

export const byText = (column: string, nullable = true): SortKey => ({
  by: `lower(t.${column} collate "und-x-icu") collate "C"`,
  type: 'text',
  nullable,
});
export const byTime = (column: string, nullable = false): SortKey => ({ by: `t.${column}`, type: 'timestamptz', nullable });
export const byNumber = (column: string, type: 'integer' | 'numeric' = 'integer', nullable = false): SortKey => ({
  by: `t.${column}`,
  type,
  nullable,
});

interface Listed {
  id: string;
  _key: string | null;
}

interface Cursor {
  lead?: string;
  key: string | null;
  id: string;
}

/**
 * One page of a table in one statement: the ids over the sort's index, the rows joined onto them, and the exact total
 * where it is asked for. The rows are as JSON tells them: instants and decimals are text and numbers. Every sort ends in the id; nulls are last both ways; a cursor goes on exactly after its row.
 */
export async function listRows<Row extends { id: string }, S extends string>(
  ctx: Context,
  spec: ListSpec<S>,
  args: ListArgs<object, S>,
  conditions: Sql[],
): Promise<Page<Row>> {
  const [sort, order] = [args.sort ?? spec.byDefault[0], args.order ?? spec.byDefault[1]];
  const size = pageSize(args);
  const after = args.after ? decodeCursor(args.after, sort, order, spec.sorts[sort]) : undefined;
  const offset = ((args.page ?? 1) - 1) * size;
  if (offset > 1e9) throw invalidField('page', 'is too far');
  const wantTotal = args.selection.has('totalCount');

  const build = (account: string) => {
    const where = allOf([sql`t.account_id = ${account}::uuid`, spec.live ?? sql`t.deleted_at is null`, ...conditions]);
    const ids = pageOfIds(spec, { sort, order, size, offset, after, where, account });
    const lead = spec.sorts[sort].lead ? `_lead ${order}, ` : '';
    const direction = rawSql(`${lead}_sort ${order} ${spec.sorts[sort].nullable ? 'nulls last' : ''}, id ${order}`);
    const rows = sql`select ${spec.columns}, p._key, p._nth
      from (select *, row_number() over (order by ${direction}) as _nth from (${ids}) i) p
      join ${rawSql(spec.table)} t on t.account_id = ${account}::uuid and ${idOf(spec)} = p.id`;
    const total = wantTotal ? totalOf(spec, account, where, conditions.length > 0 || spec.counted === false) : sql`select null`;
    // One text of JSON: Prisma would otherwise take every value of every row in hand.
    return sql`select json_build_object('total', (${total}), 'rows', coalesce((select json_agg(r order by r._nth) from (${rows}) r), '[]'))::text as json`;
  };
  const [answer] = await ctx.query<{ json: string }, []>(build);
  const { rows, total } = JSON.parse(answer!.json) as { rows: (Row & Listed)[]; total: number | null };
  return toPage(rows, total, { sort, order, size, previous: offset > 0 || after !== undefined });
}

interface Window {
  sort: string;
  order: SortOrder;
  size: number;
  offset: number;
  after?: Cursor;
  where: Sql;
  account: string;
}

const idOf = (spec: { key?: string }) => rawSql(`t.${spec.key ?? 'id'}`);

/** The key to sort by, and as text for the cursor: of two parts a JSON list. */
const keyColumns = ({ by, lead }: SortKey): Sql =>
  lead
    ? rawSql(`${lead.by} as _lead, ${by} as _sort, json_build_array((${lead.by})::text, (${by})::text)::text as _key`)
    : rawSql(`${by} as _sort, (${by})::text as _key`);

/** The ids and sort keys of a page and one row more, read from the index alone. */
function pageOfIds<S extends string>(spec: ListSpec<S>, window: Window): Sql {
  const key = spec.sorts[window.sort as S];
  const { order, where } = window;
  const limit = window.size + 1;
  const itsId = idOf(spec);
  if (key.board) return pageOfBoard(spec, { ...key, board: key.board }, window);
  const from = (condition: Sql) => sql`select ${itsId} as id, ${keyColumns(key)} from ${rawSql(spec.table)} t where ${where} ${condition}`;
  const lead = key.lead ? `${key.lead.by} ${order}, ` : '';
  const by = rawSql(`${lead}${key.by} ${order} ${key.nullable ? 'nulls last' : ''}, t.${spec.key ?? 'id'} ${order}`);
  if (!window.after) return sql`${from(emptySql)} order by ${by} limit ${limit}::int offset ${window.offset}::bigint`;

  const { key: value, id } = window.after;
  const beyond = rawSql(order === 'asc' ? '>' : '<');
  const nulls = sql`${from(sql`and ${rawSql(key.by)} is null ${value === null ? sql`and ${itsId} ${beyond} ${id}::uuid` : emptySql}`)}
    order by ${itsId} ${rawSql(order)} limit ${limit}::int`;
  if (value === null) return nulls;
  const first = key.lead ? [rawSql(`${key.lead.by}, `), sql`${window.after.lead}::${rawSql(key.lead.type)}, `] : [emptySql, emptySql];
  const place = sql`(${first[0]!}${rawSql(key.by)}, ${itsId}) ${beyond} (${first[1]!}${value}::${rawSql(key.type)}, ${id}::uuid)`;
  const seek = sql`${from(sql`and ${place}`)} order by ${by} limit ${limit}::int`;
  if (!key.nullable) return seek;
  const together = rawSql(`_sort ${order} nulls last, id ${order}`);
  return sql`select * from ((${seek}) union all (${nulls})) u order by ${together} limit ${limit}::int`;
}

/** The same over the columns of a board. A cursor is turned into a place in each column, so that the index finds it. */
function pageOfBoard(spec: { table: string; key?: string }, { by, board }: SortKey & { board: Board }, window: Window): Sql {
  const { size, offset, after, where } = window;
  const [place, itsId] = [rawSql(board.place), idOf(spec)];
  const beyond = after ? sql`and (${place}, ${itsId}) > (${after.key}::numeric - ${rawSql(columnBase)}, ${after.id}::uuid)` : emptySql;
  return sql`select o.* from (${board.columns(window.account)}) g cross join lateral (
      select ${itsId} as id, ${rawSql(by)} as _sort, (${rawSql(by)})::text as _key from ${rawSql(spec.table)} t
      where ${where} and ${rawSql(board.column)} = g.id ${beyond} order by ${place}, ${itsId} limit ${offset + size + 1}::bigint) o
    order by o._sort, o.id limit ${size + 1}::int offset ${offset}::bigint`;
}

/** Unfiltered totals are kept by triggers and cost nothing; filtered ones are counted. */
function totalOf<S extends string>(spec: ListSpec<S>, account: string, where: Sql, counting: boolean): Sql {
  return counting
    ? sql`select count(*) from ${rawSql(spec.table)} t where ${where}`
    : sql`select coalesce(sum(n), 0) from counts where account_id = ${account}::uuid and kind = ${spec.table}`;
}

function toPage<Row extends { id: string }>(
  rows: (Row & Listed)[],
  total: number | null,
  page: { sort: string; order: string; size: number; previous: boolean },
): Page<Row> {
  const cursorOf = (row: Row) => encodeCursor(page.sort, page.order, { key: (row as Row & Listed)._key, id: row.id });
  return new Page<Row>(rows.slice(0, page.size), cursorOf, { next: rows.length > page.size, previous: page.previous }, total);
}

const encodeCursor = (sort: string, order: string, cursor: Cursor) =>
  Buffer.from(JSON.stringify([sort, order, cursor.key, cursor.id])).toString('base64url');

/** How a key of each type is written in a cursor. */
const keyForms: Record<KeyType, RegExp> = {
  text: /^[^\0]*$/,
  timestamptz: /^\d{1,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/,
  date: /^\d{4,6}-\d\d-\d\d$/,
  integer: /^-?\d{1,10}$/,
  numeric: /^-?\d{1,40}(\.\d{1,40})?$/,
  boolean: /^(true|false)$/,
};

const isKey = (key: unknown, type: KeyType) => typeof key === 'string' && keyForms[type].test(key);

function decodeCursor(text: string, sort: string, order: string, { type, lead, nullable }: SortKey): Cursor {
  try {
    const [itsSort, itsOrder, whole, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string, string | null, string];
    if (itsSort === sort && itsOrder === order && isUuid(id)) {
      if (lead) {
        const [first, key] = JSON.parse(String(whole)) as [string, string];
        if (isKey(first, lead.type) && isKey(key, type)) return { lead: first, key, id };
      } else if (isKey(whole, type) || (whole === null && nullable)) return { key: whole, id };
    }
  } catch {
    // falls through to the one answer for every cursor that is not ours
  }
  throw invalidField('after', 'is not a cursor of this list in this order');
}
