import { check, conflict, found, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { allOf, type Sql, sql, statement } from '../../kernel/database/sql.js';
import { type Changes, changesBetween } from '../../kernel/events/facts.js';
import { showRow, showRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/connection.js';
import {
  changedReferences,
  checkReferences,
  missingReferences,
  type ReferenceKinds,
  refuseMissing,
} from '../../kernel/operations/references.js';
import { mergeCustomFields } from '../customFields/customField.merge.js';
import { checkCustomFields } from '../customFields/customField.values.js';
import { checkTrial } from '../plans/plan.limits.js';
import { savedFilter } from '../smartLists/smartList.service.js';
import { lastPlace, placeBehind } from './deal.board.js';
import { dealColumnsFor, dealRecord, wholeDeal } from './deal.columns.js';
import { type DealRow, emitDeal, missedBefore } from './deal.events.js';
import { dealConditions, dealListing, orderOf } from './deal.filter.js';
import type { CreateDealInput, DealList, DealProduct, DealSort, DealSummary, UpdateDealInput } from './deal.model.js';
import { insertLines, linesOf, sumOf } from './deal.products.js';
import { checkLostReason, checkPlace, holdPlace, type Place, placeAt } from './deal.stage.js';

const noDeals = { count: 0, totalValue: '0', byStage: [] };

/** Contract GET /deals: a page with what is asked for of its lines and relations, and the exact total, in one statement; the summary in another. */
export async function listDeals(ctx: Context, args: DealList) {
  const saved = await savedFilter<keyof typeof DealSort>(ctx, 'deal', args.filter?.viewId);
  const conditions = [...dealConditions(ctx, args.filter), ...saved.conditions];
  const record = dealRecord(args.selection, 'nodes.', missedBefore(ctx.now()));
  const spec = dealListing(args.filter, dealColumnsFor(args.selection, ['nodes.', 'edges.node.']), record);
  const order = orderOf(args.sort || args.order ? args : { ...args, sort: saved.sort, order: saved.order });
  const page = await showRows<DealRow, keyof typeof spec.sorts>(ctx, spec, { ...args, ...order }, conditions);
  if (!args.selection.has('summary')) return page;
  return Object.assign(page, { summary: (await ctx.query(summaryOf, conditions))[0] ?? noDeals });
}

const summaryOf = statement<DealSummary, [conditions: Sql[]]>(
  (account, conditions) => sql`
    with found as (
      select t.stage_id, count(*) as n, coalesce(sum(t.value), 0) as total from deals t
      where t.account_id = ${account}::uuid and t.deleted_at is null and ${allOf(conditions)} group by 1)
    select coalesce(sum(f.n), 0)::int as count, coalesce(sum(f.total), 0)::text as "totalValue",
      coalesce(json_agg(json_build_object('stageId', s.id, 'name', s.name, 'count', f.n, 'totalValue', f.total::text)
        order by p.sort_order, p.id, s.sort_order, s.id), '[]') as "byStage"
    from found f join stages s on s.account_id = ${account}::uuid and s.id = f.stage_id
    join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id`,
);

const byId = statement<DealRow, [id: string, columns: Sql]>(
  (account, id, columns) =>
    sql`select ${columns} from deals t where t.account_id = ${account}::uuid and t.id = ${id}::uuid and t.deleted_at is null`,
);

/** One deal with what is selected of its lines and of the records that it leads to, or null. */
export async function findDeal(ctx: Context, id: string, selection: ReadonlySet<string>): Promise<DealRow | null> {
  const [deal] = await ctx.read(byId, validId(id, 'Deal'), dealColumnsFor(selection, ['']));
  return deal ?? null;
}

/** Contract GET /deals/{id}: the same as it is shown, or 404. */
export async function showDeal(ctx: Context, id: string, selection: ReadonlySet<string>) {
  const record = dealRecord(selection, '', missedBefore(ctx.now()));
  const spec = { table: 'deals', columns: dealColumnsFor(selection, ['']), record };
  return found(await showRow<DealRow>(ctx, spec, validId(id, 'Deal')), 'Deal');
}

const byIds = statement<DealRow, [readonly string[]]>(
  (account, ids) =>
    sql`select ${wholeDeal} from deals t where t.account_id = ${account}::uuid and t.id = any(${ids}::uuid[]) and t.deleted_at is null`,
);

/** Deals by id, for many keys in one statement; null for one that is gone. */
export const dealsById: Batch<DealRow | null> = async (ctx, ids) => inOrder(ids, await ctx.query(byIds, ids), (row) => row.id);

export type WholeDeal = DealRow & { products: DealProduct[] };

const hold = statement<{ id: string; deletedAt: Date | null }, [ids: readonly string[]]>(
  (account, ids) => sql`
    select id, deleted_at as "deletedAt" from deals where account_id = ${account}::uuid and id = any(${ids}::uuid[]) order by id for update`,
);

const whole = statement<WholeDeal, [ids: readonly string[]]>(
  (account, ids) => sql`select ${wholeDeal} from deals t where t.account_id = ${account}::uuid and t.id = any(${ids}::uuid[])`,
);

/** Deals held against other writers until this unit of work ends; read after that, so that no line of them is old. */
export const dealsToChange: Batch<(WholeDeal & { deletedAt: Date | null }) | null> = async (ctx, ids) => {
  const held = new Map((await ctx.query(hold, ids)).map((row) => [row.id, row]));
  const deals = held.size > 0 ? await ctx.query(whole, [...held.keys()]) : [];
  return inOrder(
    ids,
    deals.map((deal) => Object.assign(deal, { deletedAt: held.get(deal.id)!.deletedAt })),
    (deal) => deal.id,
  );
};

/** One deal to change, whether it lives or not. */
const heldDeal = async (ctx: Context, id: string) => found(await ctx.load.dealToChange.fresh(validId(id, 'Deal')), 'Deal');

/** One live deal to change. */
async function lockDeal(ctx: Context, id: string): Promise<WholeDeal> {
  const { deletedAt, ...deal } = await heldDeal(ctx, id);
  return found(deletedAt ? null : deal, 'Deal');
}

const fieldNames = [
  ...['title', 'pipelineId', 'stageId', 'contactId', 'companyId', 'value', 'currency', 'status', 'priority', 'source', 'lostReason'],
  ...['probability', 'expectedCloseDate', 'appointmentAt', 'assignedTo', 'customFields', 'products', 'position'],
];

const blank = {
  ...Object.fromEntries(fieldNames.map((name) => [name, null])),
  ...{ currency: 'USD', customFields: {}, products: undefined, closedAt: null, lastActivityAt: null },
};

const links: ReferenceKinds<'contactId' | 'companyId' | 'assignedTo'> = { contactId: 'contact', companyId: 'company', assignedTo: 'user' };

const closing = (place: Place) => (place.isWon ? 'won' : place.isLost ? 'lost' : 'open');

/** What a deal is worth: what was said, else the sum over its lines. */
function worth(said: string | null | undefined, lines: readonly DealProduct[]) {
  const sum = sumOf(lines);
  return { value: said ?? sum, valueFromProducts: (said ?? null) === null && sum !== null };
}

/** Contract POST /deals: 404 for pipeline and stage, 400 naming any other link that leads nowhere, 402 after the trial. */
export async function createDeal(ctx: Context, { products, ...input }: CreateDealInput): Promise<DealRow> {
  // Asked at one moment, so that they are one statement.
  const [stage, missing] = await Promise.all([
    placeAt(ctx, input.stageId, false),
    missingReferences(ctx, links, input),
    input.customFields && ctx.load.customFieldsOf.load('deal'),
  ]);
  const place = await checkPlace(ctx, stage, input.pipelineId);
  holdPlace(ctx, place);
  refuseMissing(missing);
  checkTrial(ctx);
  const lines = linesOf(ctx, products ?? []);
  const customFields = mergeCustomFields({}, await checkCustomFields(ctx, 'deal', input.customFields, true)) ?? {};
  const status = input.status ?? closing(place);
  checkLostReason(place, { status, lostReason: input.lostReason ?? null, enters: true });
  const now = ctx.now();
  const given = defined({ ...input, customFields, ...worth(input.value, lines), probability: input.probability ?? place.probability });
  const stamps = { position: lastPlace(now), stageEnteredAt: now, closedAt: status === 'open' ? null : now };
  const deal = ctx.insert('Deal', { ...blank, ...given, status, ...stamps }) as unknown as DealRow;
  insertLines(ctx, deal.id, lines);
  const saved = { ...deal, products: lines };
  await emitDeal(ctx, 'deal.created', saved);
  if (status !== 'open') await emitDeal(ctx, `deal.${status}`, saved);
  return saved;
}

/**
 * Contract PATCH /deals/{id}: absent keeps, null clears; custom fields merge by key, products replace all lines. A new stage
 * moves the deal and leaves its status; won and lost close it, open opens it again.
 */
export async function updateDeal(ctx: Context, id: string, input: UpdateDealInput): Promise<DealRow> {
  // The stage is held before the deal, as those do who delete stages.
  const target = input.stageId ? await placeAt(ctx, input.stageId) : undefined;
  const before = await lockDeal(ctx, id);
  const place = await destination(ctx, before, input, target);
  const given = defined(await valuesOf(ctx, before, input, place));
  const after = { ...before, ...given } as WholeDeal;
  const changes = changesBetween(comparable(before), comparable(after), fieldNames);
  if (Object.keys(changes).length === 0) return before;
  await checkReferences(ctx, links, changedReferences(links, changes));
  if (changes.stageId || changes.status || changes.lostReason) {
    const rules = place ?? (await placeAt(ctx, before.stageId, false));
    if (rules) checkLostReason(rules, { status: after.status, lostReason: after.lostReason, enters: Boolean(changes.stageId) });
  }
  const { products: lines, ...row } = given as Partial<WholeDeal>;
  if (changes.products) {
    await ctx.db.dealProduct.deleteMany({ where: { dealId: before.id } });
    insertLines(ctx, before.id, lines ?? []);
  }
  const saved = { ...ctx.update('Deal', before, row), products: after.products };
  await tell(ctx, saved, changes);
  return saved;
}

const comparable = (deal: WholeDeal) => ({
  ...deal,
  products: deal.products.map(({ quantity, unitPrice, discount, tax, sortOrder, ...line }) => ({
    ...line,
    ...{ quantity: Number(quantity), unitPrice: Number(unitPrice), sortOrder: Number(sortOrder) },
    ...{ discount: discount === null ? null : Number(discount), tax: tax === null ? null : Number(tax) },
  })),
});

/** The stage that a change puts a deal into; undefined where it names none. */
async function destination(ctx: Context, before: DealRow, { stageId, pipelineId }: UpdateDealInput, target: Place | undefined) {
  if (stageId) return checkPlace(ctx, target, pipelineId ?? before.pipelineId);
  if (!pipelineId || pipelineId === before.pipelineId) return undefined;
  const stage = await placeAt(ctx, before.stageId, false);
  await checkPlace(ctx, stage, pipelineId);
  throw unprocessable('stageId', 'required', 'must be given with another pipeline');
}

/** The new values of a deal, undefined for those that stay. */
async function valuesOf(ctx: Context, before: WholeDeal, { products, afterDealId, ...input }: UpdateDealInput, place?: Place) {
  const now = ctx.now();
  const lines = products === undefined ? undefined : linesOf(ctx, products ?? []);
  const customFields = mergeCustomFields(before.customFields, await checkCustomFields(ctx, 'deal', input.customFields, false));
  const isMoved = place !== undefined && place.stageId !== before.stageId;
  const isDerived = input.value === null || (input.value === undefined && lines && (before.valueFromProducts || before.value === null));
  const value = isDerived ? worth(null, lines ?? before.products) : input.value === undefined ? {} : worth(input.value, []);
  const moved = isMoved && { stageEnteredAt: now, position: lastPlace(now), probability: await followed(ctx, before, input, place) };
  const position =
    afterDealId === undefined ? {} : { position: await placeBehind(ctx, place?.stageId ?? before.stageId, before.id, afterDealId) };
  const closed = input.status && input.status !== before.status ? { closedAt: input.status === 'open' ? null : now } : {};
  return { ...input, customFields, products: lines, ...value, ...moved, ...position, ...closed };
}

/** The probability of a deal that moves: said, or the new stage's where it was the old stage's. */
async function followed(ctx: Context, before: DealRow, { probability }: UpdateDealInput, place: Place) {
  if (probability !== undefined) return probability;
  const old = await placeAt(ctx, before.stageId, false);
  return before.probability === (old?.probability ?? null) ? place.probability : undefined;
}

const only = (changes: Changes, names: string[]): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => names.includes(name)));

/** Each fact once: that something changed, that the deal moved, that it was closed. */
async function tell(ctx: Context, deal: DealRow, changes: Changes): Promise<void> {
  await emitDeal(ctx, 'deal.updated', deal, changes);
  if (changes.stageId) await emitDeal(ctx, 'deal.stage_changed', deal, only(changes, ['pipelineId', 'stageId']));
  if (changes.status && deal.status !== 'open') await emitDeal(ctx, `deal.${deal.status}`, deal, only(changes, ['status', 'lostReason']));
}

/** Contract DELETE /deals/{id}: soft; its tasks, notes and invoices stay. */
export async function deleteDeal(ctx: Context, id: string) {
  const deal = await lockDeal(ctx, id);
  ctx.update('Deal', deal, { deletedAt: ctx.now() });
  await emitDeal(ctx, 'deal.deleted', deal);
  return deleted(deal.id);
}

const firstStage = statement<{ id: string }, [pipeline: string]>(
  (account, pipeline) => sql`
    select id from stages where account_id = ${account}::uuid and pipeline_id = ${pipeline}::uuid and deleted_at is null
    order by sort_order, id limit 1`,
);

/**
 * POST /deals/{id}/restore: a deleted deal comes back as it was; where its stage is gone by then, into the first of its
 * pipeline; 409 where that is gone too.
 */
export async function restoreDeal(ctx: Context, id: string): Promise<DealRow> {
  const { deletedAt, ...before } = await heldDeal(ctx, id);
  if (!deletedAt) return before;
  checkTrial(ctx);
  const [first] = await ctx.query(firstStage, before.pipelineId);
  const place = (await placeAt(ctx, before.stageId)) ?? (first && (await placeAt(ctx, first.id)));
  check(place, () => conflict('The pipeline of the deal is deleted'));
  const { stageId } = place;
  const entered = stageId === before.stageId ? {} : { stageId, stageEnteredAt: ctx.now() };
  const restored = ctx.update('Deal', before, { deletedAt: null, ...entered });
  const changes = changesBetween({ ...before, deletedAt }, { ...restored, deletedAt: null }, ['deletedAt', 'stageId']);
  await emitDeal(ctx, 'deal.updated', restored, changes);
  if (changes.stageId) await emitDeal(ctx, 'deal.stage_changed', restored, only(changes, ['stageId']));
  return restored;
}
