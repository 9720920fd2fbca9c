import { minuteMs } from '../../kernel/base/durations.js';
import { AppError, check, invalidField } from '../../kernel/base/errors.js';
import { withChanges } from '../../kernel/base/objects.js';
import { storable } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { isEmail } from '../../kernel/model/checks.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { type Email, MailLeft, MailRefused } from '../../vendors/email/email.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { contactsRefusingMail, type EmailRefusal, emailRefusal } from '../contacts/contact.optOut.js';
import { requireContact } from '../contacts/contact.service.js';
import { checkTrial } from '../plans/plan.limits.js';
import { oneLine } from '../templates/template.mergeFields.js';
import { headStart, messageToSend, type Outcome, type Sending, settle, takeMessage } from './message.due.js';
import { park } from './message.hold.js';
import type { SendEmailInput } from './message.model.js';
import { effectOf, type RequestEffect, releaseKey } from './message.requestKey.js';
import { addressee, blankMessage, doNotContact, emitMessage, getMessage, type MessageRow } from './message.service.js';
import { tokenOf } from './message.token.js';
import { tracked } from './message.tracking.js';

/** Milliseconds of each second of a lease in which a mail may go: well before it lapses, and somebody else takes the mail. */
const partOfLease = 800;

const refusals: Record<EmailRefusal, () => AppError> = {
  do_not_contact: doNotContact,
  recipient_opted_out: () => new AppError('recipient_opted_out', 'The contact, or somebody else with the address, has opted out of e-mail'),
  no_email: () => invalidField('contactId', 'conflicting', 'names a contact without an e-mail address'),
};

/** When a mail is to go. Throws 400 for a moment that is more than a minute past. */
function whenToGo(ctx: Context, scheduledAt: Date | null | undefined): Date | null {
  if (!scheduledAt) return null;
  const early = ctx.now().getTime() - scheduledAt.getTime();
  check(early <= minuteMs, () => invalidField('scheduledAt', 'out_of_range', 'is past'));
  return early >= 0 ? null : scheduledAt;
}

/**
 * Contract POST /email/send: one mail to one contact, at once or at a moment. What it says is kept first; the mail server is asked
 * outside of any transaction. A mail that the server does not take for now is queued, and tried again by itself.
 */
export async function sendEmail(ctx: Context, input: SendEmailInput): Promise<MessageRow> {
  const effect = await effectOf(ctx, 'email', input);
  const { id, scheduledAt } = effect.known ?? (await keepFirst(ctx, input, effect));
  if (scheduledAt) return getMessage(ctx, id);
  const taken = await takeMessage(ctx, id);
  return (taken && (await deliverEmail(ctx, taken))) ?? getMessage(ctx, id);
}

/** Keeps a mail to a contact, as what its request is known by. */
async function keepFirst(ctx: Context, input: SendEmailInput, effect: RequestEffect): Promise<MessageRow> {
  const { contactId, subject, body, bodyHtml = null } = input;
  await checkMayMail(ctx);
  const scheduledAt = whenToGo(ctx, input.scheduledAt);
  return inOwnTransaction(ctx, async (inside) => {
    await releaseKey(inside, effect);
    // In one statement.
    const [contact, refusing] = await Promise.all([addressee(inside, contactId), contactsRefusingMail(inside, [contactId])]);
    // What is wrong with the request comes before what the plan and the contact say: 400, 402, 422.
    check(contact.email, refusals.no_email);
    checkTrial(ctx);
    const refusal = emailRefusal({ ...contact, optedOutEmail: refusing.size > 0 });
    check(!refusal, () => refusals[refusal!]!());
    requireContact(inside, contact.id);
    return keepEmail(inside, {
      id: input.id,
      contactId: contact.id,
      subject,
      body,
      bodyHtml,
      scheduledAt,
      toEmail: contact.email,
      actionKey: effect.key,
    });
  });
}

interface Kept {
  /** The one that the client chose. */
  id?: string;
  contactId: string;
  subject: string;
  body: string;
  bodyHtml: string | null;
  scheduledAt?: Date | null;
  toEmail: string | null;
  templateId?: string | null;
  enrollmentId?: string | null;
  /** What it is sent once for: a run and its action, or a request's Idempotency-Key. */
  actionKey?: string;
  stepOrder?: number | null;
  /** Whether it carries a pixel, redirects and a way to unsubscribe. */
  tracked?: boolean;
  /** Whether those who work on what is due send it; else the request that makes it does. */
  isDue?: boolean;
}

/** Keeps an e-mail that is to be sent: at its moment, or by the request that makes it. */
export async function keepEmail(ctx: Context, { isDue, ...given }: Kept): Promise<MessageRow> {
  const { scheduledAt = null } = given;
  const dueAt = scheduledAt ?? new Date(ctx.now().getTime() + (isDue ? 0 : headStart));
  const own = {
    ...given,
    subject: oneLine(given.subject),
    scheduledAt,
    dueAt,
    userId: ctx.caller.userId,
    ...({ channel: 'email', direction: 'outbound', status: scheduledAt ? 'scheduled' : 'queued' } as const),
  };
  const message: MessageRow = ctx.insert('Message', withChanges(blankMessage, own));
  await emitMessage(ctx, 'created', message);
  return message;
}

/**
 * Sends an e-mail that is due, under an attempt of its own. Whether it may go, and where, is found out now; that of a run which
 * is paused, or whose sequence is inactive, waits for it. What became of it, or null where it waits or another outcome stands.
 */
export async function deliverEmail(ctx: Context, message: Sending): Promise<MessageRow | null> {
  const known = message.noted?.outcome;
  if (!known && message.isPaused && (await park(ctx, message))) return null;
  const outcome = known ?? (await attemptToSend(ctx, message));
  return outcome ? settle(ctx, message, outcome) : null;
}

/** What keeps a mail from going, by what is known of its contact. */
function hindrance(message: Sending): Outcome | undefined {
  if (message.isGone) return { kind: 'cancelled', error: 'contact_deleted' };
  const refusal = emailRefusal(message);
  return refusal ? { kind: 'failed', error: refusal } : undefined;
}

async function attemptToSend(ctx: Context, message: Sending): Promise<Outcome | undefined> {
  let left = hindrance(message);
  if (left) return left;
  const mail = mailOf(ctx, message);
  const mayGo = async () => {
    // Its reader may have opted out since, its enrollment been paused, or the mail be taken back.
    const now = await messageToSend(ctx, message.id, message.attempt);
    left = now && hindrance(now);
    return now !== undefined && !now.isPaused && !left;
  };
  try {
    const { id, from } = await ctx.app.vendors.email.send({ ...mail, mayGo });
    // A server without a name of its own, such as localhost, has no address that is one elsewhere.
    const sender = isEmail(from) ? { fromEmail: from } : {};
    return { kind: 'sent', provider: 'smtp', providerId: storable(id, 200), ...sender, toEmail: mail.to };
  } catch (error) {
    if (error instanceof MailLeft) return left;
    if (!(error instanceof MailRefused)) throw error;
    return error.isPermanent ? { kind: 'failed', error: 'refused' } : { kind: 'later', error: 'mail_server_unavailable' };
  }
}

/** The mail of a message: the same Message-ID whenever it is sent again. */
function mailOf(ctx: Context, message: Sending): Email {
  const { id, email, subject, body, bodyHtml, tracked: isTracked, isByItself } = message;
  const { publicUrl, inboundMail, leaseSeconds } = ctx.app.config;
  const place = tokenOf(ctx, 'reply', id);
  const replyTo = inboundMail && `${place}@${inboundMail.domain}`;
  const messageId = `<${place}@${new URL(publicUrl).hostname}>`;
  const mail = {
    to: email!,
    subject: subject ?? '',
    text: body,
    html: bodyHtml ?? undefined,
    messageId,
    replyTo,
    // What mail servers report does not go where answers go.
    ...(replyTo && inboundMail?.bounces !== 'sender' && { envelope: { from: replyTo, to: email! } }),
    within: leaseSeconds * partOfLease,
    // RFC 3834: so that no machine answers it.
    ...(isByItself && { headers: { 'Auto-Submitted': 'auto-generated' } }),
  };
  return isTracked ? tracked(ctx, id, mail) : mail;
}
