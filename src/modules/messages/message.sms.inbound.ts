import { withChanges } from '../../kernel/base/objects.js';
import { storable, storableWords } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { isE164, isUuid } from '../../kernel/model/checks.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { keptOnce, whenTold } from '../../kernel/operations/ownTransaction.js';
import { refusalOf } from '../../vendors/sms/sms.js';
import { actingForAccount, actingForNumber } from '../auth/auth.acting.js';
import { optOutNumber } from '../contacts/contact.optOut.js';
import { genuine } from '../numbers/number.notice.js';
import {
  asTold,
  blankMessage,
  countInbound,
  emitMessage,
  type MessageRow,
  messageRows,
  noText,
  touchLastContacted,
} from './message.service.js';
import { markRecipient } from './message.sms.attempt.js';
import { smsActor as actor, keepOptOutElsewhere } from './message.sms.elsewhere.js';
import { optOutBy, type Wording } from './message.sms.words.js';
import { writerOf } from './message.sms.writer.js';

/** What a vendor's notice is answered: nothing is to be said back. */
const noted: RawReply = { type: 'text/xml; charset=utf-8', body: '<?xml version="1.0" encoding="UTF-8"?><Response/>' };

/** More characters than a number has, or what stands for one. */
const longestNumber = 30;

/** The number of an address, which a chat app writes with a prefix; a short code or a name is none. */
const numberOf = (address = '') => storable(address.replace(/^whatsapp:/, '').trim(), longestNumber);

/**
 * POST /webhooks/twilio/sms: a text message to one of our numbers, once however often it is told. An unknown sender becomes a
 * contact whatever the plan. STOP and START, by its words or by what the vendor took it for, move what the contact has opted out of;
 * they alone are kept while the account is suspended, and of a text to a number that no account has, such as `TWILIO_FROM`: for all who
 * wrote to its sender from there.
 */
export async function takeSms(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const form = await genuine(ctx, '/webhooks/twilio/sms', request);
  const [said, from, to] = [wordingOf(form), numberOf(form.From), numberOf(form.To)];
  const acting = await actingForNumber(ctx.app, to, { actor, evenSuspended: optOutBy(said) !== undefined });
  if (!form.MessageSid || !from) return noted;
  const taken = acting && keptOnce(acting, (inside) => receiveText(inside, textOf(form)));
  // It is told once: what keeps one account from it does not keep the others.
  await taken?.catch(() => {});
  await keepOptOutElsewhere(ctx, { from, to, ...said }, acting?.caller.account.id);
  await taken;
  return noted;
}

/** A text message of a contact, as its vendor tells of it. */
export interface InboundText extends Wording {
  provider: string;
  providerId: string;
  transport: 'primary' | 'chat_app' | 'vendor_line';
  fromNumber: string;
  toNumber: string;
  /** Pictures and the like, where the vendor keeps them. */
  media?: Medium[];
  /** Of a vendor line. */
  lineId?: string;
}

interface Medium {
  url: string;
  contentType: string | null;
}

/** More than any vendor sends with one text. */
const mostMedia = 10;

function mediaOf(form: Record<string, string>): Medium[] {
  const count = Math.min(Number(form.NumMedia) || 0, mostMedia);
  const told = (name: string) => storable(form[name] ?? '', mostCharacters);
  const all = Array.from({ length: count }, (_, n) => ({ url: told(`MediaUrl${n}`), contentType: told(`MediaContentType${n}`) || null }));
  return all.filter(({ url }) => url);
}

const wordingOf = ({ Body = '', OptOutType }: Record<string, string>): Wording => ({ body: Body, optOutType: OptOutType });

function textOf(form: Record<string, string>): InboundText {
  const { From, To, MessageSid = '' } = form;
  return {
    provider: 'twilio',
    providerId: MessageSid,
    transport: From!.startsWith('whatsapp:') ? 'chat_app' : 'primary',
    fromNumber: numberOf(From),
    toNumber: numberOf(To),
    ...wordingOf(form),
    media: mediaOf(form),
  };
}

/** What is kept of a text besides its words. */
function metadataOf({ transport, lineId, media = [] }: InboundText): object | null {
  if (lineId) return { service: transport, lineId };
  return media.length > 0 ? { media } : null;
}

/** Keeps what a contact wrote; who is not known becomes a contact whatever the plan. Throws what `isTaken` where it is kept already. */
export async function receiveText(ctx: Context, received: InboundText): Promise<void> {
  const { body, optOutType, lineId, media = [], ...text } = received;
  const contactId = await writerOf(ctx, text);
  await countInbound(ctx, contactId);
  const own = {
    ...({ channel: 'sms', direction: 'inbound', status: 'received' } as const),
    ...text,
    contactId,
    body: storableWords(body, mostCharacters) || (media.length > 0 ? noText : ''),
    lineId,
    metadata: metadataOf(received),
  };
  const message = ctx.insert('Message', withChanges(blankMessage, own));
  await emitMessage(ctx, 'created', message);
  const isOut = optOutBy({ body, optOutType });
  // Nobody can write to what is no number.
  if (isOut !== undefined && isE164(text.fromNumber)) await optOutNumber(ctx, text.fromNumber, isOut);
}

/** More than any vendor sends. */
const mostCharacters = 10_000;

const reported = statement({
  name: 'reportedMessage',
  takes: { id: uuid },
  row: { id: uuid },
  planned: true,
  text: ({ account, id }) => sql`
    select t.id from messages t
    where t.account_id = ${account} and t.id = ${id} and t.direction = 'outbound' and t.channel = 'sms'`,
});

/** How far a message is by the vendor's words. */
const outcomes: Record<string, 'sent' | 'delivered' | 'failed'> = {
  queued: 'sent',
  accepted: 'sent',
  sending: 'sent',
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
};
const rank: Record<string, number> = { queued: 0, sending: 1, sent: 2, delivered: 3, failed: 4, cancelled: 4 };

/**
 * POST /webhooks/twilio/status/{account}/{message}: what became of a message. A report only moves it forward; a late or repeated one
 * changes nothing, and says nothing new of the recipient. It also settles a message of which nobody knew whether it was sent.
 */
export async function takeReport(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { account = '', message: id = '' } = request.params;
  const form = await genuine(ctx, `/webhooks/twilio/status/${account}/${id}`, request);
  const status = outcomes[form.MessageStatus ?? ''];
  if (!status || !isUuid(account) || !isUuid(id)) return noted;
  const acting = await actingForAccount(ctx.app, account, { actor, evenSuspended: true });
  const [message] = acting ? await acting.rows(reported, { id }) : [];
  if (!acting || !message) return noted;
  const error = status === 'failed' ? refusalOf(Number(form.ErrorCode)) : null;
  await whenTold(acting, (inside) => advance(inside, id, { status, error, providerId: form.MessageSid ?? null }));
  return noted;
}

interface Report {
  status: 'sent' | 'delivered' | 'failed';
  error: string | null;
  providerId: string | null;
}

/**
 * Whether a report changes what is known of a message. A message that was sent again after an unknown outcome may be two at the vendor,
 * each with an id of its own: the failure of one says nothing of the other that was taken, and what arrived has arrived.
 */
function isNews({ status, providerId }: Report, before: MessageRow): boolean {
  // Delivered is delivered, whatever is reported late.
  if (before.status === 'delivered') return false;
  const isOfAnother = before.providerId !== providerId;
  // Only of two that the vendor took is the other one heard: a message of one id has failed, whatever was reported before.
  if (before.status === 'failed') return status !== 'failed' && isOfAnother && (status === 'delivered' || before.providerId !== null);
  if (status === 'failed' && isOfAnother && before.providerId !== null) return false;
  return rank[status]! > rank[before.status]!;
}

async function advance(ctx: Context, id: string, report: Report): Promise<void> {
  ctx.lockRows();
  const before = await ctx.forChange(messageRows, id);
  if (!isNews(report, before)) return;
  const { status, error } = report;
  const now = ctx.now();
  const times = {
    ...(status !== 'failed' && { sentAt: before.sentAt ?? now }),
    ...(status === 'delivered' && { deliveredAt: now }),
  };
  // Of two at the vendor it goes by the one that arrived, or that goes on where the other one failed.
  const [first, second] = status === 'delivered' || before.status === 'failed' ? [report, before] : [before, report];
  const providerId = first.providerId ?? second.providerId;
  const message = ctx.update('Message', before, { status, error, ...times, providerId, dueAt: null });
  const isTakenNow = before.sentAt === null && status !== 'failed';
  if (isTakenNow) touchLastContacted(ctx, message);
  const changes = changesBetween(asTold(before), message, ['status', 'error', 'sentAt', 'deliveredAt', 'providerId']);
  await emitMessage(ctx, 'updated', message, changes, isTakenNow);
  if (error) await markRecipient(ctx, before, error);
}
