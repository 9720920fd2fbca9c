import { check, found, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { recall } from '../../kernel/context/recall.js';
import { decimal, flag, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched } from '../../kernel/operations/loader.js';
import { liveStages } from '../pipelines/pipeline.table.js';

/** A stage as its deals see it: what they begin with, and what it asks of lost ones. */
const stageRules = {
  ...{ pipelineId: uuid, stageId: uuid, probability: nullable(decimal), isWon: flag, isLost: flag },
  ...{ lostReasonRequired: flag, lostReasons: listOf(text) },
  /** What the workspace asks of every lost deal. */
  workspace: json<{ lostReasonRequired: boolean; lostReasons: string[] }>(),
  version: text,
};
export type StageRules = RowOf<typeof stageRules>;

const withRules = sql`from ${liveStages} join accounts a on a.id = s.account_id`;

/** Rows of another transaction each, if one of them was changed. */
const versionOfRules = sql`concat_ws(' ', s.xmin, p.xmin, a.xmin)`;

const byStages = statement({
  name: 'stageRules',
  takes: { stages: listOf(uuid) },
  row: stageRules,
  shared: true,
  text: ({ account, stages }) => sql`
    select p.id as "pipelineId", s.id as "stageId", s.probability::text as probability, s.is_won as "isWon", s.is_lost as "isLost",
      s.lost_reason_required as "lostReasonRequired", s.lost_reasons as "lostReasons",
      json_build_object('lostReasonRequired', a.lost_reason_required, 'lostReasons', a.lost_reasons) as workspace,
      ${versionOfRules} as version
    ${withRules}
    where s.account_id = ${account} and s.id = any(${stages})`,
});

/** The rules of live stages; null for one that is gone. */
const stageRulesOf = batched<StageRules | null>(async (ctx, stages) =>
  inOrder(stages, await ctx.rows(byStages, { stages }), (rules) => rules.stageId),
);

/** The rules of a live stage, or undefined. */
export async function rulesOf(ctx: Context, stage: string): Promise<StageRules | undefined> {
  const { id: account } = ctx.caller.account;
  const rules = await recall(ctx, `stage ${stage}`, {
    version: sql`(select ${versionOfRules} ${withRules} where s.account_id = ${account}::uuid and s.id = ${stage}::uuid)`,
    read: () => stageRulesOf(ctx, stage),
  });
  return rules ?? undefined;
}

/** Has the next write find the stage and its pipeline alive, and keep them so. */
export function holdStage(ctx: Context, { pipelineId, stageId }: StageRules): void {
  const { id: account } = ctx.caller.account;
  // Pipeline before stage, as those lock who change them: in the order that `of` names.
  const rows = sql`select 1 from ${liveStages}
    where p.account_id = ${account}::uuid and p.id = ${pipelineId}::uuid and s.id = ${stageId}::uuid for share of p, s`;
  ctx.requireRow(`stage ${stageId}`, rows, 'shared');
}

const pipeline = statement({
  name: 'livePipeline',
  takes: { id: uuid },
  row: { id: uuid },
  text: ({ account, id }) => sql`select id from pipelines where account_id = ${account} and id = ${id} and deleted_at is null`,
});

/** The stage that a deal is to stand in. 404 where it, or the pipeline that is named with it, is none of the account. */
export async function findStage(ctx: Context, rules: StageRules | undefined, pipelineId: string): Promise<StageRules> {
  if (rules?.pipelineId !== pipelineId) found((await ctx.rows(pipeline, { id: pipelineId }))[0], 'Pipeline');
  return found(rules, 'Stage');
}

/** Throws 422 where a stage is not of the pipeline that is named with it. */
export const checkOfPipeline = (stage: StageRules, pipelineId: string): void =>
  check(stage.pipelineId === pipelineId, () => unprocessable('stageId', 'conflicting', 'must be a stage of the pipeline'));

/** The stage that a deal is to stand in. 404 where stage or pipeline is none of the account, 422 where the one is not of the other. */
export async function checkStage(ctx: Context, rules: StageRules | undefined, pipelineId: string): Promise<StageRules> {
  const stage = await findStage(ctx, rules, pipelineId);
  checkOfPipeline(stage, pipelineId);
  return stage;
}

interface Closing {
  status: string;
  lostReason: string | null;
  /** Whether the deal comes into the stage. */
  enters: boolean;
  /** Whether the reason is another than before. */
  isGiven: boolean;
}

/**
 * What the stage asks of a deal that comes into it or is lost in it, and the workspace of every lost one: a
 * reason, and one of those that are listed. 422 with them as `options`. A reason that stays may be one that was listed before, of a deal
 * that is opened again or won.
 */
export function checkLostReason(rules: StageRules, { status, lostReason, enters, isGiven }: Closing): void {
  const isLost = status === 'lost';
  const isRequired = isLost ? rules.lostReasonRequired || rules.workspace.lostReasonRequired : enters && rules.lostReasonRequired;
  const options = rules.lostReasons.length > 0 || !isLost ? rules.lostReasons : rules.workspace.lostReasons;
  const list = options.join(', ');
  check(lostReason || !isRequired, () =>
    unprocessable('lostReason', 'required', options.length > 0 ? `is required: one of ${list}` : 'is required', { options }),
  );
  const mayStay = !isLost && !enters && !isGiven;
  check(!lostReason || mayStay || options.length === 0 || options.includes(lostReason), () =>
    unprocessable('lostReason', 'not_allowed', `must be one of ${list}`, { options }),
  );
}
