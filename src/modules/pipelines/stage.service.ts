import { check, conflict, found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { deleted } from '../../kernel/model/connection.js';
import type { CreateStageInput, DeletedStage, Stage, UpdateStageInput } from './pipeline.model.js';
import { checkFlags, emitPipeline, getPipeline, inTheirOrder, lockPipeline, type PipelineRow, stageOf } from './pipeline.service.js';

/** Contract GET /pipelines/{id}/stages: in their order. */
export const listStages = async (ctx: Context, pipelineId: string): Promise<Stage[]> => (await getPipeline(ctx, pipelineId)).stages;

const makeRoom = statement<never, [pipeline: string, at: number, besides: string, now: Date]>(
  (account, pipeline, at, besides, now) => sql`
    update stages set sort_order = sort_order + 1, updated_at = ${now} where account_id = ${account}::uuid
    and pipeline_id = ${pipeline}::uuid and sort_order >= ${at}::int and id <> ${besides}::uuid and deleted_at is null`,
);

/** The stages with one of them put in its place; those that stand there or behind make room. */
async function placed(ctx: Context, others: Stage[], stage: Stage): Promise<Stage[]> {
  const isTaken = others.some((other) => other.sortOrder === stage.sortOrder);
  if (isTaken) await ctx.query(makeRoom, stage.pipelineId, stage.sortOrder, stage.id, ctx.now());
  const moved = others.map((other) =>
    isTaken && other.sortOrder >= stage.sortOrder ? { ...other, sortOrder: other.sortOrder + 1 } : other,
  );
  return inTheirOrder([...moved, stage]);
}

const emitStages = (ctx: Context, pipeline: PipelineRow, from: Partial<Stage> | null, to: Partial<Stage> | null) =>
  emitPipeline(ctx, pipeline, { stages: { from: from ? [from] : [], to: to ? [to] : [] } });

/** Contract POST /pipelines/{id}/stages: behind the others, or where `order` says. */
export async function createStage(ctx: Context, pipelineId: string, input: CreateStageInput): Promise<Stage> {
  checkFlags(input);
  const pipeline = await lockPipeline(ctx, pipelineId);
  const last = pipeline.stages.at(-1)?.sortOrder ?? -1;
  const stage: Stage = ctx.insert('Stage', stageOf(input, pipeline.id, last + 1));
  const stages = await placed(ctx, pipeline.stages, stage);
  await emitStages(ctx, { ...pipeline, stages }, null, shown(stage));
  return stage;
}

const names = ['name', 'color', 'isWon', 'isLost', 'probability', 'lostReasonRequired', 'lostReasons', 'sortOrder'] as const;
const shown = (stage: Stage) => Object.fromEntries(['id' as const, ...names].map((name) => [name, stage[name]]));

/** Contract PATCH /pipelines/{id}/stages/{stageId}. A new position is taken; the stage that had it makes room. */
export async function updateStage(ctx: Context, pipelineId: string, stageId: string, input: UpdateStageInput): Promise<Stage> {
  const { order, sortOrder, ...rest } = input;
  const { pipeline, stage: before } = await lockStage(ctx, pipelineId, stageId);
  const given = { ...rest, sortOrder: order ?? sortOrder ?? before.sortOrder };
  checkFlags({ ...before, ...given });
  const changes = Object.keys(changesBetween(before, { ...before, ...given }, names));
  if (changes.length === 0) return before;
  const stage = ctx.update('Stage', before, given);
  const others = pipeline.stages.filter(({ id }) => id !== stage.id);
  const stages = changes.includes('sortOrder') ? await placed(ctx, others, stage) : inTheirOrder([...others, stage]);
  const changed = (of: Stage) => Object.fromEntries(Object.entries(shown(of)).filter(([name]) => name === 'id' || changes.includes(name)));
  await emitStages(ctx, { ...pipeline, stages }, changed(before), changed(stage));
  return stage;
}

async function lockStage(ctx: Context, pipelineId: string, stageId: string) {
  const pipeline = await lockPipeline(ctx, pipelineId);
  const id = validId(stageId, 'Stage');
  return {
    pipeline,
    stage: found(
      pipeline.stages.find((stage) => stage.id === id),
      'Stage',
    ),
  };
}

const dealsIn = statement<{ n: number }, [pipeline: string, stage: string]>(
  (account, pipeline, stage) => sql`
    select count(*)::int as n from deals where account_id = ${account}::uuid and pipeline_id = ${pipeline}::uuid
    and stage_id = ${stage}::uuid and deleted_at is null`,
);

/**
 * Contract DELETE /pipelines/{id}/stages/{stageId}: its deals move to the stage before it, else to the one after it; the
 * last stage goes only when no live deal stands in it (409). The move is what the owner of the deals does when he hears
 * of `stage.deleted`.
 */
export async function deleteStage(ctx: Context, pipelineId: string, stageId: string): Promise<DeletedStage> {
  const { pipeline, stage } = await lockStage(ctx, pipelineId, stageId);
  const at = pipeline.stages.indexOf(stage);
  const next = pipeline.stages[at - 1] ?? pipeline.stages[at + 1];
  const [deals] = await ctx.query(dealsIn, pipeline.id, stage.id);
  const movedDeals = deals?.n ?? 0;
  check(next || movedDeals === 0, () => conflict('The last stage of a pipeline keeps its deals'));
  const movedTo = next && movedDeals > 0 ? next.id : null;
  ctx.update('Stage', stage, { deletedAt: ctx.now() });
  await ctx.log({ name: 'stage.deleted', type: 'Stage', record: stage, changes: { stageId: { from: stage.id, to: movedTo } } });
  const stages = pipeline.stages.filter(({ id }) => id !== stage.id);
  await emitStages(ctx, { ...pipeline, stages }, shown(stage), null);
  return { ...deleted(stage.id), movedDeals, movedTo };
}
