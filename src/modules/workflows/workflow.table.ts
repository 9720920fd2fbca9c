import type { Cause } from '../../kernel/base/principal.js';
import { instant, integer, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { keptCount, sql } from '../../kernel/database/sql.js';
import type { Changes } from '../../kernel/events/changes.js';
import type { Seen } from '../../kernel/matching/matcher.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { actionsAsSeenBy, asSeenBy } from '../events/event.redaction.js';
import { WorkflowRun, WorkflowRunConnection, WorkflowRunList } from './run.model.js';
import { Workflow, WorkflowConnection, WorkflowList } from './workflow.model.js';

export const workflowTable = table({
  row: modelRow('Workflow', Workflow, { triggerEvent: nullable(text), activatedAfter: text, activatedUnplaced: listOf(uuid) }),
  list: WorkflowList,
  page: WorkflowConnection,
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

const triggerEvent = sql`t.trigger_event`;

/** A run as it is kept; `attempt` is the number of the last process that took it. What happened is shown as its event may be seen. */
export const runTable = table({
  row: modelRow('WorkflowRun', WorkflowRun, {
    nextAction: integer,
    tries: integer,
    attempt: integer,
    dueAt: nullable(instant),
    eventAt: instant,
    entityType: nullable(text),
    changes: nullable(json<Changes>()),
    conditions: json<Seen[]>(),
    causes: nullable(json<Cause[]>()),
  }),
  withoutEvents: ['tries'],
  what: 'Workflow run',
  list: WorkflowRunList,
  page: WorkflowRunConnection,
  counted: false,
  computed: {
    triggerData: (ctx) => asSeenBy(ctx, sql`t.trigger_data`, { form: 'record', event: triggerEvent }),
    actions: (ctx) => actionsAsSeenBy(ctx, sql`t.actions`, triggerEvent),
  },
  carried: ['triggerData', 'actions'],
  sorts: { startedAt: byTime('started_at'), createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['startedAt', 'desc'],
  conditions: {
    status: (status) => sql`t.status = ${status}`,
    workflowId: (id) => sql`t.workflow_id = ${id}::uuid`,
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  },
});

export type RunRow = RowOf<typeof runTable.shape>;

/** Runs with all that happened, for the server itself. */
export const wholeRuns = runTable.reading(
  runTable.shape,
  sql`${runTable.columns}, t.trigger_data as "triggerData", t.actions as "actions"`,
);
