import { check, found, unprocessable } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { decimal, flag, instant, integer, listOf, type RowOf, records, text, uuid } from '../../kernel/database/kinds.js';
import { emptySql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { selectsOfNodes } from '../../kernel/model/connection.js';
import { deleted } from '../../kernel/model/removal.js';
import { loader } from '../../kernel/operations/loader.js';
import { checkNestedIds } from '../../kernel/operations/nestedIds.js';
import { rowsByIds } from '../../kernel/operations/rowsByIds.js';
import { checkPlan } from '../plans/plan.limits.js';
import { pipelinesOfPlan } from './pipeline.limit.js';
import {
  type CreatePipelineInput,
  type CreateStageInput,
  type PipelineList,
  type PipelineStatistics,
  type Stage,
  type StageStatistics,
  type UpdatePipelineInput,
} from './pipeline.model.js';
import { pipelineRow, pipelineTable, stageRow, stageTable } from './pipeline.table.js';

/** A stage as it is kept. */
export type StageRow = RowOf<typeof stageRow.shape>;

/** A pipeline as it is kept, with its stages where a statement brought them along. */
export type PipelineRow = RowOf<typeof pipelineRow.shape> & { stages?: StageRow[] };

const stages = sql`coalesce((select json_agg(o order by o."sortOrder", o.id) from (
    select ${stageRow.columns('s')} from stages s
    where s.account_id = t.account_id and s.pipeline_id = t.id and s.deleted_at is null) o), '[]')`;

const wholePipelines = pipelineTable.reading(
  { ...pipelineRow.shape, stages: records(stageRow.shape) },
  sql`${pipelineTable.columns}, ${stages} as stages`,
);
type Whole = RowOf<typeof wholePipelines.shape>;

/** Contract GET /pipelines: a page with stages in one statement. */
export const listPipelines = (ctx: Context, args: PipelineList) =>
  listRows<PipelineRow>(
    ctx,
    pipelineTable,
    args,
    selectsOfNodes(args.selection, 'stages') ? { columns: wholePipelines.columns, row: wholePipelines.shape } : {},
  );

const byDefault = statement({
  name: 'defaultPipeline',
  row: { id: uuid },
  text: ({ account }) => sql`select id from pipelines where account_id = ${account} and is_default and deleted_at is null`,
});

/** One pipeline with its stages; without an id the default one, or 404 where there is none. */
export async function getPipeline(ctx: Context, asked?: string | null): Promise<Whole> {
  const id = asked ?? found((await ctx.rows(byDefault))[0], 'Pipeline').id;
  const [pipeline] = await pipelinesById(ctx, [validId(id, 'Pipeline')]);
  return found(pipeline, 'Pipeline');
}

const lock = statement({
  name: 'lockPipeline',
  takes: { id: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, id }) => sql`select id from pipelines where account_id = ${account} and id = ${id} and deleted_at is null for update`,
});

/**
 * One pipeline with its stages, locked against other writers and against new deals until this unit of work ends. Locked first
 * and read then: a statement that waited would still show the stages of before.
 */
export async function lockPipeline(ctx: Context, id: string): Promise<Whole> {
  found((await ctx.rows(lock, { id: validId(id, 'Pipeline') }))[0], 'Pipeline');
  return getPipeline(ctx, id);
}

/** Pipelines with their stages by id, for many keys in one statement; null for one that is gone. */
const pipelinesById = rowsByIds(wholePipelines);

/** Stages by id, for many keys in one statement; null for one that is gone, be it with its pipeline. */
export const stageLoader = loader<Stage | null>(
  rowsByIds({ ...stageTable.reading(stageTable.shape, stageTable.columns), live: stageTable.found }),
);

/** The stages of pipelines, each with how many live deals (alias `d`) stand in it, what they are worth, and `more` of them. */
const stageFigures = (account: Sql, which: Sql, more = emptySql): Sql => sql`
  select s.pipeline_id, s.id, s.name, s.sort_order, count(d.stage_id) as n, coalesce(sum(d.value), 0) as total ${more}
  from stages s left join deals d
    on d.account_id = s.account_id and d.pipeline_id = s.pipeline_id and d.stage_id = s.id and d.deleted_at is null
  where s.account_id = ${account} and s.pipeline_id ${which} and s.deleted_at is null
  group by s.pipeline_id, s.id, s.name, s.sort_order`;

const worth = sql`, coalesce(sum(d.value * coalesce(d.probability, s.probability, 0)) filter (where d.status = 'open'), 0) as weighted,
  coalesce(sum(d.value) filter (where d.status = 'won'), 0) as won`;

const worthOfStage = { stageId: uuid, name: text, dealCount: integer, totalValue: decimal, weightedValue: decimal };

const statisticsOf = statement({
  name: 'pipelineStatistics',
  takes: { ids: listOf(uuid) },
  row: {
    id: uuid,
    dealCount: integer,
    totalValue: decimal,
    weightedValue: decimal,
    wonValue: decimal,
    byStage: records(worthOfStage),
  },
  text: ({ account, ids }) => sql`
    with stage as (${stageFigures(account, sql`= any(${ids})`, worth)})
    select pipeline_id as id, sum(n)::int as "dealCount", sum(total)::text as "totalValue", round(sum(weighted), 2)::text as "weightedValue",
      sum(won)::text as "wonValue", json_agg(json_build_object('stageId', id, 'name', name, 'dealCount', n, 'totalValue', total::text,
        'weightedValue', round(weighted, 2)::text) order by sort_order, id) as "byStage"
    from stage group by pipeline_id`,
});

/** The default pipeline as `pipeline` and its stages with their figures as `stages`, as a select; no row where there is none. */
export const defaultPipeline = (account: string): Sql => sql`
  select row_to_json(p) as pipeline, coalesce((
      select json_agg(json_build_object('stageId', f.id, 'name', f.name, 'dealCount', f.n, 'totalValue', f.total::text) order by f.sort_order, f.id)
      from (${stageFigures(sql`${account}::uuid`, sql`= p.id`)}) f), '[]') as stages
  from (select ${pipelineTable.columns} from pipelines t where t.account_id = ${account}::uuid and t.is_default and t.deleted_at is null) p`;

const noDeals: PipelineStatistics = { dealCount: 0, totalValue: '0', weightedValue: '0', wonValue: '0', byStage: [] };

/** The statistics of many pipelines in one statement. */
export const pipelineStatisticsLoader = loader<PipelineStatistics>(async (ctx, ids) =>
  inOrder(ids, await ctx.rows(statisticsOf, { ids }), (row) => row.id).map((row) => row ?? noDeals),
);

/** The figures of one stage, read with those of its pipeline's other stages. */
export async function figuresOfStage(ctx: Context, { id, name, pipelineId }: StageRow): Promise<StageStatistics> {
  const { byStage } = await pipelineStatisticsLoader(ctx).load(pipelineId);
  return byStage.find(({ stageId }) => stageId === id) ?? { stageId: id, name, dealCount: 0, totalValue: '0', weightedValue: '0' };
}

/** One creation at a time: of two that want the plan's last slot, or to be the default, one comes first. */
const oneAtATime = (ctx: Context) => ctx.lockName('pipelines');

const placeOf = statement({
  name: 'placeOfPipeline',
  row: { next: integer, hasDefault: flag },
  text: ({ account }) => sql`
    select coalesce(max(sort_order) + 1, 0)::int as next, coalesce(bool_or(is_default), false) as "hasDefault"
    from pipelines where account_id = ${account} and deleted_at is null`,
});

const unsetDefault = statement({
  name: 'unsetDefaultPipeline',
  takes: { now: instant },
  row: { id: uuid },
  changes: true,
  text: ({ account, now }) => sql`
    update pipelines set is_default = false, updated_at = ${now} where account_id = ${account} and is_default and deleted_at is null
    returning id`,
});

/** Moves the mark of the default, and tells it of the pipeline that loses or gets it by another's change. */
async function passDefault(ctx: Context, how: typeof unsetDefault, isDefault: boolean): Promise<void> {
  const [passed] = await ctx.rows(how, { now: ctx.now() });
  if (passed) await emitPipeline(ctx, await lockPipeline(ctx, passed.id), { isDefault: { from: !isDefault, to: isDefault } });
}

/** Contract POST /pipelines: 402 after the trial, 403 over the plan. The first pipeline becomes the default. */
export async function createPipeline(ctx: Context, { stages, isDefault, ...input }: CreatePipelineInput): Promise<PipelineRow> {
  await oneAtATime(ctx);
  await checkPlan(ctx, pipelinesOfPlan);
  await checkNestedIds(ctx, 'stages', stages ?? []);
  for (const [i, stage] of (stages ?? []).entries()) checkFlags(stage, `stages.${i}.`);
  const [place] = await ctx.rows(placeOf);
  if (isDefault && place?.hasDefault) await passDefault(ctx, unsetDefault, false);
  const values = { description: null, ...input, isDefault: Boolean(isDefault) || !place?.hasDefault, sortOrder: place?.next ?? 0 };
  const pipeline: PipelineRow = ctx.insert('Pipeline', values);
  pipeline.stages = inTheirOrder((stages ?? []).map((stage, i) => ctx.insert('Stage', stageOf(stage, pipeline.id, i))));
  await ctx.emit({ name: 'pipeline.created', record: pipeline });
  for (const stage of pipeline.stages) await ctx.emit({ name: 'stage.created', record: stage });
  return pipeline;
}

/** A stage cannot be won and lost at once. */
export const checkFlags = (stage: { isWon?: boolean | null; isLost?: boolean | null }, at = '') =>
  check(!(stage.isWon && stage.isLost), () => unprocessable(`${at}isLost`, 'conflicting', 'must not be set together with isWon'));

/** A new stage as it is kept. `place` is where it stands by default. */
export function stageOf({ order, sortOrder, ...input }: CreateStageInput, pipelineId: string, place: number) {
  const defaults = { color: '#6B7280', isWon: false, isLost: false, probability: null, lostReasonRequired: false, lostReasons: [] };
  return { ...defaults, ...input, pipelineId, sortOrder: order ?? sortOrder ?? place };
}

export const inTheirOrder = (stages: StageRow[]): StageRow[] => stages.sort((a, b) => a.sortOrder - b.sortOrder || (a.id < b.id ? -1 : 1));

/** Contract PATCH /pipelines/{id}. Besides name and description it moves the pipeline and makes it the default. */
export async function updatePipeline(ctx: Context, id: string, input: UpdatePipelineInput): Promise<PipelineRow> {
  if (input.isDefault) await oneAtATime(ctx);
  const before = await lockPipeline(ctx, id);
  check(!(before.isDefault && input.isDefault === false), () =>
    unprocessable('isDefault', 'not_allowed', 'cannot be cleared: make another one the default instead'),
  );
  const changes = changesBetween(before, { ...before, ...input }, Object.keys(input));
  if (isNothing(changes)) return before;
  if (changes.isDefault) await passDefault(ctx, unsetDefault, false);
  const saved = ctx.update('Pipeline', before, { ...input });
  await emitPipeline(ctx, saved, changes);
  return saved;
}

/** An edit of a pipeline or of one of its stages. */
export const emitPipeline = (ctx: Context, pipeline: PipelineRow, changes: Changes) =>
  ctx.emit({ name: 'pipeline.updated', record: pipeline, changes });

const passDefaultOn = statement({
  name: 'passDefaultPipelineOn',
  takes: { now: instant },
  row: { id: uuid },
  changes: true,
  text: ({ account, now }) => sql`
    update pipelines set is_default = true, updated_at = ${now} where account_id = ${account} and id = (
      select id from pipelines where account_id = ${account} and deleted_at is null order by sort_order, id limit 1) returning id`,
});

/** Contract DELETE /pipelines/{id}: soft, its live deals with it; the first of the others becomes the default if it was. */
export async function deletePipeline(ctx: Context, id: string) {
  await oneAtATime(ctx);
  const pipeline = await lockPipeline(ctx, id);
  ctx.update('Pipeline', pipeline, { deletedAt: ctx.now(), isDefault: false });
  if (pipeline.isDefault) await passDefault(ctx, passDefaultOn, true);
  const record = { ...pipeline, isDefault: false };
  const changes = pipeline.isDefault ? changesBetween(pipeline, record, ['isDefault']) : undefined;
  await ctx.emit({ name: 'pipeline.deleted', record, changes });
  return deleted('Pipeline', pipeline.id);
}
