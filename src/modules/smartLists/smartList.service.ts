import { AppError, check, denied, found, invalidChoice, invalidField } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { integer, uuid } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { type SortOrder } from '../../kernel/model/connection.js';
import { deleted } from '../../kernel/model/removal.js';
import { loader } from '../../kernel/operations/loader.js';
import { filterableTable, filterSql } from '../../kernel/tables/filterSql.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { findMoments } from '../../kernel/tables/momentsAhead.js';
import { checkTrial } from '../plans/plan.limits.js';
import {
  type CreateSmartListInput,
  SmartList,
  type SmartListEntity,
  type SmartListList,
  type UpdateSmartListInput,
} from './smartList.model.js';
import { entitiesOf, smartListTable, visibleTo } from './smartList.table.js';

type Entity = keyof typeof SmartListEntity;

/** GET /smart-lists: by name. */
export const listSmartLists = (ctx: Context, args: SmartListList) => listRows<SmartList>(ctx, smartListTable, args);

const byId = (account: string, id: string, visible: Sql) =>
  sql`select ${smartListTable.columns} from smart_lists t where t.account_id = ${account}::uuid and t.id = ${id}::uuid and ${visible}`;

const lock = statement({
  name: 'lockSmartList',
  takes: { id: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, id }) => sql`select id from smart_lists where account_id = ${account} and id = ${id} for update`,
});

async function find(ctx: Context, id: string): Promise<SmartList | undefined> {
  const [list] = await ctx.select(shapeOf(SmartList), byId(ctx.caller.account.id, id, visibleTo(ctx)));
  return list;
}

/** One list; somebody else's own is not found. */
export const getSmartList = async (ctx: Context, id: string): Promise<SmartList> =>
  found(await find(ctx, validId(id, 'Smart list')), 'Smart list');

/** One list that the caller may change: their own, and with the role of an admin any that is shared. */
async function lockSmartList(ctx: Context, id: string): Promise<SmartList> {
  await ctx.rows(lock, { id: validId(id, 'Smart list') });
  const list = await getSmartList(ctx, id);
  const { userId, role } = ctx.caller;
  check(list.ownerId === userId || role !== 'member', () => denied('Only its owner or an admin may change a smart list'));
  return list;
}

/** Filter and sort must be such as the records' own list takes: 400 naming what is not. */
async function checkList(
  ctx: Context,
  { entity, filters, sort, order }: Pick<SmartList, 'entity' | 'filters' | 'sort' | 'order'>,
): Promise<void> {
  const table = filterableTable(ctx, entity);
  check(table, () => invalidChoice('entity', [...ctx.app.registry.filterable.keys()]));
  await findMoments(ctx, filters);
  filterSql(ctx, table, filters);
  const sorts = Object.keys(table.sorts);
  check(!sort || sorts.includes(sort), () => invalidChoice('sort', sorts));
  check(sort || !order, () => invalidField('order', 'conflicting', 'needs a sort'));
}

/** A list as its row, whose columns are called otherwise. */
const asRow = ({ entity, order, ownerId, ...rest }: Partial<SmartList>) => ({
  ...rest,
  ...defined({ entityType: entity, sortOrder: order, createdBy: ownerId }),
});

/** POST /smart-lists. */
export async function createSmartList(ctx: Context, { entity, ...input }: CreateSmartListInput): Promise<SmartList> {
  const blank = { entity: entity ?? ('contact' as const), sort: null, order: null, shared: true, ownerId: ctx.caller.userId };
  const list = { ...blank, ...defined(input) } as SmartList;
  check(entitiesOf(ctx).includes(list.entity), () => denied(`The key does not cover ${list.entity}s`));
  await checkList(ctx, list);
  checkTrial(ctx);
  const { id, createdAt, updatedAt } = ctx.insert('SmartList', asRow(list));
  const record = { ...list, id, createdAt, updatedAt };
  await emitSmartList(ctx, 'created', record);
  return record;
}

/** PATCH /smart-lists/{id}: absent keeps; the filter is replaced as a whole. */
export async function updateSmartList(ctx: Context, id: string, input: UpdateSmartListInput): Promise<SmartList> {
  const before = await lockSmartList(ctx, id);
  // Who takes the sort away takes its direction along, unless they name one.
  const given = defined(input.sort === null && input.order === undefined ? { ...input, order: null } : input);
  const after = { ...before, ...given };
  await checkList(ctx, after);
  const changes = changesBetween(before, after, Object.keys(given));
  if (isNothing(changes)) return before;
  const { updatedAt } = ctx.update('SmartList', before, asRow(given));
  const record = { ...after, updatedAt };
  if (before.shared && !after.shared) await withdraw(ctx, before, changes);
  await tellUpdate(ctx, before, record, changes);
  return record;
}

/** DELETE /smart-lists/{id}: the records stay. */
export async function deleteSmartList(ctx: Context, id: string) {
  const list = await lockSmartList(ctx, id);
  await ctx.db.smartList.delete({ where: ctx.at(list.id) });
  await emitSmartList(ctx, 'deleted', list);
  return deleted('SmartList', list.id);
}

/** Tells of a change of a list: everybody of one that is shared, its owner alone of their own. */
const emitSmartList = (ctx: Context, event: 'created' | 'updated' | 'deleted', list: SmartList, changes?: Changes) =>
  ctx.emit({ name: `smart_list.${event}`, record: list, changes, onlyFor: list.shared ? null : list.ownerId });

/** Everybody is told that a list is theirs now too, and its owner alone what it was while it was private. */
async function tellUpdate(ctx: Context, before: SmartList, record: SmartList, changes: Changes): Promise<void> {
  if (before.shared || !record.shared) return emitSmartList(ctx, 'updated', record, changes);
  const { shared, ...own } = changes;
  if (Object.keys(own).length > 0) await emitSmartList(ctx, 'updated', { ...record, shared: false }, own);
  await emitSmartList(ctx, 'updated', record, { shared: shared! });
}

/** Those who knew a list while it was shared are told that it is gone for them, and nothing that changed with it. */
const withdraw = (ctx: Context, before: SmartList, { shared }: Changes) =>
  ctx.emit({ name: 'smart_list.deleted', record: before, changes: { shared: shared! }, logged: false });

/** What the counts of lists are loaded by. */
export const countKey = ({ entity, filters }: Pick<SmartList, 'entity' | 'filters'>) => JSON.stringify([entity, filters]);

/** Null for the count of a list that asks for what the caller may not see; any other refusal is that of this list alone. */
function uncounted(error: unknown): null | AppError {
  if (!(error instanceof AppError)) throw error;
  return error.code === 'permission_denied' ? null : error;
}

/**
 * How many records each list shows now; null where the caller may not see what it asks for. Each is a statement of its own: a filter may
 * take as long as its table is large.
 */
export const smartListCountLoader = loader<number | null>(async (ctx, keys) => {
  const countOf = async (key: string) => {
    const [entity, filters] = JSON.parse(key) as [Entity, object];
    const table = filterableTable(ctx, entity)!;
    await findMoments(ctx, filters);
    const [row] = await ctx.select(
      { count: integer },
      sql`select count(*)::int as count from ${rawSql(table.name)} t
        where t.account_id = ${ctx.caller.account.id}::uuid and t.deleted_at is null and ${filterSql(ctx, table, filters)}`,
    );
    return row!.count;
  };
  return Promise.all(keys.map((key) => ctx.longRead(() => countOf(key)).catch(uncounted)));
});

/** What a saved filter asks of the records of a list, and how it sorts them. */
interface Saved<S extends string> {
  conditions: Sql[];
  sort?: S;
  order?: SortOrder;
}

/** The saved filter of this id for a list of records; one that is unknown, or about other records, finds none. */
export async function savedFilter<S extends string>(ctx: Context, entity: Entity, id: string | null | undefined): Promise<Saved<S>> {
  if (!id) return { conditions: [] };
  const list = await find(ctx, id);
  if (list?.entity !== entity) return { conditions: [sql`false`] };
  const table = filterableTable(ctx, entity)!;
  await findMoments(ctx, list.filters);
  const order = list.sort ? { sort: list.sort as S, ...(list.order && { order: list.order }) } : {};
  return { conditions: [filterSql(ctx, table, list.filters)], ...order };
}
