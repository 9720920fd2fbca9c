import type { Context } from '../../kernel/context/context.js';
import { flag, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { relinks } from '../../kernel/operations/relink.js';
import type { AppointmentRow } from '../calendars/calendar.table.js';
import { mergedInto } from '../contacts/contact.followMerge.js';
import { noteReply } from '../messages/message.sequence.js';
import type { MessageRow } from '../messages/message.service.js';
import { endEnrollments, endEnrollmentsOf } from './enrollment.end.js';
import { emitEnrollment } from './enrollment.service.js';
import { enrollmentTable } from './enrollment.table.js';

const everEnrolled = statement({
  name: 'everEnrolled',
  takes: { contact: uuid },
  row: { id: uuid },
  shared: true,
  beside: true,
  text: ({ account, contact }) => sql`
    select e.id from enrollments e where e.account_id = ${account} and e.contact_id = ${contact} limit 1`,
});

/** An answer of a contact, on any channel, ends the enrollments whose sequences say so; by e-mail it is the answer to their last step. */
export async function onMessageReceived(ctx: Context, { record }: DomainEvent): Promise<void> {
  const { contactId, channel, metadata } = record as MessageRow;
  const { automatic, inReplyTo } = (metadata ?? {}) as { automatic?: unknown; inReplyTo?: unknown };
  // Nobody wrote it: out of office.
  if (automatic === true) return;
  if ((await ctx.rows(everEnrolled, { contact: contactId })).length === 0) return;
  // Where the mail that was answered is known, whoever took the answer in has noted it there.
  if (channel === 'email' && !inReplyTo) await noteReply(ctx, contactId);
  await endEnrollmentsOf(ctx, `replied/${contactId}`);
}

/** What a message fails with when no mail can reach the address. */
const bounces = ['bounced', 'refused'];

const hasAddress = statement({
  name: 'contactWithAddress',
  takes: { contact: uuid, email: text },
  row: { id: uuid },
  text: ({ account, contact, email }) => sql`
    select c.id from contacts c where c.account_id = ${account} and c.id = ${contact} and c.email_lower = lower(${email} collate "und-x-icu")`,
});

/**
 * A mail of a step that cannot be delivered ends the enrollments of its contact whose sequences say so; not one that comes back from an
 * address which the contact no longer has: what is left of them goes elsewhere.
 */
export async function onMessageUpdated(ctx: Context, { record, changes }: DomainEvent): Promise<void> {
  const { contactId, enrollmentId, error, toEmail } = record as MessageRow;
  // One that had failed by our own account may have arrived at its server all the same, and comes back.
  const hasFailed = changes?.status?.to === 'failed' || changes?.bouncedAt !== undefined;
  if (!enrollmentId || !hasFailed || !bounces.includes(error ?? '')) return;
  // One that is refused was for the address that the contact has: it was looked up when the mail was to go.
  if (error === 'bounced' && toEmail && (await ctx.rows(hasAddress, { contact: contactId, email: toEmail })).length === 0) return;
  await endEnrollmentsOf(ctx, `bounced/${contactId}`);
}

interface Flags {
  optedOutEmail: boolean;
  doNotContact: boolean;
}

/** Who opts out of e-mail leaves the sequences that say so; whom nobody may write to leaves all. */
async function endByFlags(ctx: Context, contact: string, { optedOutEmail, doNotContact }: Flags): Promise<void> {
  const reasons = [...(optedOutEmail ? ['unsubscribed'] : []), ...(doNotContact ? ['do_not_contact'] : [])];
  await Promise.all(reasons.map((reason) => endEnrollmentsOf(ctx, `${reason}/${contact}`)));
}

/** Ends what a flag ends that a contact was given. */
export async function onContactUpdated(ctx: Context, { record, changes = {} }: DomainEvent): Promise<void> {
  const { optedOutEmail, doNotContact } = changes;
  await endByFlags(ctx, record.id, { optedOutEmail: optedOutEmail?.to === true, doNotContact: doNotContact?.to === true });
}

/** An appointment with a contact, one that was called off aside, ends the enrollments whose sequences say so. */
export async function onAppointment(ctx: Context, { record, changes }: DomainEvent): Promise<void> {
  const { contactId, status, endTime } = record as AppointmentRow;
  // One that is over meets nobody anew, as when its contact is merged into another; many stay scheduled when they are.
  const isAhead = status === 'scheduled' && endTime > ctx.now();
  const meets = changes ? isAhead && (changes.contactId || changes.status) : status !== 'cancelled';
  if (contactId && meets) await endEnrollmentsOf(ctx, `meeting/${contactId}`);
}

const followContact = relinks(
  {
    of: enrollmentTable,
    tell: (ctx, enrollment, changes) => emitEnrollment(ctx, 'updated', enrollment, changes),
  },
  'contactId',
);

const flagsOf = statement({
  name: 'flagsOfWhoIsKept',
  takes: { id: uuid },
  row: { optedOutEmail: flag, doNotContact: flag },
  planned: true,
  text: ({ account, id }) => sql`
    select c.opted_out_email as "optedOutEmail", coalesce(c.do_not_contact, false) as "doNotContact"
    from contacts c where c.account_id = ${account} and c.id = ${id}`,
});

/**
 * Contract DELETE /contacts/{id}: the contact's enrollments end. Merged: the enrollments are those of the contact that is kept, one for a
 * sequence; where both are under way, the kept contact's goes on. Those that it may not be in end, as they would by its flags.
 */
export async function onContactDeleted(ctx: Context, event: DomainEvent): Promise<void> {
  const [contact, kept] = [event.record.id, mergedInto(event)];
  if (!kept) return endEnrollmentsOf(ctx, `contact_deleted/${contact}`);
  await endEnrollments(ctx, { contacts: [contact], beside: kept, reason: 'merged' });
  await followContact(ctx, contact, kept);
  // What the merge itself gives it of the other's flags is told as a change of the contact.
  const [flags] = await ctx.rows(flagsOf, { id: kept });
  if (flags) await endByFlags(ctx, kept, flags);
}
