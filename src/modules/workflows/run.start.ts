import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { bigint, json, listOf, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import type { Evaluation } from '../../kernel/lists/conditions.js';
import { contactOf } from '../actions/action.service.js';
import { evaluationOf, isLoop, isTrigger } from '../actions/action.trigger.js';
import { emitRun, pending } from './run.service.js';
import type { WorkflowAction, WorkflowTrigger } from './workflow.model.js';
import type { RunRow } from './workflow.table.js';

const active = {
  ...{ id: uuid, name: text, trigger: json<WorkflowTrigger>(), actions: json<WorkflowAction[]>(), activatedAfter: bigint },
};
type Active = RowOf<typeof active>;

/** The events that active workflows of an account wait for. */
export const wanted = (account: Sql): Sql => sql`
  select trigger_event from workflows where account_id = ${account} and is_active and deleted_at is null`;

const starting = { workflows: json<Active[]>(), contacts: json<string[]>() };

// The workflows are held, so that who deletes one or deactivates it comes before its runs are made, or finds them.
// A contact that was deleted for good meanwhile is no contact of a run.
const started = statement({
  name: 'workflowsStartedBy',
  takes: { events: listOf(text), contacts: listOf(uuid) },
  row: starting,
  locks: true,
  text: ({ account, events, contacts }) => sql`
    select (select coalesce(json_agg(a), '[]') from (
      select w.id, w.name, w.trigger, w.actions, w.activated_after::text as "activatedAfter" from workflows w
      where w.account_id = ${account} and w.trigger_event = any(${events}) and w.is_active and w.deleted_at is null
      order by w.created_at, w.id for share of w) a) as workflows,
    (select coalesce(json_agg(c.id), '[]') from contacts c where c.account_id = ${account} and c.id = any(${contacts})) as contacts`,
});

/** Makes a run of each event and each active workflow that waits for it and whose conditions hold. */
export async function startRuns(ctx: Context, told: readonly FeedEvent[]): Promise<void> {
  const events = told.filter(({ name }) => isTrigger(ctx, name));
  if (events.length === 0) return;
  const names = [...new Set(events.map(({ name }) => name))];
  const contacts = [...new Set(events.flatMap(({ type, data }) => contactOf(type, data) ?? []))];
  const [{ workflows, contacts: known }] = (await ctx.rows(started, { events: names, contacts })) as [RowOf<typeof starting>];
  const found = events.flatMap((event) =>
    workflows
      .filter(({ trigger, activatedAfter }) => trigger.event === event.name && BigInt(event.id) > BigInt(activatedAfter))
      .map((workflow) => ({ event, workflow, evaluation: evaluationOf(ctx, event, workflow.trigger.conditions, 'trigger.conditions') })),
  );
  const begun = found.filter(({ evaluation }) => evaluation.holds);
  if (begun.length === 0) return;
  for (const each of begun) await begin(ctx, each, new Set(known));
  ctx.wake('workflow_runs');
}

interface Begun {
  event: FeedEvent;
  workflow: Active;
  evaluation: Evaluation;
}

async function begin(ctx: Context, { event, workflow, evaluation }: Begun, contacts: ReadonlySet<string>): Promise<void> {
  const now = ctx.now();
  const loops = isLoop(event.causes, { kind: 'workflow', id: workflow.id });
  const contactId = contactOf(event.type, event.data);
  const skippedAll = workflow.actions.map((action) => ({ ...pending(action), status: 'skipped' as const }));
  const run: RunRow = ctx.insert('WorkflowRun', {
    ...{ workflowId: workflow.id, workflowName: workflow.name, eventId: event.eventId, triggerEvent: event.name },
    ...{ triggerData: event.data, entityType: event.type, changes: event.changes, eventAt: event.createdAt },
    contactId: contactId && contacts.has(contactId) ? contactId : null,
    ...{ conditions: evaluation.conditions, causes: event.causes, startedAt: now, nextAction: 0, tries: 0, attempt: 0 },
    ...(loops
      ? { status: 'failed' as const, error: 'loop', actions: skippedAll, completedAt: now, durationMs: 0, dueAt: null }
      : {
          status: 'running' as const,
          error: null,
          actions: workflow.actions.map(pending),
          completedAt: null,
          durationMs: null,
          dueAt: now,
        }),
  });
  const { id, name } = workflow;
  const actor = { kind: 'workflow', id, name } as const;
  const chain: Cause[] = [...event.causes, { kind: 'workflow', id, runId: run.id }];
  await emitRun(
    chain.reduce((within, cause) => within.within(cause, actor), ctx),
    'created',
    run,
  );
}
