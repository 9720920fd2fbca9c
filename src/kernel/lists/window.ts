import { invalidField } from '../base/errors.js';
import { EventLoopQueue } from '../base/eventLoop.js';
import { jsonSize } from '../base/jsonText.js';
import type { Context } from '../context/context.js';
import { accountSql, allOf, keptCount, type Sql, sql } from '../database/sql.js';
import { type ListArgs, pageSize, type SortOrder } from '../model/connection.js';
import { whereSql } from '../tables/filterSql.js';
import { findMoments } from '../tables/momentsAhead.js';
import { waysOf } from '../tables/rowCondition.js';
import { type Board, byBoard, orderKeys, type SortKey } from '../tables/sortKeys.js';
import { looksInLongTexts } from '../tables/sqlCosts.js';
import type { AnyTable, ListQuery } from '../tables/table.js';
import { type CursorOf, conditionsInShort, decodeCursor } from './cursor.js';
import { type Narrowed, narrowedBy } from './narrowing.js';
import type { Window } from './pageSql.js';

export type AnyListArgs = Omit<ListArgs<object, string>, 'selection'>;

/** What narrows a list to the records of a parent, and how they are sorted by default. */
export interface Within {
  condition: Sql;
  sort?: string;
  order?: SortOrder;
  /** A board of the parent alone, for the sort of this name. */
  board?: Board;
  /** Whether its total is kept by the key of the parent, `p.key`. */
  isCounted?: boolean;
}

/** A read whose conditions come to more parameters than this may take long: as many look at each row. */
export const manyParameters = 200;

/** Conditions of more characters than this are read and composed in a turn of the event loop of their own: a document may have many. */
const longConditions = 20_000;
const eventLoop = new EventLoopQueue();

/** Whether reading the list is a long read: few at a time, one of an account. */
export const isLong = ({ where }: Window): boolean => where.values.length > manyParameters || looksInLongTexts(where);

/** The window of a list that its arguments ask for. Throws 400 naming the argument at fault. */
export async function windowOf(
  ctx: Context,
  table: AnyTable,
  args: AnyListArgs,
  { withTotal, within, more = [] }: { withTotal: boolean; within?: Within; more?: readonly Sql[] },
): Promise<Window> {
  if (jsonSize([args.filter, args.where], longConditions) > longConditions) await eventLoop.next();
  const finding = findMoments(ctx, [args.filter, args.where]);
  // What is asked for at one moment goes in one statement.
  if (finding) await finding;
  const asked = await table.asked(ctx, args as never);
  const order = orderOf(table, args, asked, within);
  const of = { table: table.name, ...order.of, conditions: within ? undefined : conditionsInShort(args.filter, args.where) };
  const size = pageSize(args);
  const isBackward = Boolean(args.last || args.before);
  const [name, text] = args.before ? (['before', args.before] as const) : (['after', args.after] as const);
  const cursor = text ? decodeCursor(name, text, { ...of, keys: order.keys }) : undefined;
  const offset = ((args.page ?? 1) - 1) * size;
  if (offset > 1e9) throw invalidField('page', 'out_of_range', 'is too far');
  const account = ctx.caller.account.id;
  const conditions = [...asked.conditions, ...more, ...(args.where ? [whereSql(ctx, table, args.where)] : [])];
  const own = within ? [within.condition] : [];
  const rows = [sql`t.account_id = ${account}::uuid`, asked.live ?? table.listed, ...own];
  const where = allOf([...rows, ...conditions]);
  const isFiltered = conditions.length > 0;
  const { kept, ...known } = withoutLooking(table, account, conditions, { within, live: asked.live });
  const counted = args.count === 'estimated' ? 'bounded' : 'counted';
  const total = withTotal ? (kept ?? counted) : 'none';
  const ways = waysOf(conditions)?.map((way) => allOf([...rows, way]));
  return { ...order, of, size, offset, cursor, isBackward, where, account, isFiltered, total, ...known, ways };
}

/** How a list is counted without a look at its rows. */
function withoutLooking(
  table: AnyTable,
  account: string,
  conditions: readonly Sql[],
  { within, live }: { within?: Within; live?: Sql },
): Narrowed {
  // The kept totals are of what the table lists by itself.
  if (live !== undefined) return {};
  const [only, other] = conditions;
  if (!only) return (within ? within.isCounted : table.isCounted) ? { kept: keptBy(table, account, within) } : {};
  return other || within ? {} : narrowedBy(table, account, only);
}

/** The total that the database keeps: of a whole table, or of those that share a parent. */
const keptBy = ({ name }: AnyTable, account: string, within: Within | undefined): Sql =>
  keptCount(accountSql(account), name, within ? sql`${`${name}:`}::text || p.key` : sql`${name}`);

/** The order of a list: what cursors call it, and what its rows are sorted by. */
type Order = Pick<Window, 'keys' | 'board'> & { of: Pick<CursorOf, 'sort' | 'order'> };

/** The caller's order, else what the filter says, else the parent's, else the table's own. */
function orderOf(table: AnyTable, args: AnyListArgs, asked: ListQuery, within: Within | undefined): Order {
  const [sort, order] = table.options.byDefault as [string, SortOrder];
  const keyOf = (name: string): SortKey => (table.sorts as Record<string, SortKey>)[name]!;
  const one = (name: string, direction: SortOrder, key = keyOf(name)): Order => ({
    of: { sort: name, order: direction },
    keys: orderKeys(key, direction),
    board: key.board,
  });
  if (args.orderBy?.length) {
    const keys = args.orderBy.map((entry) => Object.entries(entry)[0]!);
    const of = { sort: keys.map(([name]) => name).join(), order: keys.map(([, direction]) => direction).join() };
    return { of, keys: keys.flatMap(([name, direction]) => orderKeys(keyOf(name), direction)) };
  }
  // Texts begin with a, unless somebody says otherwise.
  const directionOf = (name: string) => (keyOf(name).type === 'text' ? 'asc' : order);
  if (args.sort) return one(args.sort, args.order ?? directionOf(args.sort));
  // A direction alone chooses no other order, and a board has only one direction.
  const direction = asked.board || within?.board ? undefined : args.order;
  if (asked.sort) return one(asked.sort, direction ?? asked.order ?? directionOf(asked.sort), asked.board);
  if (!within?.sort) return one(sort, args.order ?? order);
  return one(within.sort, direction ?? within.order ?? 'asc', within.board && byBoard(within.board));
}
