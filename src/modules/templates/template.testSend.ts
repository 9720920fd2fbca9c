import { AppError, check, invalidField } from '../../kernel/base/errors.js';
import { type Context, inLog } from '../../kernel/context/context.js';
import { effectIdOf } from '../../kernel/operations/idempotency.js';
import { MailRefused } from '../../vendors/email/email.js';
import { spendChosenMail } from '../auth/auth.mail.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { addressRefusal } from '../contacts/contact.optOut.js';
import { checkTrial } from '../plans/plan.limits.js';
import { type MergeValues, merged, mergedHtml, mergedLine, Room } from './template.mergeFields.js';
import type { TestSend, TestSendInput } from './template.model.js';
import { findTemplate } from './template.service.js';

/** The values of an example, so that the mail reads like one that somebody gets. */
const example = (ctx: Context): MergeValues => ({
  contact: {
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    phone: '+14155550123',
    company: 'Analytical Engines',
    jobTitle: 'Engineer',
    city: 'London',
    country: 'GB',
  },
  workspace: { name: ctx.caller.account.name },
  user: { name: ctx.caller.userName },
});

const refusalWords = {
  do_not_contact: 'toEmail is the address of a contact who must not be contacted',
  recipient_opted_out: 'toEmail is an address that has opted out of e-mail',
};

/**
 * Contract POST /emails/templates/test-send: one mail with the values of an example. 400 where there is no such template; 402 where the
 * trial is over; 422 where the workspace may not write to the address; 429 after many in an hour; 502 where the mail server refuses.
 */
export async function testSend(ctx: Context, input: TestSendInput): Promise<TestSend> {
  await checkMayMail(ctx);
  const { templateId, toEmail } = input;
  const template = await findTemplate(ctx, templateId);
  if (!template) throw invalidField('templateId', 'not_found', 'names no template of this account');
  checkTrial(ctx);
  const refusal = await addressRefusal(ctx, toEmail);
  check(!refusal, () => new AppError(refusal!, refusalWords[refusal!]));
  await spendChosenMail(ctx, 'test', toEmail);
  const values = example(ctx);
  const subject = mergedLine(template.subject ?? template.name, values) || template.name;
  const html = template.bodyHtml === null ? undefined : mergedHtml(template.bodyHtml, values, new Room('templateId'));
  // The same mail where it is sent again under its key: mail servers and readers know it by this.
  const messageId = `<${effectIdOf(ctx, 'test send', input)}@${new URL(ctx.app.config.publicUrl).hostname}>`;
  const mail = { to: toEmail, messageId, subject, text: merged(template.body, values, new Room('templateId')), html };
  await ctx.app.vendors.email.send(mail).catch((error: unknown) => {
    if (!(error instanceof MailRefused)) throw error;
    ctx.app.log.warn({ err: error, ...inLog(ctx.request) }, 'a test mail was refused');
    throw new AppError('vendor_unavailable', 'The mail server did not take the mail');
  });
  return { sent: true, toEmail, subject };
}
