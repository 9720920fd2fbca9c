import { found } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { missingReferences, refuseMissing } from '../../kernel/operations/references.js';
import type { DealRow, WholeDeal } from './deal.columns.js';
import type { MoveDealArgs } from './deal.model.js';
import { statusIn } from './deal.rules.js';
import { changeDeal, dealRows } from './deal.service.js';
import { rulesOf, type StageRules } from './deal.stage.js';

/**
 * Moves a deal on the board. Into a stage that closes (`isWon`, `isLost`) it is closed with the stage's status, out of one it is
 * opened again; between stages that do not close, and within one, its status stays. A stage of another pipeline takes it there.
 * Where a reason for the loss is required, that of an earlier one does not answer for this one: 422 where none is given.
 */
export async function moveDeal(ctx: Context, id: string, { stageId, afterId, lostReason }: MoveDealArgs): Promise<DealRow> {
  // Asked at one moment, so that they are one statement.
  const [before, rules, missing] = await Promise.all([
    ctx.forChange(dealRows, id),
    rulesOf(ctx, stageId),
    missingReferences(ctx, { afterId: 'deal' }, { afterId }),
  ]);
  refuseMissing(missing);
  const stage = found(rules, 'Stage');
  const status = await statusAfter(ctx, before, stage);
  const place = { stageId, pipelineId: stage.pipelineId, afterDealId: afterId };
  const asksAnew = status === 'lost' && before.status !== 'lost' && (stage.lostReasonRequired || stage.workspace.lostReasonRequired);
  const reason = asksAnew ? (lostReason ?? null) : lostReason;
  return changeDeal(ctx, before, { ...place, status, lostReason: reason }, { rules: stage, afterField: 'afterId' });
}

/** The status that a move gives a deal; undefined where it stays. */
async function statusAfter(ctx: Context, { stageId }: WholeDeal, stage: StageRules): Promise<WholeDeal['status'] | undefined> {
  if (stage.stageId === stageId) return undefined;
  const status = statusIn(stage);
  if (status !== 'open') return status;
  const old = await rulesOf(ctx, stageId);
  return old && statusIn(old) !== 'open' ? 'open' : undefined;
}
