import { check, found, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { longText, text, uuid } from '../../kernel/model/checks.js';
import { findEmailRefusal } from '../contacts/contact.optOut.js';
import { keepEmail } from '../messages/message.email.js';
import { checkTrial } from '../plans/plan.limits.js';
import { enroll } from '../sequences/enrollment.enroll.js';
import { isOfTexts } from '../templates/template.mailed.js';
import { type MergeValues, merged, mergedHtml, mergedJson, mergedSubject, Room } from '../templates/template.mergeFields.js';
import { longestSubject } from '../templates/template.model.js';
import { findTemplate } from '../templates/template.service.js';
import { bodyOf, deliveredWithoutEvent, queueDelivery } from '../webhooks/webhook.queue.js';
import { type ActionKind, skipped, success } from './action.kinds.js';
import { needed } from './action.values.js';

type EmailConfig = {
  templateId?: string;
  subject?: string;
  body?: string;
  bodyHtml?: string;
};

/** Keeps an e-mail to the contact, which the sender of messages takes. */
export const sendEmail: ActionKind = {
  fields: {
    templateId: { type: 'string', check: uuid, names: 'template' },
    subject: { type: 'string', check: text(longestSubject) },
    body: { type: 'string', check: longText(100 * 1024) },
    bodyHtml: { type: 'string', check: longText(500 * 1024) },
  },
  check(_ctx, { templateId, subject, body }, reportFault) {
    if (templateId !== undefined) return;
    if (subject === undefined && body === undefined)
      reportFault('templateId', 'required', 'is required where there is no subject and body');
    else if (subject === undefined) reportFault('subject', 'required', 'is required of an e-mail without a template');
    else if (body === undefined) reportFault('body', 'required', 'is required of an e-mail without a template');
  },
  async perform(ctx, config: EmailConfig, at) {
    checkTrial(ctx);
    const contact = await at.contact();
    const refusal = await findEmailRefusal(ctx, contact);
    if (refusal) return skipped(refusal);
    const mail = await mailOf(ctx, config, await at.words());
    const key = `${at.run.runId}:${at.place}`;
    const given = { contactId: contact.id, templateId: config.templateId ?? null, toEmail: contact.email, isDue: true, tracked: true };
    const { id } = await keepEmail(ctx, { ...given, ...mail, actionKey: key });
    ctx.wake('messages');
    return success({ toEmail: contact.email, subject: mail.subject, templateId: config.templateId ?? null }, { messageId: id });
  },
};

async function mailOf(ctx: Context, { templateId, subject, body, bodyHtml }: EmailConfig, values: MergeValues) {
  const template = templateId ? found(await findTemplate(ctx, templateId), 'Template') : null;
  check(!template || template.channel === 'email', () => unprocessable('templateId', isOfTexts.code, isOfTexts.message));
  const html = body === undefined ? (bodyHtml ?? template?.bodyHtml ?? null) : (bodyHtml ?? null);
  return {
    subject: needed('subject', mergedSubject(subject, template, values)),
    body: needed('body', merged(body ?? template?.body ?? '', values, new Room('body'))),
    bodyHtml: html === null ? null : mergedHtml(html, values, new Room('bodyHtml')),
  };
}

/** Enrolls the contact in a sequence. */
export const enrollSequence: ActionKind = {
  fields: { sequenceId: { type: 'string', check: uuid, required: true, names: 'sequence' } },
  async perform(ctx, { sequenceId }: { sequenceId: string }, at) {
    const { id } = await at.contact();
    const { details } = await enroll(ctx, sequenceId, { contactIds: [id] });
    const { reason, enrollmentId } = details[0]!;
    return reason ? skipped(reason) : success({ sequenceId, contactId: id }, { enrollmentId: enrollmentId! });
  },
};

/** Bytes that the texts of a payload may have together, with the values of their placeholders. */
const mostPayload = 1024 * 1024;

/** Has what happened sent to an address, signed, on the ladder of webhooks. */
export const sendWebhook: ActionKind = {
  fields: {
    url: { type: 'string', check: text(2000), required: true },
    payload: { type: 'any', also: ['body'] },
  },
  check(ctx, { url, payload }, reportFault) {
    const fault = typeof url === 'string' && ctx.app.egress.urlFault(url);
    if (fault) reportFault('url', 'not_allowed', fault);
    if (payload !== undefined && (typeof payload !== 'object' || payload === null))
      reportFault('payload', 'invalid_type', 'must be an object');
  },
  async perform(ctx, { url, payload }: { url: string; payload?: object }, at) {
    checkTrial(ctx);
    const { triggeredBy, run, place } = at;
    const event = triggeredBy.event ?? deliveredWithoutEvent.action;
    const { eventId, at: createdAt, data, changes } = triggeredBy;
    const own = { id: eventId ?? run.runId, event, createdAt, data, changes };
    const body = payload ? JSON.stringify(mergedJson(payload, await at.values(), new Room('payload', mostPayload))) : bodyOf(ctx, own);
    const { kind, id, runId } = run;
    const deliveryId = queueDelivery(ctx, {
      url,
      event,
      eventId: eventId ?? undefined,
      body,
      isOwn: Boolean(payload),
      source: { kind, id, runId },
      key: `${runId}:${place}`,
    });
    return success({ url, event }, { deliveryId });
  },
};
