import type { Cause } from '../../kernel/base/principal.js';
import { flag, instant, integer, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import type { Seen } from '../../kernel/matching/matcher.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { outcomeAsSeenBy } from '../events/event.redaction.js';
import {
  AutomationRun,
  AutomationRunConnection,
  AutomationRunList,
  AutomationStepLog,
  AutomationStepLogConnection,
  AutomationStepLogList,
} from './run.model.js';

/** What started a run: the event with its record, as it was then. */
export interface Started {
  event?: string;
  /** The type of the record. */
  type?: string;
  createdAt?: string;
  data?: Record<string, unknown>;
  changes?: Record<string, { from: unknown; to: unknown }> | null;
}

/** What the next burst of a run needs to know. */
export interface RunState {
  /** The event that ended a wait. */
  arrived?: { event: string; eventId: string };
  /** Whether the feed was searched for events that came while its wait began. The reader tells it of those that come later. */
  rested?: boolean;
}

export const automationRunTable = table({
  row: modelRow('AutomationRun', AutomationRun, {
    ...{
      triggerData: nullable(json<Started>()),
      conditions: json<Seen[]>(),
      state: nullable(json<RunState>()),
      waitStepId: nullable(uuid),
      waitingSince: nullable(instant),
      waitingAfter: nullable(text),
      waitingUnplaced: listOf(uuid),
    },
    causes: nullable(json<Cause[]>()),
    tries: integer,
    attempt: integer,
    dueAt: nullable(instant),
  }),
  withoutEvents: ['tries', 'state', 'waitEvent'],
  what: 'Automation run',
  list: AutomationRunList,
  page: AutomationRunConnection,
  counted: false,
  sorts: { startedAt: byTime('started_at') },
  byDefault: ['startedAt', 'desc'],
  conditions: {
    automationId: (id) => sql`t.automation_id = ${id}::uuid`,
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    status: (status) => sql`t.status = ${status}`,
    startedFrom: (moment, ctx) => since('t.started_at', moment, ctx),
    startedTo: (moment, ctx) => until('t.started_at', moment, ctx),
  },
});
export type RunRow = RowOf<typeof automationRunTable.shape>;

// Of a node that asks about the contact, whatever happened, only what is personal is hidden.
const eventOfStep = sql`(
  select r.trigger_event from automation_runs r
  where r.account_id = t.account_id and r.id = t.run_id and not (t.type in ('condition', 'branch', 'goal') and coalesce(t.input ->> 'of', '') = 'contact'))`;

export const automationStepLogTable = table({
  row: modelRow('AutomationStepLog', AutomationStepLog),
  what: 'Step',
  list: AutomationStepLogList,
  page: AutomationStepLogConnection,
  counted: false,
  computed: { output: (ctx) => outcomeAsSeenBy(ctx, sql`t.output`, eventOfStep) },
  carried: ['output'],
  sorts: { startedAt: byTime('started_at'), nth: { by: 't.nth', type: 'integer' } },
  byDefault: ['startedAt', 'desc'],
  conditions: {
    automationId: (id) => sql`t.automation_id = ${id}::uuid`,
    runId: (id) => sql`t.run_id = ${id}::uuid`,
    nodeId: (id) => sql`t.node_id = ${id}`,
    status: (status) => sql`t.status = ${status}`,
  },
});
/** Steps with all that came of them, for the server itself. */
export const wholeSteps = automationStepLogTable.reading(
  automationStepLogTable.shape,
  sql`${automationStepLogTable.columns}, t.output as "output"`,
);
export type StepRow = RowOf<typeof automationStepLogTable.shape>;

const ofAutomation = { automationName: text, isDeleted: flag };
export type DueRun = RunRow & RowOf<typeof ofAutomation>;

/** A run that goes on, with what it needs to know of its automation. */
export const runRows = rowsToChange(
  automationRunTable.reading(
    { ...automationRunTable.shape, ...ofAutomation },
    sql`${automationRunTable.columns}, (select a.name from automations a where a.account_id = t.account_id and a.id = t.automation_id) as "automationName",
    automation_is_deleted(t.account_id, t.automation_id) as "isDeleted"`,
  ),
);

export const stepRows = rowsToChange(wholeSteps);
