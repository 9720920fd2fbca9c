import { check, invalidField } from '../../kernel/base/errors.js';
import { nextTurn } from '../../kernel/base/eventLoop.js';
import type { Context } from '../../kernel/context/context.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { contactsRefusingMail, emailRefusal } from '../contacts/contact.optOut.js';
import { type ContactRow, contactLoader, requireContact } from '../contacts/contact.service.js';
import { checkTrial } from '../plans/plan.limits.js';
import { merged, mergedHtml, mergedLine, Room, saysNothing, valuesOf, Words } from '../templates/template.mergeFields.js';
import { checkMayFill } from '../templates/template.rights.js';
import { keepEmail } from './message.email.js';
import type { SendEmailsInput, SendResult, SendSummary } from './message.model.js';

/** Characters of texts that are filled in one turn of the event loop. */
const inOneTurn = 1_000_000;

/** Characters of mails that should not wait in memory until all of them are made. */
const muchWaiting = 8_000_000;

/**
 * Contract POST /email/send-bulk: one mail to each contact, with their own values and a way to unsubscribe. All are kept at once
 * and sent one after the other; who must not be written to is skipped, with the reason. 403 for merge fields that the caller must not read.
 */
export async function sendEmails(ctx: Context, input: SendEmailsInput): Promise<SendSummary> {
  const { subject, body, bodyHtml } = input;
  await checkMayMail(ctx);
  checkMayFill(ctx, { subject, body, bodyHtml });
  check(input.contactIds.length > 0, () => invalidField('contactIds', 'too_few', 'must name at least one contact'));
  checkTrial(ctx);
  const contacts = await Promise.all(input.contactIds.map((id) => contactLoader(ctx).load(id)));
  const refusing = await contactsRefusingMail(ctx, input.contactIds);
  /** Contacts, and addresses that are written to. */
  const seen = new Set<string>();
  const words = wordsOf(input);
  const results: SendResult[] = [];
  let filled = 0;
  for (const [i, contact] of contacts.entries()) {
    await ctx.spillEvents({ above: muchWaiting });
    filled += input.body.length + (input.bodyHtml?.length ?? 0);
    if (filled > inOneTurn) {
      await nextTurn();
      filled = 0;
    }
    const contactId = input.contactIds[i]!;
    const address = contact?.email?.toLowerCase() ?? '';
    const reason = seen.has(contactId) ? 'duplicate' : (reasonToSkip(contact, refusing) ?? (seen.has(address) ? 'duplicate' : undefined));
    seen.add(contactId);
    const result: SendResult = reason ? { contactId, status: 'skipped', reason, messageId: null } : await keep(ctx, words, contact!);
    if (result.status === 'queued') seen.add(address);
    results.push(result);
  }
  ctx.wake('messages');
  const [sent, skipped] = (['queued', 'skipped'] as const).map((status) => results.filter((one) => one.status === status).length);
  return { total: results.length, sent: sent!, skipped: skipped!, failed: results.length - sent! - skipped!, results };
}

const reasonToSkip = (contact: ContactRow | null | undefined, refusing: ReadonlySet<string>) =>
  contact ? emailRefusal({ ...contact, optedOutEmail: refusing.has(contact.id) }) : 'not_found';

/** What all are sent, before their values. */
const wordsOf = ({ subject, body, bodyHtml }: SendEmailsInput) => ({
  subject: subject ?? '',
  body: new Words(body),
  bodyHtml: bodyHtml ? new Words(bodyHtml) : null,
});

async function keep(ctx: Context, { subject, body, bodyHtml }: ReturnType<typeof wordsOf>, contact: ContactRow): Promise<SendResult> {
  const values = valuesOf(ctx, contact);
  const mail = {
    subject: mergedLine(subject, values),
    body: merged(body, values, new Room('body')),
    bodyHtml: bodyHtml === null ? null : mergedHtml(bodyHtml, values, new Room('bodyHtml')),
  };
  // Where none is given there is none, as the contract has it.
  const reason = subject && !mail.subject ? 'empty_subject' : saysNothing(mail) ? 'empty_body' : undefined;
  if (reason) return { contactId: contact.id, status: 'failed', reason, messageId: null };
  requireContact(ctx, contact.id);
  const { id } = await keepEmail(ctx, {
    contactId: contact.id,
    toEmail: contact.email,
    tracked: true,
    scheduledAt: null,
    isDue: true,
    ...mail,
  });
  return { contactId: contact.id, status: 'queued', reason: null, messageId: id };
}
