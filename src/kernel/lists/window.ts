import { invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { allOf, type Sql, sql } from '../database/sql.js';
import { type ListArgs, pageSize, type SortOrder } from '../model/connection.js';
import { decodeCursor } from './cursor.js';
import type { Window } from './pageSql.js';
import { type Board, byBoard, type SortKey } from './sortKeys.js';
import type { Asked, Table } from './table.js';

// biome-ignore lint/suspicious/noExplicitAny: a table of any filter and any sort
export type AnyTable = Table<any, any, any>;
export type AnyListArgs = Omit<ListArgs<object, string>, 'selection'>;

/** What narrows a list to the records of a parent, and how they are sorted by default. */
export interface Within {
  condition: Sql;
  sort?: string;
  order?: SortOrder;
  /** A board of the parent alone, for the sort of this name. */
  board?: Board;
}

/** The window of a list that its arguments ask for. Throws 400 naming the argument at fault. */
export async function windowOf(
  ctx: Context,
  table: AnyTable,
  args: AnyListArgs,
  { withTotal, within, more = [] }: { withTotal: boolean; within?: Within; more?: readonly Sql[] },
): Promise<Window> {
  const asked = await table.asked(ctx, args as never);
  const { sort, order, key } = sortOf(table, args, asked, within);
  const size = pageSize(args);
  const isBackward = Boolean(args.last || args.before);
  const [name, text] = args.before ? (['before', args.before] as const) : (['after', args.after] as const);
  const cursor = text ? decodeCursor(name, text, { sort, order, key }) : undefined;
  const offset = ((args.page ?? 1) - 1) * size;
  if (offset > 1e9) throw invalidField('page', 'out_of_range', 'is too far');
  const account = ctx.caller.account.id;
  const conditions = [...asked.conditions, ...more];
  const own = within ? [within.condition] : [];
  const where = allOf([sql`t.account_id = ${account}::uuid`, asked.live ?? table.listed, ...own, ...conditions]);
  const isFiltered = conditions.length > 0;
  const isCounted = isFiltered || within !== undefined || !table.isCounted;
  const total = withTotal ? (isCounted ? 'counted' : 'kept') : 'none';
  return { sort, order, key, size, offset, cursor, isBackward, where, account, isFiltered, total };
}

/** The caller's sort, else what the filter says, else the parent's, else the table's own. */
function sortOf(table: AnyTable, args: AnyListArgs, asked: Asked, within: Within | undefined) {
  const [sort, order] = table.options.byDefault as [string, SortOrder];
  const keyOf = (name: string): SortKey => (table.sorts as Record<string, SortKey>)[name]!;
  if (args.sort || args.order) {
    const own = args.sort ?? sort;
    return { sort: own, order: args.order ?? order, key: keyOf(own) };
  }
  if (asked.sort) return { sort: asked.sort, order: asked.order ?? 'asc', key: asked.board ?? keyOf(asked.sort) };
  if (!within?.sort) return { sort, order, key: keyOf(sort) };
  return { sort: within.sort, order: within.order ?? 'asc', key: within.board ? byBoard(within.board) : keyOf(within.sort) };
}
