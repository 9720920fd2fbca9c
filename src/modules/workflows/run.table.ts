import type { Cause } from '../../kernel/base/principal.js';
import { instant, integer, json, nullable, type RowOf, text } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import type { Changes } from '../../kernel/events/changes.js';
import type { Seen } from '../../kernel/matching/matcher.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { actionsAsSeenBy, asSeenBy } from '../events/event.redaction.js';
import { WorkflowRun, WorkflowRunConnection, WorkflowRunList } from './run.model.js';

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
