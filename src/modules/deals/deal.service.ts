import { check, conflict, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { changedReferences, missingReferences, type ReferenceKinds, refuseMissing } from '../../kernel/operations/references.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkCustomFields, definitionsToWrite } from '../customFields/customField.values.js';
import { checkTrial } from '../plans/plan.limits.js';
import { lastPosition, positionBehind } from './deal.board.js';
import { type DealRow, dealRow, type WholeDeal, wholeDeals } from './deal.columns.js';
import { emitDeal } from './deal.events.js';
import { type CreateDealInput, DealFields, type DealList, type UpdateDealInput } from './deal.model.js';
import { insertLines, linesOf } from './deal.products.js';
import { changesOf, closingAfter, entering, likelihood, likelihoodAfter, statusIn, worth, worthAfter } from './deal.rules.js';
import { checkLostReason, checkOfPipeline, checkStage, findStage, holdStage, rulesOf, type StageRules } from './deal.stage.js';
import { dealTable } from './deal.table.js';

/** Contract GET /deals: a page with its exact total and, where it is asked for, the summary. */
export const listDeals = (ctx: Context, args: DealList) => listRows<DealRow>(ctx, dealTable, args);

/** One deal, or null. */
export const findDeal = (ctx: Context, id: string) => findRow<DealRow>(ctx, dealTable, id);

/** Contract GET /deals/{id}: one deal, or 404. */
export const getDeal = (ctx: Context, id: string) => getRow<DealRow>(ctx, dealTable, id);

export const dealRows = rowsToChange(wholeDeals);
const dealRowsWithDeleted = rowsToChange(wholeDeals, { withDeleted: true });

const fieldNames = [...namesOf(DealFields), 'position'];

const blank = { ...emptyRow(dealRow.shape), currency: 'USD', customFields: {} };

/** What deals are linked to, besides their stage. */
export const links: ReferenceKinds<'contactId' | 'companyId' | 'assignedTo'> = {
  contactId: 'contact',
  companyId: 'company',
  assignedTo: 'user',
};

const linksOfChange: ReferenceKinds<keyof typeof links | 'afterDealId'> = { ...links, afterDealId: 'deal' };

/** Contract POST /deals: 400 naming a link that leads nowhere, 404 for pipeline and stage, 402 after the trial. */
export async function createDeal(ctx: Context, { products, ...input }: CreateDealInput): Promise<DealRow> {
  // Asked at one moment, so that they are one statement.
  const [rules, missing] = await Promise.all([
    rulesOf(ctx, input.stageId),
    missingReferences(ctx, links, input),
    input.customFields && definitionsToWrite(ctx, 'deal'),
  ]);
  refuseMissing(missing);
  const lines = linesOf(ctx, products ?? []);
  const ownWorth = worth(input.value, lines);
  const merged = await checkCustomFields(ctx, 'deal', input.customFields, null);
  const stage = await findStage(ctx, rules, input.pipelineId);
  const computed = { ...ownWorth, ...likelihood(input.probability, stage) };
  checkTrial(ctx);
  const customFields = merged() ?? {};
  checkOfPipeline(stage, input.pipelineId);
  holdStage(ctx, stage);
  const status = input.status ?? statusIn(stage);
  checkLostReason(stage, { status, lostReason: input.lostReason ?? null, enters: true, isGiven: true });
  const now = ctx.now();
  const stamps = { position: lastPosition(now), stageEnteredAt: now, closedAt: status === 'open' ? null : now };
  const deal = ctx.insert('Deal', { ...blank, ...defined({ ...input, customFields, ...computed }), status, ...stamps });
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
    ctx.forChange(dealRows, id),
    input.stageId ? rulesOf(ctx, input.stageId) : undefined,
    missingReferences(ctx, linksOfChange, input),
    input.customFields && definitionsToWrite(ctx, 'deal'),
  ]);
  const named = changedReferences(linksOfChange, before, input);
  refuseMissing(missing.filter((field) => field in named));
  return changeDeal(ctx, before, input, { rules });
}

/** What a change of a deal goes by. */
interface Change {
  /** The stage that it puts the deal into, if any. */
  rules?: StageRules;
  /** What the deal that it is put behind is called by the caller. */
  afterField?: string;
}

/** Changes a deal that was read to be changed. */
export async function changeDeal(ctx: Context, before: WholeDeal, input: UpdateDealInput, change: Change) {
  const { rules, afterField = 'afterDealId' } = change;
  // What is wrong with a value alone (400) is told before what is wrong with the stage (404, 422).
  const own = await ownValues(ctx, before, input);
  const entered = await destination(ctx, before, input, rules);
  const { products: lines, ...given } = defined(await valuesOf(ctx, before, input, { own, entered, afterField }));
  const after = { ...before, ...given, products: lines ?? before.products };
  const changes = changesOf(before, after, fieldNames);
  if (isNothing(changes)) return keepValueSource(ctx, before, after);
  await checkClosing(ctx, after, changes, entered);
  if (changes.products) {
    await ctx.db.dealProduct.deleteMany({ where: { dealId: before.id } });
    insertLines(ctx, before.id, after.products);
  }
  const saved = { ...ctx.update('Deal', before, given), products: after.products };
  await emitDeal(ctx, 'updated', saved, changes);
  return saved;
}

/** Keeps whether the value follows the products. No record shows it, so nothing is told and `updatedAt` stays. */
function keepValueSource(ctx: Context, before: WholeDeal, { valueFromProducts }: WholeDeal): WholeDeal {
  if (valueFromProducts === before.valueFromProducts) return before;
  return { ...ctx.update('Deal', before, { valueFromProducts, updatedAt: before.updatedAt }), products: before.products };
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

type OwnValues = Awaited<ReturnType<typeof ownValues>>;

/** The new values of a deal that do not depend on its stage. Throws 400. */
async function ownValues(ctx: Context, before: WholeDeal, { products, ...input }: UpdateDealInput) {
  const lines = products === undefined ? undefined : linesOf(ctx, products ?? [], before.products);
  const ownWorth = worthAfter(before, input, lines);
  return { lines, ownWorth, mergedFields: await checkCustomFields(ctx, 'deal', input.customFields, before.customFields ?? {}) };
}

interface Entering {
  own: OwnValues;
  entered?: StageRules;
  afterField: string;
}

/** The new values of a deal, undefined for those that stay. */
async function valuesOf(
  ctx: Context,
  before: WholeDeal,
  { afterDealId, products: _products, ...input }: UpdateDealInput,
  { own, entered, afterField }: Entering,
) {
  const now = ctx.now();
  const customFields = own.mergedFields();
  const moves = entered !== undefined && entered.stageId !== before.stageId;
  const stage = entered?.stageId ?? before.stageId;
  return {
    ...input,
    customFields,
    products: own.lines,
    ...own.ownWorth,
    ...likelihoodAfter(before, input, moves ? entered : undefined),
    ...(moves && entering(now)),
    ...(afterDealId !== undefined && { position: await positionBehind(ctx, { stage, deal: before.id, after: afterDealId }, afterField) }),
    ...closingAfter(before, input, now),
  };
}

/** Throws 422 where the stage or the workspace asks for another reason. */
async function checkClosing(ctx: Context, { stageId, status, lostReason }: WholeDeal, changes: Changes, entered?: StageRules) {
  if (!changes.stageId && !changes.status && !changes.lostReason) return;
  const rules = entered ?? (await rulesOf(ctx, stageId));
  if (rules) checkLostReason(rules, { status, lostReason, enters: Boolean(changes.stageId), isGiven: Boolean(changes.lostReason) });
}

/** Contract DELETE /deals/{id}: soft; its tasks, notes and invoices stay. */
export async function deleteDeal(ctx: Context, id: string) {
  const deal = await ctx.forChange(dealRows, id);
  ctx.update('Deal', deal, { deletedAt: ctx.now() });
  await emitDeal(ctx, 'deleted', deal);
  return deleted('Deal', deal.id);
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
 * pipeline; 409 where that is gone too, or has no stage.
 */
export async function restoreDeal(ctx: Context, id: string): Promise<DealRow> {
  const before = await ctx.forChange(dealRowsWithDeleted, id);
  if (!before.deletedAt) return before;
  checkTrial(ctx);
  const [first] = await ctx.rows(firstStage, { pipeline: before.pipelineId });
  const stage = (await rulesOf(ctx, before.stageId)) ?? (first && (await rulesOf(ctx, first.id)));
  check(stage, () => conflict('pipelineId', 'names a pipeline that is deleted or has no stage'));
  holdStage(ctx, stage);
  const { stageId } = stage;
  const entered = stageId === before.stageId ? {} : { stageId, ...entering(ctx.now()), ...likelihoodAfter(before, {}, stage) };
  const restored = ctx.update('Deal', before, { deletedAt: null, ...entered });
  const changes = changesBetween(before, restored, ['deletedAt', 'stageId', 'probability', 'position']);
  await emitDeal(ctx, 'updated', restored, changes);
  return restored;
}
