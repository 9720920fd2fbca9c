import { check, conflict, found, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { decimal, emptyRow, integer, listOf, records, text, uuid } from '../../kernel/database/kinds.js';
import { allOf, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/facts.js';
import { showRow, showRows } from '../../kernel/lists/list.js';
import { rowsToChange } from '../../kernel/lists/rowsToChange.js';
import { deleted } from '../../kernel/model/connection.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { missingReferences, type ReferenceKinds, refuseMissing } from '../../kernel/operations/references.js';
import { mergeCustomFields } from '../customFields/customField.merge.js';
import { checkCustomFields } from '../customFields/customField.values.js';
import { checkTrial } from '../plans/plan.limits.js';
import { lastPlace, placeBehind } from './deal.board.js';
import { missedBefore } from './deal.clock.js';
import {
  type DealRow,
  dealColumnsFor,
  dealRecord,
  dealRow,
  dealShapeFor,
  type WholeDeal,
  wholeDeal,
  wholeDealRow,
} from './deal.columns.js';
import { emitDeal } from './deal.events.js';
import { type CreateDealInput, DealFields, type DealList, type UpdateDealInput } from './deal.model.js';
import { insertLines, linesOf } from './deal.products.js';
import { closingAfter, comparable, entering, statusIn, worth, worthAfter } from './deal.rules.js';
import { checkLostReason, checkStage, holdStage, rulesOf, type StageRules } from './deal.stage.js';
import { dealTable } from './deal.table.js';

const noDeals = { count: 0, totalValue: '0', byStage: [] };

/** Contract GET /deals: a page with what is asked for of its lines and relations, and the exact total, in one statement; the summary in another. */
export async function listDeals(ctx: Context, args: DealList) {
  const prefixes = ['nodes.', 'edges.node.'];
  const record = dealRecord(args.selection, 'nodes.', missedBefore(ctx.now()));
  const row = { columns: dealColumnsFor(args.selection, prefixes), row: dealShapeFor(args.selection, prefixes) };
  const page = await showRows<DealRow>(ctx, dealTable, args, { ...row, record });
  if (!args.selection.has('summary')) return page;
  const { conditions } = await dealTable.asked(ctx, args);
  return Object.assign(page, { summary: (await ctx.select(summary, summaryOf(ctx.caller.account.id, conditions)))[0] ?? noDeals });
}

const summary = {
  ...{ count: integer, totalValue: decimal },
  byStage: records({ stageId: uuid, name: text, count: integer, totalValue: decimal }),
};

const summaryOf = (account: string, conditions: Sql[]) => sql`
  with found as (
    select t.stage_id, count(*) as n, coalesce(sum(t.value), 0) as total from deals t
    where t.account_id = ${account}::uuid and t.deleted_at is null and ${allOf(conditions)} group by 1)
  select coalesce(sum(f.n), 0)::int as count, coalesce(sum(f.total), 0)::text as "totalValue",
    coalesce(json_agg(json_build_object('stageId', s.id, 'name', s.name, 'count', f.n, 'totalValue', f.total::text)
      order by p.sort_order, p.id, s.sort_order, s.id), '[]') as "byStage"
  from found f join stages s on s.account_id = ${account}::uuid and s.id = f.stage_id
  join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id`;

const byId = (account: string, id: string, columns: Sql) =>
  sql`select ${columns} from deals t where t.account_id = ${account}::uuid and t.id = ${id}::uuid and t.deleted_at is null`;

/** One deal with what is selected of its lines and of the records that it leads to, or null. */
export async function findDeal(ctx: Context, id: string, selection: ReadonlySet<string>): Promise<DealRow | null> {
  const rows = byId(ctx.caller.account.id, validId(id, 'Deal'), dealColumnsFor(selection, ['']));
  const [deal] = await ctx.select(dealShapeFor(selection, ['']), rows);
  return (deal as DealRow | undefined) ?? null;
}

/** Contract GET /deals/{id}: the same as it is shown, or 404. */
export async function showDeal(ctx: Context, id: string, selection: ReadonlySet<string>) {
  const record = dealRecord(selection, '', missedBefore(ctx.now()));
  const row = { columns: dealColumnsFor(selection, ['']), row: dealShapeFor(selection, ['']), record };
  return found(await showRow<DealRow>(ctx, dealTable, id, row), 'Deal');
}

const byIds = statement({
  name: 'dealsById',
  takes: { ids: listOf(uuid) },
  row: wholeDealRow,
  planned: true,
  text: ({ account, ids }) =>
    sql`select ${wholeDeal} from deals t where t.account_id = ${account} and t.id = any(${ids}) and t.deleted_at is null`,
});

/** Deals by id, for many keys in one statement; null for one that is gone. */
export const dealsById: Batch<DealRow | null> = async (ctx, ids) => inOrder(ids, await ctx.rows(byIds, { ids }), (row) => row.id);

export const toChange = rowsToChange('deals', wholeDealRow, wholeDeal);
const withDeleted = rowsToChange('deals', wholeDealRow, wholeDeal, { name: 'dealsWithDeleted', live: sql`true` });

const fieldNames = [...namesOf(DealFields), 'position'];

const blank = { ...emptyRow(dealRow.shape), currency: 'USD', customFields: {} };

const links: ReferenceKinds<'contactId' | 'companyId' | 'assignedTo'> = { contactId: 'contact', companyId: 'company', assignedTo: 'user' };

/** Contract POST /deals: 404 for pipeline and stage, 400 naming any other link that leads nowhere, 402 after the trial. */
export async function createDeal(ctx: Context, { products, ...input }: CreateDealInput): Promise<DealRow> {
  // Asked at one moment, so that they are one statement.
  const [rules, missing] = await Promise.all([
    rulesOf(ctx, input.stageId),
    missingReferences(ctx, links, input),
    input.customFields && ctx.load.customFieldsOf.load('deal'),
  ]);
  const stage = await checkStage(ctx, rules, input.pipelineId);
  holdStage(ctx, stage);
  refuseMissing(missing);
  checkTrial(ctx);
  const lines = linesOf(ctx, products ?? []);
  const customFields = mergeCustomFields({}, await checkCustomFields(ctx, 'deal', input.customFields, true)) ?? {};
  const status = input.status ?? statusIn(stage);
  checkLostReason(stage, { status, lostReason: input.lostReason ?? null, enters: true });
  const now = ctx.now();
  const given = defined({ ...input, customFields, ...worth(input.value, lines), probability: input.probability ?? stage.probability });
  const stamps = { position: lastPlace(now), stageEnteredAt: now, closedAt: status === 'open' ? null : now };
  const deal = ctx.insert('Deal', { ...blank, ...given, status, ...stamps });
  insertLines(ctx, deal.id, lines);
  const saved = { ...deal, products: lines };
  await emitDeal(ctx, 'created', saved);
  return saved;
}

/**
 * Contract PATCH /deals/{id}: absent keeps, null clears; custom fields merge by key, products replace all lines. A new stage
 * moves the deal and leaves its status; won and lost close it, open opens it again.
 */
export async function updateDeal(ctx: Context, id: string, input: UpdateDealInput): Promise<DealRow> {
  // Asked at one moment, so that they are one statement.
  const [before, rules, missing] = await Promise.all([
    ctx.forChange(toChange, id, 'Deal'),
    input.stageId ? rulesOf(ctx, input.stageId) : undefined,
    missingReferences(ctx, links, input),
    input.customFields && ctx.load.customFieldsOf.load('deal'),
  ]);
  return changeDeal(ctx, before, input, { rules, missing });
}

/** What a change of a deal goes by. */
interface Change {
  /** The stage that it puts the deal into, if any. */
  rules?: StageRules;
  /** The fields of it that lead nowhere. */
  missing?: string[];
  /** What the deal that it is put behind is called by the caller. */
  afterField?: string;
}

/** Changes a deal that was read to be changed. */
export async function changeDeal(ctx: Context, before: WholeDeal, input: UpdateDealInput, change: Change) {
  const { rules, missing = [], afterField = 'afterDealId' } = change;
  const entered = await destination(ctx, before, input, rules);
  const { products: lines, ...given } = defined(await valuesOf(ctx, before, input, { entered, afterField }));
  const after = { ...before, ...given, products: lines ?? before.products };
  const changes = changesBetween(comparable(before), comparable(after), fieldNames);
  if (Object.keys(changes).length === 0) return before;
  refuseMissing(missing.filter((field) => changes[field]));
  await checkClosing(ctx, after, changes, entered);
  if (changes.products) {
    await ctx.db.dealProduct.deleteMany({ where: { dealId: before.id } });
    insertLines(ctx, before.id, after.products);
  }
  const saved = { ...ctx.update('Deal', before, given), products: after.products };
  await emitDeal(ctx, 'updated', saved, changes);
  return saved;
}

/** The stage that a change puts a deal into; undefined where it names none. */
async function destination(ctx: Context, before: DealRow, { stageId, pipelineId }: UpdateDealInput, rules: StageRules | undefined) {
  if (stageId) {
    const stage = await checkStage(ctx, rules, pipelineId ?? before.pipelineId);
    holdStage(ctx, stage);
    return stage;
  }
  if (!pipelineId || pipelineId === before.pipelineId) return undefined;
  await checkStage(ctx, await rulesOf(ctx, before.stageId), pipelineId);
  throw unprocessable('stageId', 'required', 'must be given with another pipeline');
}

interface Entering {
  entered?: StageRules;
  afterField: string;
}

/** The new values of a deal, undefined for those that stay. */
async function valuesOf(
  ctx: Context,
  before: WholeDeal,
  { afterDealId, products, ...input }: UpdateDealInput,
  { entered, afterField }: Entering,
) {
  const now = ctx.now();
  const lines = products === undefined ? undefined : linesOf(ctx, products ?? []);
  const customFields = mergeCustomFields(before.customFields, await checkCustomFields(ctx, 'deal', input.customFields, false));
  const moves = entered && entered.stageId !== before.stageId;
  const old = moves && input.probability === undefined ? await rulesOf(ctx, before.stageId) : undefined;
  const stage = entered?.stageId ?? before.stageId;
  return {
    ...input,
    ...{ customFields, products: lines },
    ...worthAfter(before, input, lines),
    ...(moves && entering(before, input, entered, old, now)),
    ...(afterDealId !== undefined && { position: await placeBehind(ctx, { stage, deal: before.id, after: afterDealId }, afterField) }),
    ...closingAfter(before, input, now),
  };
}

/** Throws 422 where the stage or the workspace asks for another reason. */
async function checkClosing(ctx: Context, { stageId, status, lostReason }: WholeDeal, changes: Changes, entered?: StageRules) {
  if (!changes.stageId && !changes.status && !changes.lostReason) return;
  const rules = entered ?? (await rulesOf(ctx, stageId));
  if (rules) checkLostReason(rules, { status, lostReason, enters: Boolean(changes.stageId) });
}

/** Contract DELETE /deals/{id}: soft; its tasks, notes and invoices stay. */
export async function deleteDeal(ctx: Context, id: string) {
  const deal = await ctx.forChange(toChange, id, 'Deal');
  ctx.update('Deal', deal, { deletedAt: ctx.now() });
  await emitDeal(ctx, 'deleted', deal);
  return deleted(deal.id);
}

const firstStage = statement({
  name: 'firstStage',
  takes: { pipeline: uuid },
  row: { id: uuid },
  text: ({ account, pipeline }) => sql`
    select id from stages where account_id = ${account} and pipeline_id = ${pipeline} and deleted_at is null
    order by sort_order, id limit 1`,
});

/**
 * POST /deals/{id}/restore: a deleted deal comes back as it was; where its stage is gone by then, into the first of its
 * pipeline; 409 where that is gone too.
 */
export async function restoreDeal(ctx: Context, id: string): Promise<DealRow> {
  const before = await ctx.forChange(withDeleted, id, 'Deal');
  if (!before.deletedAt) return before;
  checkTrial(ctx);
  const [first] = await ctx.rows(firstStage, { pipeline: before.pipelineId });
  const stage = (await rulesOf(ctx, before.stageId)) ?? (first && (await rulesOf(ctx, first.id)));
  check(stage, () => conflict('The pipeline of the deal is deleted'));
  holdStage(ctx, stage);
  const { stageId } = stage;
  const entered = stageId === before.stageId ? {} : { stageId, stageEnteredAt: ctx.now() };
  const restored = ctx.update('Deal', before, { deletedAt: null, ...entered });
  const changes = changesBetween(before, restored, ['deletedAt', 'stageId']);
  await emitDeal(ctx, 'updated', restored, changes);
  return restored;
}
