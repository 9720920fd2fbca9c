import { check, conflict, found, unprocessable } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { instant, integer, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { deleted } from '../../kernel/model/removal.js';
import { checkTrial } from '../plans/plan.limits.js';
import { type CreateStageInput, type DeletedStage, mostStages, type UpdateStageInput } from './pipeline.model.js';
import {
  checkFlags,
  emitPipeline,
  getPipeline,
  inTheirOrder,
  lockPipeline,
  type PipelineRow,
  type StageRow,
  stageLoader,
  stageOf,
} from './pipeline.service.js';

/** Contract GET /pipelines/{id}/stages: in their order. */
export const listStages = async (ctx: Context, pipelineId: string): Promise<StageRow[]> => (await getPipeline(ctx, pipelineId)).stages;

const makeRoom = statement({
  name: 'makeRoomForStage',
  takes: { pipeline: uuid, first: integer, last: integer, by: integer, besides: uuid, now: instant },
  changes: true,
  text: ({ account, pipeline, first, last, by, besides, now }) => sql`
    update stages set sort_order = sort_order + ${by}, updated_at = ${now}
    where account_id = ${account} and pipeline_id = ${pipeline} and sort_order between ${first} and ${last} and id <> ${besides}
      and deleted_at is null`,
});

const mostPositions = 2 ** 31 - 2;

/**
 * The stages with one of them put in its place. Where another one stands there, those that the stage passes on its way to the
 * right close up; otherwise that one and those behind it make room.
 */
async function placed(ctx: Context, others: StageRow[], stage: StageRow, from = mostPositions): Promise<StageRow[]> {
  const { pipelineId: pipeline, sortOrder: at, id: besides } = stage;
  if (!others.some((other) => other.sortOrder === at)) return inTheirOrder([...others, stage]);
  const room = from < at ? { first: from + 1, last: at, by: -1 } : { first: at, last: mostPositions, by: 1 };
  const now = ctx.now();
  await ctx.rows(makeRoom, { pipeline, ...room, besides, now });
  const isMoved = ({ sortOrder }: StageRow) => sortOrder >= room.first && sortOrder <= room.last;
  const moved = others.map((other) => (isMoved(other) ? { ...other, sortOrder: other.sortOrder + room.by, updatedAt: now } : other));
  for (const [i, other] of others.entries()) await emitStage(ctx, other, moved[i]!);
  return inTheirOrder([...moved, stage]);
}

/** Tells of what changed of a stage, if anything did. */
async function emitStage(ctx: Context, before: StageRow, after: StageRow): Promise<void> {
  const changes = changesBetween(before, after, names);
  if (!isNothing(changes)) await ctx.emit({ name: 'stage.updated', record: after, changes });
}

/** Its stages are part of a pipeline: with them it has changed. */
const emitStages = (ctx: Context, pipeline: PipelineRow, from: Partial<StageRow> | null, to: Partial<StageRow> | null) =>
  emitPipeline(ctx, ctx.update('Pipeline', pipeline, {}), { stages: { from: from ? [from] : [], to: to ? [to] : [] } });

/** Contract POST /pipelines/{id}/stages: behind the others, or where `order` says. */
export async function createStage(ctx: Context, pipelineId: string, input: CreateStageInput): Promise<StageRow> {
  const pipeline = await lockPipeline(ctx, pipelineId);
  checkTrial(ctx);
  checkFlags(input);
  check(pipeline.stages.length < mostStages, () => unprocessable('stages', 'too_many', `must be at most ${mostStages} in a pipeline`));
  const last = pipeline.stages.at(-1)?.sortOrder ?? -1;
  const stage: StageRow = ctx.insert('Stage', stageOf(input, pipeline.id, last + 1));
  await ctx.emit({ name: 'stage.created', record: stage });
  const stages = await placed(ctx, pipeline.stages, stage);
  await emitStages(ctx, { ...pipeline, stages }, null, shown(stage));
  return stage;
}

const names = ['name', 'color', 'isWon', 'isLost', 'probability', 'lostReasonRequired', 'lostReasons', 'sortOrder'] as const;
const shown = (stage: StageRow) => Object.fromEntries(['id' as const, ...names].map((name) => [name, stage[name]]));

/** Contract PATCH /pipelines/{id}/stages/{stageId}. A new position is taken, whichever way the stage goes; the others make room. */
export async function updateStage(ctx: Context, id: string, input: UpdateStageInput, pipelineId?: string): Promise<StageRow> {
  const { order, sortOrder, ...rest } = input;
  const { pipeline, stage: before } = await lockStage(ctx, id, pipelineId);
  const given = { ...rest, sortOrder: order ?? sortOrder ?? before.sortOrder };
  checkFlags({ ...before, ...given });
  const changes = Object.keys(changesBetween(before, { ...before, ...given }, names));
  if (changes.length === 0) return before;
  const stage = ctx.update('Stage', before, given);
  await emitStage(ctx, before, stage);
  const others = pipeline.stages.filter((other) => other.id !== stage.id);
  const stages = changes.includes('sortOrder') ? await placed(ctx, others, stage, before.sortOrder) : inTheirOrder([...others, stage]);
  const changed = (of: StageRow) =>
    Object.fromEntries(Object.entries(shown(of)).filter(([name]) => name === 'id' || changes.includes(name)));
  await emitStages(ctx, { ...pipeline, stages }, changed(before), changed(stage));
  return stage;
}

/** A stage with its pipeline, which is held against other writers. 404 where it is none of the one that is told. */
async function lockStage(ctx: Context, stageId: string, pipelineId?: string) {
  const pipeline = await lockPipeline(ctx, pipelineId ?? (await pipelineOf(ctx, stageId)));
  const id = validId(stageId, 'Stage');
  const stage = pipeline.stages.find((one) => one.id === id);
  return { pipeline, stage: found(stage, 'Stage') };
}

const pipelineOf = async (ctx: Context, stageId: string) =>
  found(await stageLoader(ctx).load(validId(stageId, 'Stage')), 'Stage').pipelineId;

const dealsIn = statement({
  name: 'dealsInStage',
  takes: { pipeline: uuid, stage: uuid },
  row: { n: integer },
  text: ({ account, pipeline, stage }) => sql`
    select count(*)::int as n from deals
    where account_id = ${account} and pipeline_id = ${pipeline} and stage_id = ${stage} and deleted_at is null`,
});

/**
 * Contract DELETE /pipelines/{id}/stages/{stageId}: its deals move to the stage before it, else to the one after it; the
 * last stage goes only when no live deal stands in it (409). The move is what the owner of the deals does on
 * `stage.deleted`.
 */
export async function deleteStage(ctx: Context, id: string, pipelineId?: string): Promise<DeletedStage> {
  const { pipeline, stage } = await lockStage(ctx, id, pipelineId);
  const at = pipeline.stages.indexOf(stage);
  const next = pipeline.stages[at - 1] ?? pipeline.stages[at + 1];
  const [deals] = await ctx.rows(dealsIn, { pipeline: pipeline.id, stage: stage.id });
  const movedDeals = deals?.n ?? 0;
  check(next || movedDeals === 0, () => conflict('id', 'names the last stage of a pipeline, which keeps its deals'));
  const movedTo = next && movedDeals > 0 ? next.id : null;
  ctx.update('Stage', stage, { deletedAt: ctx.now() });
  await ctx.emit({ name: 'stage.deleted', record: stage, changes: { stageId: { from: stage.id, to: movedTo } } });
  const stages = pipeline.stages.filter((other) => other.id !== stage.id);
  await emitStages(ctx, { ...pipeline, stages }, shown(stage), null);
  return { ...deleted('Stage', stage.id), pipelineId: pipeline.id, movedDeals, movedTo };
}
