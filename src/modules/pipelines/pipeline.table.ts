import { type Sql, sql } from '../../kernel/database/sql.js';
import { byNumber, byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { Pipeline, PipelineConnection, PipelineList, Stage } from './pipeline.model.js';

export const pipelineRow = modelRow('Pipeline', Pipeline);
export const stageRow = modelRow('Stage', Stage);

export const pipelineTable = table({
  row: pipelineRow,
  list: PipelineList,
  page: PipelineConnection,
  sorts: { sortOrder: byNumber('sort_order'), name: byText('name', false), createdAt: byTime('created_at') },
  byDefault: ['sortOrder', 'asc'],
  unnamed: sql`t.is_default`,
  conditions: { search: (text) => contains('t.name', text) },
});

/**
 * Whether a pipeline `p` is the one of a stage, and not deleted: a stage goes with its pipeline, whose deletion leaves its row as it is.
 */
const isItsLivePipeline = (stage: Sql): Sql =>
  sql`p.account_id = ${stage}.account_id and p.id = ${stage}.pipeline_id and p.deleted_at is null`;

/** The live stages `s`, each with its pipeline `p`: a stage is live while neither it nor its pipeline is deleted. */
export const liveStages = sql`stages s join pipelines p on ${isItsLivePipeline(sql`s`)} and s.deleted_at is null`;

/**
 * Whether a stage over the alias `t` is live. Relations go by less, `live` of the table: they lead to stages from live pipelines and deals,
 * and need not ask for the pipeline again.
 */
const findable = sql`t.deleted_at is null and exists (select from pipelines p where ${isItsLivePipeline(sql`t`)})`;

export const stageTable = table({
  row: stageRow,
  found: findable,
  listed: findable,
  sorts: { sortOrder: byNumber('sort_order') },
  byDefault: ['sortOrder', 'asc'],
});
