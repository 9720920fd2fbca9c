import { listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { keptCount, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { Workflow, WorkflowConnection, WorkflowList } from './workflow.model.js';

export const workflowTable = table({
  row: modelRow('Workflow', Workflow, { triggerEvent: nullable(text), activatedAfter: text, activatedUnplaced: listOf(uuid) }),
  list: WorkflowList,
  page: WorkflowConnection,
  toldBy: { activatedAt: 'isActive' },
  neverTold: ['runCount', 'lastRunAt'],
  computed: {
    // Kept by a trigger: counting would read every run of a page of workflows.
    runCount: keptCount(sql`t.account_id`, 'workflow_runs', sql`'workflow:' || t.id`),
    lastRunAt: sql`(select max(r.started_at) from workflow_runs r where r.account_id = t.account_id and r.workflow_id = t.id)`,
  },
  carried: ['runCount', 'lastRunAt'],
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (words) => contains('t.name', words),
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
  },
});

export type WorkflowRow = RowOf<typeof workflowTable.shape>;
