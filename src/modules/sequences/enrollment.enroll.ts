import { minuteMs } from '../../kernel/base/durations.js';
import { check, invalidField, notFound, unprocessable } from '../../kernel/base/errors.js';
import { daysAfter } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { idOf, idsAmong } from '../../kernel/context/rows.js';
import { flag, instant, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { type EmailRefusal, emailRefusal, isMailRefused } from '../contacts/contact.optOut.js';
import { checkTrial } from '../plans/plan.limits.js';
import { endEnrollments } from './enrollment.end.js';
import type { EnrollDetail, EnrollInput, EnrollResult, UnenrollDetail, UnenrollInput, UnenrollResult } from './enrollment.model.js';
import { emitEnrollment } from './enrollment.service.js';
import type { EnrollmentRow } from './enrollment.table.js';
import { sequenceForChange } from './sequence.service.js';
import type { SequenceRow } from './sequence.table.js';

/**
 * How long a contact counts as enrolled whose enrollment came to its end: a short one does when a click is made twice, or a request is sent
 * again.
 */
const justNow = 5 * minuteMs;

const candidate = {
  id: uuid,
  email: nullable(text),
  optedOutEmail: flag,
  doNotContact: flag,
  isEnrolled: flag,
};
type Candidate = RowOf<typeof candidate>;

// They are held, so that a contact who is deleted or opts out meanwhile is deleted or opts out with the enrollment. A merge
// is waited for as well, which may have handed an enrollment on to one of them: whether they are in one is asked once they are held.
const candidates = statement({
  name: 'contactsToEnroll',
  takes: { ids: listOf(uuid), sequence: uuid, since: instant },
  row: candidate,
  locks: true,
  text: ({ account, ids, sequence, since }) => sql`
    with held as materialized (
      select c.id, c.email, ${isMailRefused} as "optedOutEmail", coalesce(c.do_not_contact, false) as "doNotContact"
      from contacts c where c.account_id = ${account} and c.id = any(${ids}) and c.deleted_at is null order by c.id for share of c)
    select h.*, i.id is not null as "isEnrolled"
    from held h left join contacts_in_sequence(${account}, ${sequence}, array(select id from held), ${since}) i (id) on i.id = h.id`,
});

const skipOf = {
  do_not_contact: 'do_not_contact',
  recipient_opted_out: 'opted_out',
  no_email: 'no_email',
} as const satisfies Record<EmailRefusal, EnrollDetail['reason']>;

/** Why a contact is not enrolled; null where it is to be. */
function reasonToSkip(contact: Candidate | undefined): EnrollDetail['reason'] {
  if (!contact) return 'not_found';
  if (contact.isEnrolled) return 'already_enrolled';
  const refusal = emailRefusal(contact);
  return refusal ? skipOf[refusal] : null;
}

/**
 * Contract POST /emails/sequences/{id}/enroll: those who may not be are skipped, each with its reason. 404 for the sequence, 422
 * while it is inactive.
 */
export async function enroll(ctx: Context, id: string, { contactIds }: EnrollInput): Promise<EnrollResult> {
  await checkMayMail(ctx);
  // Who enrolls into one sequence comes one after the other, each seeing whom the others enrolled.
  ctx.lockRows();
  const sequence = await sequenceForChange(ctx, id);
  checkTrial(ctx);
  check(sequence.isActive, () => unprocessable('id', 'not_allowed', 'names an inactive sequence: make it active first'));
  const ids = idsAmong(contactIds);
  const since = new Date(ctx.now().getTime() - justNow);
  const there = await ctx.rows(candidates, { ids, sequence: sequence.id, since });
  const found = new Map(there.map((contact) => [contact.id, contact]));
  const begun: EnrollmentRow[] = [];
  const details = contactIds.map((contactId): EnrollDetail => {
    const contact = found.get(idOf(contactId));
    const reason = reasonToSkip(contact);
    if (reason) return { contactId, status: 'skipped', reason, enrollmentId: null };
    contact!.isEnrolled = true;
    begun.push(start(ctx, sequence, contact!.id));
    return { contactId, status: 'enrolled', reason: null, enrollmentId: begun.at(-1)!.id };
  });
  await Promise.all(begun.map((enrollment) => emitEnrollment(ctx, 'created', enrollment)));
  if (begun.length > 0) ctx.wake('enrollments');
  return { sequenceId: sequence.id, enrolled: begun.length, skipped: details.length - begun.length, details };
}

/** Enrolls a contact with the steps that the sequence has now. */
function start(ctx: Context, { id: sequenceId, version, steps }: SequenceRow, contactId: string): EnrollmentRow {
  const now = ctx.now();
  const firstAt = daysAfter(now, steps[0]!.delayDays, ctx.caller.account.timezone);
  return ctx.insert('Enrollment', {
    sequenceId,
    contactId,
    version,
    status: 'active' as const,
    currentStep: 0,
    totalSteps: steps.length,
    attempt: 0,
    enrolledAt: now,
    countsFrom: now,
    nextEmailAt: firstAt,
    dueAt: firstAt,
    enrolledBy: ctx.caller.userId,
    lastEmailSentAt: null,
    heldAt: null,
    endedAt: null,
    endReason: null,
  });
}

const known = statement({
  name: 'contactToUnenroll',
  takes: { id: uuid },
  row: { id: uuid },
  text: ({ account, id }) => sql`select id from contacts where account_id = ${account} and id = ${id} and deleted_at is null`,
});

/**
 * Contract POST /emails/sequences/{id}/unenroll: their enrollments end, and what waits to be sent of them. 404 for the sequence, or the one
 * contact.
 */
export async function unenroll(ctx: Context, id: string, { contactIds, contactId }: UnenrollInput): Promise<UnenrollResult> {
  check(contactIds || contactId, () => invalidField('contactIds', 'required', 'or contactId is required'));
  ctx.lockRows();
  const sequence = await sequenceForChange(ctx, id);
  if (contactId) check((await ctx.rows(known, { id: contactId })).length > 0, () => notFound('Contact'));
  const given = [...(contactIds ?? []), ...(contactId ? [contactId] : [])];
  const contacts = idsAmong(given);
  const left = await endEnrollments(ctx, { sequences: [sequence.id], contacts, reason: 'unenrolled' });
  const unenrolled = left.size;
  const details = given.map((one): UnenrollDetail => {
    const contact = idOf(one);
    const enrollmentId = left.get(contact) ?? null;
    left.delete(contact);
    return { contactId: one, status: enrollmentId ? 'unenrolled' : 'skipped', reason: enrollmentId ? null : 'not_enrolled', enrollmentId };
  });
  return { sequenceId: sequence.id, unenrolled, skipped: details.length - unenrolled, details };
}
