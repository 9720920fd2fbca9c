import { check, found, unprocessable } from '../../kernel/base/errors.js';
import type { Batch, Context } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { emptySql, sql, statement } from '../../kernel/database/sql.js';

/** A stage as its deals see it: what they begin with, and what it asks of lost ones. */
export interface Place {
  pipelineId: string;
  stageId: string;
  probability: string | null;
  isWon: boolean;
  isLost: boolean;
  lostReasonRequired: boolean;
  lostReasons: string[];
  /** What the workspace asks of every lost deal. */
  workspace: { lostReasonRequired: boolean; lostReasons: string[] };
}

// Pipeline before stage, as those lock who change them, and each in one order.
const byStages = statement<Place, [stages: readonly string[], hold: boolean]>(
  (account, stages, hold) => sql`
    select p.id as "pipelineId", s.id as "stageId", s.probability::text as probability, s.is_won as "isWon", s.is_lost as "isLost",
      s.lost_reason_required as "lostReasonRequired", s.lost_reasons as "lostReasons",
      json_build_object('lostReasonRequired', a.lost_reason_required, 'lostReasons', a.lost_reasons) as workspace
    from stages s
    join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id and p.deleted_at is null
    join accounts a on a.id = s.account_id
    where s.account_id = ${account}::uuid and s.id = any(${stages}::uuid[]) and s.deleted_at is null order by p.id, s.id
    ${hold ? sql`for share of p, s` : emptySql}`,
);

const placesAt =
  (hold: boolean): Batch<Place | null> =>
  async (ctx, stages) =>
    inOrder(stages, await (hold ? ctx.query(byStages, stages, true) : ctx.glance(byStages, stages, false)), (place) => place.stageId);

export const placesToRead = placesAt(false);
export const placesToHold = placesAt(true);

/** A live stage, or undefined. Held, it stays one until this unit of work ends. */
export async function placeAt(ctx: Context, stage: string, hold = true): Promise<Place | undefined> {
  const place = await (hold ? ctx.load.placeToHold : ctx.load.place).fresh(stage);
  return place ?? undefined;
}

/** Has the next write find the stage and its pipeline alive, and keep them so. */
export function holdPlace(ctx: Context, { pipelineId, stageId }: Place): void {
  const { id: account } = ctx.caller.account;
  const rows = sql`select 1 from pipelines p join stages s on s.account_id = p.account_id and s.pipeline_id = p.id
    where p.account_id = ${account}::uuid and p.id = ${pipelineId}::uuid and s.id = ${stageId}::uuid
    and p.deleted_at is null and s.deleted_at is null for share of p, s`;
  ctx.hold(`stage ${stageId}`, rows);
}

const pipeline = statement<{ id: string }, [string]>(
  (account, id) => sql`select id from pipelines where account_id = ${account}::uuid and id = ${id}::uuid and deleted_at is null`,
);

/** The stage that a deal is to stand in. 404 where stage or pipeline is none of the account, 422 where the one is not of the other. */
export async function checkPlace(ctx: Context, place: Place | undefined, pipelineId: string): Promise<Place> {
  if (place?.pipelineId !== pipelineId) found((await ctx.query(pipeline, pipelineId))[0], 'Pipeline');
  const stage = found(place, 'Stage');
  check(stage.pipelineId === pipelineId, () => unprocessable('stageId', 'conflicting', 'must be a stage of the pipeline'));
  return stage;
}

interface Closing {
  status: string;
  lostReason: string | null;
  /** Whether the deal comes into the stage. */
  enters: boolean;
}

/**
 * What the stage asks of a deal that comes into it or is lost in it, and the workspace of every lost one: a
 * reason, and one of those that are listed. 422 with them as `options`.
 */
export function checkLostReason(place: Place, { status, lostReason, enters }: Closing): void {
  const isLost = status === 'lost';
  const isRequired = isLost ? place.lostReasonRequired || place.workspace.lostReasonRequired : enters && place.lostReasonRequired;
  const options = place.lostReasons.length > 0 || !isLost ? place.lostReasons : place.workspace.lostReasons;
  const list = options.join(', ');
  check(lostReason || !isRequired, () =>
    unprocessable('lostReason', 'required', options.length > 0 ? `is required: one of ${list}` : 'is required', { options }),
  );
  check(!lostReason || options.length === 0 || options.includes(lostReason), () =>
    unprocessable('lostReason', 'not_allowed', `must be one of ${list}`, { options }),
  );
}
