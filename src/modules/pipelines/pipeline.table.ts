import { sql } from '../../kernel/database/sql.js';
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

/** Whether a stage over the alias `t` can still be found: it goes with its pipeline, whose deletion leaves its row as it is. */
const findable = sql`t.deleted_at is null
  and exists (select from pipelines p where p.account_id = t.account_id and p.id = t.pipeline_id and p.deleted_at is null)`;

export const stageTable = table({
  row: stageRow,
  // Relations lead to stages from live pipelines and deals: they need not ask for the pipeline again.
  found: findable,
  listed: findable,
  sorts: { sortOrder: byNumber('sort_order') },
  byDefault: ['sortOrder', 'asc'],
});

/** The live stages `s`, each with its pipeline `p`: a stage is live while neither it nor its pipeline is deleted. */
export const liveStages = sql`stages s
  join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id and p.deleted_at is null and s.deleted_at is null`;
