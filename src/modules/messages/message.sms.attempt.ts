import type { Context } from '../../kernel/context/context.js';
import { type Sms, SmsRefused, SmsUnconfirmed } from '../../vendors/sms/sms.js';
import { markLandline, optOutNumber } from '../contacts/contact.optOut.js';
import { beginToSend, type Outcome, type Sending, settle } from './message.due.js';
import { sentByLine } from './message.line.js';
import type { MessageRow } from './message.service.js';

/** What of a contact decides whether it gets text messages. */
interface Recipient {
  phone: string | null;
  doNotContact: boolean | null;
  optedOutSms: boolean;
  landline: string | null;
}

/** Why a text message to a contact is not sent; undefined where it may be. */
export function smsRefusal({ phone, doNotContact, optedOutSms, landline }: Recipient): string | undefined {
  if (doNotContact) return 'do_not_contact';
  if (optedOutSms) return 'recipient_opted_out';
  if (!phone) return 'no_phone';
  return phone === landline ? 'landline' : undefined;
}

/**
 * A text message that has come due. One that another process was about to send when it died may have gone: only the client or a
 * report of the vendor settles it. On a vendor line it is handed over again: the vendor knows it by its operation key. One that was
 * taken back since it was read is left alone.
 */
export async function deliverSms(ctx: Context, message: Sending): Promise<void> {
  const begun = message.noted ? message : await beginToSend(ctx, message.id, message.attempt);
  if (begun) await sendAndSettle(ctx, begun, false);
  else if (message.status !== 'sending') return;
  else if (message.transport === 'vendor_line') await sendAndSettle(ctx, message, true);
  else await settle(ctx, message, { kind: 'unconfirmed' });
}

/** Sends a text message that a request has taken for itself. Answers what became of it; null where another outcome was kept meanwhile. */
export const attemptSms = (ctx: Context, taken: Sending): Promise<MessageRow | null> => sendAndSettle(ctx, taken, false);

/**
 * Asks the vendor, outside of any transaction, and keeps what came of it. `mayBeSent`: an attempt before this one ended in the
 * unknown.
 */
async function sendAndSettle(ctx: Context, message: Sending, mayBeSent: boolean): Promise<MessageRow | null> {
  const mayHaveGone = mayBeSent || message.error === 'unconfirmed';
  const known = message.noted?.outcome ?? hindrance(ctx, message, mayHaveGone);
  const outcome = known ?? (await answered(ctx, message, mayHaveGone));
  return settle(ctx, message, outcome, (inside, refusal) => markRecipient(inside, message, refusal));
}

/**
 * What the vendor answers. What we refuse ourselves says nothing new of the number: it may be the contact who opted out, with another one.
 */
async function answered(ctx: Context, message: Sending, mayBeSent: boolean): Promise<Outcome> {
  const outcome = await attemptToSend(ctx, message, mayBeSent);
  return outcome.kind === 'failed' ? { ...outcome, refusal: outcome.error } : outcome;
}

/** Whether a text may still come from its number, which may have been given back meanwhile, and claimed by another workspace. */
function isSenderOurs({ app }: Context, { transport, ownsSender, fromNumber }: Sending): boolean {
  const { from, takesAnyNumber } = app.vendors.sms;
  return transport === 'vendor_line' || (ownsSender ?? (takesAnyNumber || fromNumber === from));
}

/** What keeps a text from going, by what is known of its contact and its numbers; undefined where nothing does. */
function hindrance(ctx: Context, message: Sending, mayBeSent: boolean): Outcome | undefined {
  if (message.isGone && !mayBeSent) return { kind: 'cancelled', error: 'contact_deleted' };
  const { toNumber: phone, doNotContact, optedOutSms, landline } = message;
  const refusal = isSenderOurs(ctx, message) ? smsRefusal({ phone, doNotContact, optedOutSms, landline }) : 'number_released';
  // What may have gone is not said to have failed, or to be taken back.
  if (refusal || message.isGone) return mayBeSent ? { kind: 'unconfirmed' } : { kind: 'failed', error: refusal! };
  return undefined;
}

async function attemptToSend(ctx: Context, message: Sending, mayBeSent: boolean): Promise<Outcome> {
  if (message.transport === 'vendor_line') return sentByLine(ctx, message, mayBeSent);
  try {
    const { id } = await ctx.app.vendors.sms.send(smsOf(ctx, message));
    return { kind: 'sent', provider: 'twilio', providerId: id };
  } catch (error) {
    if (error instanceof SmsUnconfirmed) return { kind: 'unconfirmed' };
    if (!(error instanceof SmsRefused)) throw error;
    if (mayBeSent) return { kind: 'unconfirmed', refusal: error.reason };
    return error.mayPass ? { kind: 'later', error: error.reason } : { kind: 'failed', error: error.reason };
  }
}

/** Where the vendor reports what becomes of a message: what it says is believed by its signature, which covers the address. */
const reportUrl = ({ app, caller }: Context, id: string) => `${app.config.publicUrl}/webhooks/twilio/status/${caller.account.id}/${id}`;

interface ChatContent {
  whatsappContentSid?: string;
  whatsappContentVariables?: object;
}

function smsOf(ctx: Context, { id, fromNumber, toNumber, body, transport, metadata }: Sending): Sms {
  const at = (number: string | null) => (transport === 'chat_app' ? `whatsapp:${number}` : number!);
  const { whatsappContentSid: contentSid, whatsappContentVariables: contentVariables } = (metadata ?? {}) as ChatContent;
  const content = transport === 'chat_app' && contentSid ? { contentSid, contentVariables } : {};
  return { from: at(fromNumber), to: at(toNumber), body, ...content, statusUrl: reportUrl(ctx, id) };
}

/** Keeps what a refusal says for good of the number that a text went to, which may be another one than the contact's. */
export async function markRecipient(ctx: Context, { contactId, toNumber }: Addressed, reason: string): Promise<void> {
  if (reason === 'recipient_opted_out') await optOutNumber(ctx, toNumber!, true);
  if (reason === 'landline') await markLandline(ctx, contactId, toNumber!);
}

/** Whom a text message is for, and where. */
type Addressed = Pick<MessageRow, 'contactId' | 'toNumber'>;
