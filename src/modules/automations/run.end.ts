import type { Batch, Context } from '../../kernel/context/context.js';
import { instant, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Fact } from '../../kernel/events/facts.js';
import { relinks } from '../../kernel/lists/relink.js';
import { mergedInto } from '../contacts/contact.service.js';
import type { AutomationRunEnd } from './run.model.js';
import { emitRun } from './run.start.js';
import { automationRunTable, automationStepLogTable, wholeStep } from './run.table.js';

const { shape, columns } = automationRunTable;
type Reason = keyof typeof AutomationRunEnd;

const ending = statement({
  name: 'cancelAutomationRuns',
  takes: { contacts: listOf(uuid), beside: nullable(uuid), reason: text, now: instant },
  row: { ...shape, wasStatus: shape.status },
  changes: true,
  text: ({ account, contacts, beside, reason, now }) => sql`
    with live as (
      select r.id, r.status from automation_runs r
      where r.account_id = ${account} and r.contact_id = any(${contacts}) and r.status in ('running', 'waiting')
        and (${beside} is null or exists (select 1 from automation_runs o where o.account_id = r.account_id
          and o.automation_id = r.automation_id and o.contact_id = ${beside} and o.status in ('running', 'waiting')))
      order by r.id for update of r)
    update automation_runs t set status = 'cancelled', end_reason = ${reason}, completed_at = ${now}, wait_until = null, wait_event = null,
      current_node_id = null, wait_step_id = null, waiting_since = null, waiting_after = null, state = null, due_at = null, leased_until = null, updated_at = ${now},
      duration_ms = extract(epoch from ${now} - t.started_at) * 1000
    from live l where t.account_id = ${account} and t.id = l.id returning ${columns}, l.status as "wasStatus"`,
});

const step = automationStepLogTable;
const endingSteps = statement({
  name: 'cancelWaitsOfRuns',
  takes: { runs: listOf(uuid), now: instant },
  row: step.shape,
  changes: true,
  text: ({ account, runs, now }) => sql`
    update automation_step_logs t set status = 'cancelled', completed_at = ${now}, duration_ms = extract(epoch from ${now} - t.started_at) * 1000
    where t.account_id = ${account} and t.run_id = any(${runs}) and t.status = 'waiting' returning ${wholeStep}`,
});

/** Ends the runs of contacts that are under way; with `beside` only those of automations that this contact is in a run of as well. */
async function endRuns(ctx: Context, contacts: readonly string[], reason: Reason, beside: string | null = null): Promise<void> {
  const now = ctx.now();
  const ended = await ctx.rows(ending, { contacts, beside, reason, now });
  if (ended.length === 0) return;
  const steps = await ctx.rows(endingSteps, { runs: ended.map(({ id }) => id), now });
  const change = { status: { from: 'waiting', to: 'cancelled' } };
  await Promise.all([
    ...steps.map((record) => ctx.emit({ name: 'automation_step_log.updated', record, changes: change, logged: false })),
    ...ended.map(({ wasStatus, ...run }) =>
      emitRun(ctx, 'updated', run, { status: { from: wasStatus, to: 'cancelled' }, endReason: { from: null, to: reason } }),
    ),
  ]);
}

/** Ends the runs of contacts who were deleted: those of one moment are one statement. */
export const automationRunsEnded: Batch<void> = async (ctx, contacts) => {
  await endRuns(ctx, contacts, 'contact_deleted');
  return contacts.map(() => undefined);
};

const followContact = relinks(
  { table: 'automation_runs', row: shape, columns, tell: (ctx, run, changes) => emitRun(ctx, 'updated', run, changes) },
  'contactId',
);

/**
 * Contract DELETE /contacts/{id}: the contact's runs end, and restoring does not resume them. Merged: the runs are those of the
 * contact who is kept, one of an automation; where both are in one, the kept contact's goes on.
 */
export async function onContactDeleted(ctx: Context, fact: Fact): Promise<void> {
  const [contact, kept] = [fact.record.id, mergedInto(fact)];
  if (!kept) return ctx.load.automationRunsEnded.fresh(contact);
  await endRuns(ctx, [contact], 'merged', kept);
  await followContact(ctx, contact, kept);
}

const release = statement({
  name: 'endRunsOfAutomation',
  takes: { automation: uuid, now: instant },
  changes: true,
  text: ({ account, automation, now }) => sql`
    update automation_runs set due_at = ${now}
    where account_id = ${account} and automation_id = ${automation} and status in ('running', 'waiting')`,
});

/** Has the runs of a deleted automation come due, which end then: so many as there are. */
export async function endRunsOf(ctx: Context, automation: string): Promise<void> {
  await ctx.rows(release, { automation, now: ctx.now() });
  ctx.wake('automationRuns');
}
