import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched } from '../../kernel/operations/loader.js';
import { cancelledMessage, cancelSql, tellCancelled } from '../messages/message.cancel.js';
import type { EnrollmentEnd, EnrollmentStatus } from './enrollment.model.js';
import { emitEnrollment } from './enrollment.service.js';
import { enrollmentTable } from './enrollment.table.js';

const { shape: row, columns } = enrollmentTable;

type Reason = keyof typeof EnrollmentEnd;

/** How an enrollment stands that ended for a reason; cancelled where nothing else is said. */
const statuses: Partial<Record<Reason, keyof typeof EnrollmentStatus>> = {
  completed: 'completed',
  unsubscribed: 'unsubscribed',
  bounced: 'failed',
  no_email: 'failed',
  too_large: 'failed',
  empty: 'failed',
};

/** What ends an enrollment only where its sequence says so: the flag of the sequence. */
const flags: Partial<Record<Reason, string>> = {
  replied: 'reply',
  meeting: 'meeting',
  unsubscribed: 'unsubscribe',
  bounced: 'bounce',
};

/** Which enrollments are meant. */
const meant = { contacts: listOf(uuid), sequences: nullable(listOf(uuid)), beside: nullable(uuid), flag: nullable(text) };

/** The enrollments that are meant, and their sequences. */
const enrollmentsWhere = ({ account, contacts, sequences, beside, flag }: Record<'account' | keyof typeof meant, Sql>) => sql`
  enrollments e join sequences s on s.account_id = e.account_id and s.id = e.sequence_id
  where e.account_id = ${account} and e.contact_id = any(${contacts})
    and (${sequences} is null or e.sequence_id = any(${sequences}))
    and (${beside} is null or exists (select 1 from enrollments o where o.account_id = e.account_id
      and o.sequence_id = e.sequence_id and o.contact_id = ${beside} and o.status in ('active', 'paused')))
    and case ${flag} when 'reply' then s.auto_unenroll_on_reply when 'meeting' then s.auto_unenroll_on_meeting
      when 'unsubscribe' then s.auto_unenroll_on_unsubscribe when 'bounce' then s.auto_unenroll_on_bounce else true end`;

const ending = statement({
  name: 'endEnrollments',
  takes: { ...meant, status: text, reason: text, now: instant },
  row: { ...row, wasStatus: row.status },
  changes: true,
  text: ({ account, status, reason, now, ...which }) => sql`
    with live as (
      select e.id, e.status from ${enrollmentsWhere({ account, ...which })} and e.status in ('active', 'paused') order by e.id for update of e)
    update enrollments t set status = ${status}, ended_at = ${now}, end_reason = ${reason}, next_email_at = null, due_at = null,
      held_at = null, leased_until = null, updated_at = ${now}
    from live l where t.account_id = ${account} and t.id = l.id
    returning ${columns}, l.status as "wasStatus"`,
});

// Of those that were ended, and of those that are complete: their last mail may wait to be tried again. A statement of its own, since
// it sees what a step kept for which the one before had to wait.
const cancelling = statement({
  name: 'cancelMessagesOfEnrollments',
  takes: { ...meant, ids: listOf(uuid), error: text, now: instant },
  row: cancelledMessage,
  changes: true,
  text: ({ account, ids, error, now, ...which }) => {
    const complete = sql`select e.id from ${enrollmentsWhere({ account, ...which })} and e.status = 'completed'`;
    return cancelSql({ account, which: sql`m.enrollment_id in (select unnest(${ids}) union all ${complete})`, error, now });
  },
});

interface Ending {
  contacts: readonly string[];
  /** In these sequences only; all by default. */
  sequences?: readonly string[];
  /** Only in sequences that this contact is in as well. */
  beside?: string;
  /** Why they end. What a sequence has a flag for ends its enrollments only where the flag says so. */
  reason: Reason;
}

/**
 * Ends enrollments of contacts that are under way or paused, and takes back what waits to be sent of them, and of those that are complete;
 * answers the contacts of whom it stopped something, each with the enrollment.
 */
export async function endEnrollments(ctx: Context, { contacts, sequences, beside, reason }: Ending): Promise<Map<string, string>> {
  const [status, flag] = [statuses[reason] ?? 'cancelled', flags[reason] ?? null];
  const which = { contacts, sequences: sequences ?? null, beside: beside ?? null, flag };
  const ended = await ctx.rows(ending, { ...which, status, reason, now: ctx.now() });
  const cancelled = await ctx.rows(cancelling, { ...which, ids: ended.map(({ id }) => id), error: reason, now: ctx.now() });
  await tellCancelled(ctx, cancelled);
  const tell = ({ wasStatus, ...enrollment }: (typeof ended)[number]) =>
    emitEnrollment(ctx, 'updated', enrollment, { status: { from: wasStatus, to: status }, endReason: { from: null, to: reason } });
  await Promise.all(ended.map(tell));
  const stopped = cancelled.map(({ contactId, enrollmentId }) => [contactId, enrollmentId!] as const);
  return new Map([...stopped, ...ended.map(({ contactId, id }) => [contactId, id] as const)]);
}

/** Ends the enrollments of contacts by `<reason>/<contact>`: those of one moment and one reason are one statement. */
export const endEnrollmentsOf = batched<void>(async (ctx, keys) => {
  const contacts = new Map<Reason, string[]>();
  for (const [reason, contact] of keys.map((key) => key.split('/') as [Reason, string]))
    contacts.set(reason, [...(contacts.get(reason) ?? []), contact]);
  for (const [reason, those] of contacts) await endEnrollments(ctx, { contacts: those, reason });
  return keys.map(() => undefined);
});
