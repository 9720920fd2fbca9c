import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, type DomainEvent } from '../../kernel/events/changes.js';
import { batched } from '../../kernel/operations/loader.js';
import { relinks } from '../../kernel/operations/relink.js';
import { mergedInto } from '../contacts/contact.followMerge.js';
import type { AutomationRunEnd } from './run.model.js';
import { changesOfRun, emitRun } from './run.start.js';
import { automationRunTable, automationStepLogTable, wholeSteps } from './run.table.js';

const { shape, columns } = automationRunTable;
type Reason = keyof typeof AutomationRunEnd;

/** What is left of a run that has ended. */
const over = (
  now: Sql,
): Sql => sql`completed_at = ${now}, wait_until = null, wait_event = null, current_node_id = null, wait_step_id = null,
  waiting_since = null, waiting_after = null, waiting_unplaced = '{}', state = null, due_at = null, leased_until = null, updated_at = ${now},
  duration_ms = greatest(extract(epoch from ${now} - t.started_at) * 1000, 0)`;

/** What of a run that ends its event tells as it was before: what `over` leaves of it. */
const was = {
  wasStatus: shape.status,
  wasError: shape.error,
  wasNodeId: shape.currentNodeId,
  wasUntil: shape.waitUntil,
  wasEvent: shape.waitEvent,
};
const asItWas = sql`l.status as "wasStatus", l.error as "wasError", l.current_node_id as "wasNodeId", l.wait_until as "wasUntil", l.wait_event as "wasEvent"`;
const toEnd = sql`r.id, r.status, r.error, r.current_node_id, r.wait_until, r.wait_event`;

const ending = statement({
  name: 'cancelAutomationRuns',
  takes: { contacts: listOf(uuid), beside: nullable(uuid), reason: text, now: instant },
  row: { ...shape, ...was },
  changes: true,
  text: ({ account, contacts, beside, reason, now }) => sql`
    with live as (
      select ${toEnd} from automation_runs r
      where r.account_id = ${account} and r.contact_id = any(${contacts}) and r.status in ('running', 'waiting')
        and (${beside} is null or exists (select 1 from automation_runs o where o.account_id = r.account_id
          and o.automation_id = r.automation_id and o.contact_id = ${beside} and o.status in ('running', 'waiting')))
      order by r.id for update of r)
    update automation_runs t set status = 'cancelled', end_reason = ${reason}, ${over(now)}
    from live l where t.account_id = ${account} and t.id = l.id returning ${columns}, ${asItWas}`,
});

/** Why a wait for an event of a record fails that is deleted. */
export const recordIsGone = (event: string): string =>
  `The record that ${event} was to come to is deleted: without a timeout the wait would never end`;

const failing = statement({
  name: 'failWaitsOfAutomationRuns',
  takes: { runs: listOf(uuid), now: instant },
  row: { ...shape, ...was },
  changes: true,
  text: ({ account, runs, now }) => sql`
    with live as (
      select ${toEnd} from automation_runs r
      where r.account_id = ${account} and r.id = any(${runs}) and r.status = 'waiting' order by r.id for update)
    update automation_runs t set status = 'failed', end_reason = 'failed', ${over(now)},
      error = replace(${recordIsGone('*')}::text, '*', t.wait_event)
    from live l where t.account_id = ${account} and t.id = l.id returning ${columns}, ${asItWas}`,
});

const step = automationStepLogTable;
const endingSteps = statement({
  name: 'endWaitsOfRuns',
  takes: { runs: listOf(uuid), now: instant },
  row: step.shape,
  changes: true,
  text: ({ account, runs, now }) => sql`
    update automation_step_logs t set status = r.status, error = r.error, completed_at = ${now},
      duration_ms = greatest(extract(epoch from ${now} - t.started_at) * 1000, 0)
    from automation_runs r where t.account_id = ${account} and t.run_id = any(${runs}) and t.status = 'waiting'
      and r.account_id = t.account_id and r.id = t.run_id returning ${wholeSteps.columns}`,
});

type Ended = RowOf<typeof shape> & RowOf<typeof was>;

/** Ends the waits that runs were in when they ended, as these did, and tells of both. */
async function tellEnds(ctx: Context, ended: readonly Ended[], now: Date): Promise<void> {
  if (ended.length === 0) return;
  const steps = await ctx.rows(endingSteps, { runs: ended.map(({ id }) => id), now });
  await Promise.all([
    ...steps.map((record) => {
      const waited = { status: 'waiting', error: null, completedAt: null, durationMs: null };
      const changes = changesBetween(waited, record, Object.keys(waited));
      return ctx.emit({ name: 'automation_step_log.updated', record, changes, logged: false });
    }),
    ...ended.map((one) => {
      const { wasStatus: status, wasError: error, wasNodeId: currentNodeId, wasUntil: waitUntil, wasEvent: waitEvent, ...run } = one;
      const before = { ...run, status, error, currentNodeId, waitUntil, waitEvent, endReason: null, completedAt: null, durationMs: null };
      return emitRun(ctx, 'updated', run, changesOfRun(before, run));
    }),
  ]);
}

/** Ends the runs of contacts that are under way; with `beside` only those of automations that this contact is in a run of as well. */
async function endRuns(ctx: Context, contacts: readonly string[], reason: Reason, beside: string | null = null): Promise<void> {
  const now = ctx.now();
  await tellEnds(ctx, await ctx.rows(ending, { contacts, beside, reason, now }), now);
}

/** Fails runs at the waits that they are in, for an event that can no longer come to their records. */
export async function failWaits(ctx: Context, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  const now = ctx.now();
  await tellEnds(ctx, await ctx.rows(failing, { runs: [...runs], now }), now);
}

/** Ends the runs of contacts who were deleted: those of one moment are one statement. */
const endAutomationRunsOf = batched<void>(async (ctx, contacts) => {
  await endRuns(ctx, contacts, 'contact_deleted');
  return contacts.map(() => undefined);
});

const followContact = relinks({ of: automationRunTable, tell: (ctx, run, changes) => emitRun(ctx, 'updated', run, changes) }, 'contactId');

/**
 * Contract DELETE /contacts/{id}: the contact's runs end, and restoring does not resume them. Merged: the runs are those of the
 * contact who is kept, one of an automation; where both are in one, the kept contact's goes on.
 */
export async function onContactDeleted(ctx: Context, event: DomainEvent): Promise<void> {
  const [contact, kept] = [event.record.id, mergedInto(event)];
  if (!kept) return endAutomationRunsOf(ctx, contact);
  await endRuns(ctx, [contact], 'merged', kept);
  await followContact(ctx, contact, kept);
}

const dueNow = statement({
  name: 'wakeRunsOfAutomation',
  takes: { automation: uuid, now: instant },
  changes: true,
  text: ({ account, automation, now }) => sql`
    update automation_runs set due_at = ${now}
    where account_id = ${account} and automation_id = ${automation} and status in ('running', 'waiting')`,
});

/** Has the runs of a deleted automation come due, which end then: so many as there are. */
export async function wakeRunsOf(ctx: Context, automation: string): Promise<void> {
  await ctx.rows(dueNow, { automation, now: ctx.now() });
  ctx.wake('automationRuns');
}
