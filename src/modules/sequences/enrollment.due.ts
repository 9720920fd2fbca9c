import { dayMs } from '../../kernel/base/durations.js';
import { atLocal, daysAfter, localTime } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { flag, integer, listOf, nullable, type RowOf, record, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { type EmailRefusal, emailRefusal, isMailRefused } from '../contacts/contact.optOut.js';
import { contactTable } from '../contacts/contact.table.js';
import { keepEmail } from '../messages/message.email.js';
import { unpaid } from '../plans/plan.limits.js';
import { isTooLarge, merged, mergedHtml, mergedSubject, Room, saysNothing, valuesOf } from '../templates/template.mergeFields.js';
import { endEnrollments } from './enrollment.end.js';
import type { EnrollmentEnd } from './enrollment.model.js';
import { emitEnrollment } from './enrollment.service.js';
import { type EnrollmentRow, enrollmentTable } from './enrollment.table.js';
import { putOffTimes } from './enrollment.times.js';

const step = {
  stepOrder: nullable(integer),
  templateId: nullable(uuid),
  subject: nullable(text),
  body: nullable(text),
  templateName: nullable(text),
  templateSubject: nullable(text),
  templateBody: nullable(text),
  templateHtml: nullable(text),
  nextDelay: nullable(integer),
  contact: record(contactTable.shape),
  refusesMail: flag,
  enroller: nullable(text),
};
type Due = EnrollmentRow & RowOf<typeof step>;

/** Enrollments with their next steps, to be moved on. */
const stepRows = {
  table: enrollmentTable.name,
  what: enrollmentTable.what,
  key: enrollmentTable.key,
  reads: 'enrollments sequence_steps templates contacts address_facts memberships',
  look: statement({
    name: 'lookAtSteps',
    takes: { ids: listOf(uuid) },
    row: { ...enrollmentTable.shape, ...step, xmin: text },
    shared: true,
    text: ({ account, ids }) => sql`
    select ${enrollmentTable.columns}, t.xmin::text as xmin, p.step_order as "stepOrder", p.template_id as "templateId", p.subject, p.body,
      g.name as "templateName", g.subject as "templateSubject", g.body as "templateBody", g.body_html as "templateHtml",
      n.delay_days as "nextDelay", (select row_to_json(r) from (select t.account_id, t.contact_id) k cross join lateral (
        select ${contactTable.columns} from contacts t where t.account_id = k.account_id and t.id = k.contact_id) r) as contact,
      (select ${isMailRefused} from contacts c where c.account_id = t.account_id and c.id = t.contact_id) as "refusesMail",
      (select m.name from memberships m where m.account_id = t.account_id and m.user_id = t.enrolled_by) as enroller
    from enrollments t
    left join sequence_steps p on p.account_id = t.account_id and p.sequence_id = t.sequence_id and p.version = t.version
      and p.step_order = t.current_step + 1
    left join templates g on g.account_id = p.account_id and g.id = p.template_id
    left join sequence_steps n on n.account_id = p.account_id and n.sequence_id = p.sequence_id and n.version = p.version
      and n.step_order = p.step_order + 1
    where t.account_id = ${account} and t.id = any(${ids})`,
  }),
  lock: statement({
    name: 'lockSteps',
    takes: { ids: listOf(uuid) },
    row: { id: uuid },
    locks: true,
    text: ({ account, ids }) => sql`select e.id from enrollments e where e.account_id = ${account} and e.id = any(${ids}) for update`,
  }),
};

/** Holds the contact, before the enrollment, as everybody takes them who changes a contact: so nobody waits for the other for ever. */
const holdContact = (ctx: Context, id: string): void => {
  const account = ctx.caller.account.id;
  const contact = sql`select e.contact_id from enrollments e where e.account_id = ${account}::uuid and e.id = ${id}::uuid`;
  ctx.requireRow(`contact of ${id}`, sql`select 1 from contacts where account_id = ${account}::uuid and id = (${contact}) for key share`);
};

/**
 * Does the step of an enrollment that has come due: keeps its mail, which the sender of messages takes, and moves the enrollment
 * on, in one transaction. Where nothing new may be made in the workspace, it is put off for a day. It counts as an attempt of its own
 * when it is done, so that whoever lost the lease does nothing.
 */
export const doStep = (ctx: Context, { id, attempt }: DueRow): Promise<void> =>
  inOwnTransaction(ctx, async (inside) => {
    holdContact(inside, id);
    const [found] = await inside.toChange(stepRows, [id]);
    if (!found || found.attempt !== attempt || !found.dueAt) return;
    if (found.stepOrder === null) throw new Error(`Enrollment ${id} has no next step`);
    if (await ends(inside, found)) return;
    if (unpaid(inside)) return putOff(inside, found);
    const mail = mailOf(inside, found);
    // It would be so the next time as well: nobody mends the contact or the words for a step that is tried again.
    if (typeof mail === 'string')
      return void (await endEnrollments(inside, { contacts: [found.contactId], sequences: [found.sequenceId], reason: mail }));
    await keepStep(inside, found, mail);
    await moveOn(inside, found);
  });

/** Makes an enrollment, and what is left of it, later by as much as brings its next step to this time tomorrow. */
async function putOff(ctx: Context, before: Due): Promise<void> {
  const { timezone } = ctx.caller.account;
  const now = ctx.now();
  const nextEmailAt = daysAfter(now, 1, timezone);
  // By the clocks on the wall: a day of 23 hours would leave all that follows an hour early.
  const later = localTime(now, timezone) + dayMs - localTime(before.nextEmailAt!, timezone);
  const countsFrom = atLocal(localTime(before.countsFrom, timezone) + later, timezone);
  const after = ctx.update('Enrollment', before, {
    countsFrom,
    nextEmailAt,
    dueAt: nextEmailAt,
    attempt: before.attempt + 1,
    leasedUntil: null,
  });
  await emitEnrollment(ctx, 'updated', after, changesBetween(before, after, ['nextEmailAt']));
}

const endOf = {
  do_not_contact: 'do_not_contact',
  recipient_opted_out: 'unsubscribed',
  no_email: 'no_email',
} as const satisfies Record<EmailRefusal, keyof typeof EnrollmentEnd>;

/** Ends the enrollment of a contact whom no e-mail can or may go to. */
async function ends(ctx: Context, due: Due): Promise<boolean> {
  const which = { contacts: [due.contactId], sequences: [due.sequenceId] };
  const reason = reasonToEnd(due);
  return reason !== undefined && (await endEnrollments(ctx, { ...which, reason })).size > 0;
}

/**
 * Why an enrollment ends instead of sending. The opt-out is asked last: it ends only where the sequence says so; else the mail is kept,
 * and says that it was not sent.
 */
function reasonToEnd({ contact, refusesMail }: Due): keyof typeof EnrollmentEnd | undefined {
  if (contact.deletedAt) return 'contact_deleted';
  const refusal = emailRefusal({ ...contact, optedOutEmail: false }) ?? (refusesMail ? 'recipient_opted_out' : undefined);
  return refusal && endOf[refusal];
}

interface StepMail {
  subject: string;
  body: string;
  bodyHtml: string | null;
}

/**
 * What a step says: the template, or its own words, with the values of the contact, the workspace and whoever enrolled them; or why that
 * is no mail: it becomes too large by them, or nothing is left of it.
 */
function mailOf(ctx: Context, { contact, ...given }: Due): StepMail | 'too_large' | 'empty' {
  const values = valuesOf(ctx, contact, given.enroller);
  const html = given.body === null ? given.templateHtml : null;
  try {
    const mail = {
      subject: mergedSubject(given.subject, { subject: given.templateSubject, name: given.templateName }, values),
      body: merged(given.body ?? given.templateBody ?? '', values, new Room('body')),
      bodyHtml: html === null ? null : mergedHtml(html, values, new Room('bodyHtml')),
    };
    return mail.subject && !saysNothing(mail) ? mail : 'empty';
  } catch (error) {
    if (isTooLarge(error)) return 'too_large';
    throw error;
  }
}

async function keepStep(ctx: Context, { id, contactId, currentStep, templateId, contact }: Due, mail: StepMail): Promise<void> {
  const step = { contactId, templateId, enrollmentId: id, stepOrder: currentStep + 1, toEmail: contact.email, isDue: true, tracked: true };
  await keepEmail(ctx, { ...step, ...mail });
  ctx.wake('messages');
}

const tracked = ['status', 'currentStep', 'lastEmailSentAt', 'nextEmailAt', 'endedAt', 'endReason'];

/** Moves an enrollment on by a step: to the next one, never before this one, or to its end. */
async function moveOn(ctx: Context, { nextDelay, ...before }: Due): Promise<void> {
  const now = ctx.now();
  const { timezone } = ctx.caller.account;
  const { countsFrom } = putOffTimes(before, timezone);
  const at = nextDelay === null ? null : daysAfter(countsFrom, nextDelay, timezone);
  const nextEmailAt = at && new Date(Math.max(at.getTime(), now.getTime()));
  const end = { status: 'completed', endedAt: now, endReason: 'completed' } as const;
  const after = ctx.update('Enrollment', before, {
    currentStep: before.currentStep + 1,
    lastEmailSentAt: now,
    countsFrom,
    nextEmailAt,
    dueAt: nextEmailAt,
    attempt: before.attempt + 1,
    leasedUntil: null,
    ...(nextEmailAt ? {} : end),
  });
  await emitEnrollment(ctx, 'updated', after, changesBetween(before, after, tracked));
  if (nextEmailAt && nextEmailAt <= now) ctx.wake('enrollments');
}
