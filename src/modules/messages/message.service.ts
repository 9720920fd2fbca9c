import { AppError, check, invalidChoice, invalidField, notFound, orNull } from '../../kernel/base/errors.js';
import { defined, withChanges } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf } from '../../kernel/database/kinds.js';
import type { Changes } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { isEmail } from '../../kernel/model/checks.js';
import { checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { scoreOfWriter } from '../contacts/contact.score.js';
import { type ContactRow, getContact } from '../contacts/contact.service.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateMessageInput, MessageList, MessageStatus } from './message.model.js';
import { messageRow, messageTable } from './message.table.js';

const { shape: row } = messageTable;
export type MessageRow = RowOf<typeof row>;

/** Contract GET /messages: newest first. */
export const listMessages = (ctx: Context, args: MessageList) => listRows<MessageRow>(ctx, messageTable, args);

/** One message, or null. */
export const findMessage = (ctx: Context, id: string) => findRow<MessageRow>(ctx, messageTable, id);

/** One message, or 404. */
export const getMessage = (ctx: Context, id: string) => getRow<MessageRow>(ctx, messageTable, id);

/** Contract GET /messages/sms/{id}: a text message, or 404; an e-mail is none. */
export async function getSms(ctx: Context, id: string): Promise<MessageRow> {
  const message = await getMessage(ctx, id);
  check(message.channel === 'sms', () => notFound('Message'));
  return message;
}

export const messageRows = rowsToChange(messageTable);

/** Why nobody writes to a contact who asked for it, by whichever way. */
export const doNotContact = () => new AppError('do_not_contact', 'The contact must not be contacted');

/** Whom a message is to go to. Throws 400 where that is nobody. */
export async function addressee(ctx: Context, contactId: string): Promise<ContactRow> {
  const contact = await orNull(getContact(ctx, contactId));
  check(contact, () => invalidField('contactId', 'not_found', 'names no contact of this account'));
  return contact;
}

/** What stands for the text of a message that came without one. */
export const noText = 'No text';

/** A message of which nothing is known. */
export const blankMessage = {
  ...emptyRow(messageRow.shape),
  cc: [] as string[],
  bcc: [] as string[],
  attempt: 0,
  tries: 0,
  tracked: false,
};

type Status = keyof typeof MessageStatus;

/** What a client may say of a message that it logs, the default first; all else is the server's to find out. */
const statuses: Record<string, Status[]> = {
  inbound: ['received'],
  'outbound email': ['sent', 'delivered', 'failed', 'draft'],
  'outbound sms': ['draft'],
};

/** Throws 400 for what a client cannot know of such a message; answers how far it is. */
function statusOf({ status, channel, direction }: CreateMessageInput): Status {
  const known = statuses[direction === 'inbound' ? 'inbound' : `outbound ${channel}`]!;
  const isRefusedSms = status && channel === 'sms' && direction === 'outbound' && status !== 'draft';
  check(!isRefusedSms, () => invalidField('status', 'not_allowed', 'must be draft: POST /messages/sms/send sends text messages', known));
  check(!status || known.includes(status), () => invalidChoice('status', known));
  return status ?? known[0]!;
}

function checkAddresses(input: CreateMessageInput): void {
  for (const name of ['cc', 'bcc'] as const) {
    const wrong = (input[name] ?? []).findIndex((address) => !isEmail(address));
    check(wrong < 0, () => invalidField(`${name}.${wrong}`, 'invalid_format', 'must be an e-mail address'));
  }
}

const links: ReferenceKinds<'contactId'> = { contactId: 'contact' };

/** Contract POST /messages: keeps a message that went by other ways; nothing is sent. */
export async function createMessage(ctx: Context, input: CreateMessageInput): Promise<MessageRow> {
  const { channel, direction } = input;
  check(channel !== 'email' || input.subject, () => invalidField('subject', 'required', 'is required of an e-mail'));
  const status = statusOf(input);
  checkAddresses(input);
  // In one statement with what else is looked up.
  const [score] = await Promise.all([
    direction === 'inbound' ? scoreOfWriter(ctx, input.contactId) : undefined,
    checkReferences(ctx, links, input),
  ]);
  checkTrial(ctx);
  const hasGone = direction === 'outbound' && status !== 'draft' && status !== 'failed';
  const times = { sentAt: hasGone ? ctx.now() : null, deliveredAt: status === 'delivered' ? ctx.now() : null };
  const author = direction === 'outbound' ? ctx.caller.userId : null;
  const message: MessageRow = ctx.insert('Message', withChanges(blankMessage, { ...defined(input), ...times, status, userId: author }));
  // Before it is told: what hears of it may have it written.
  if (hasGone) touchLastContacted(ctx, message);
  if (score) ctx.touch('Contact', input.contactId, score);
  await emitMessage(ctx, 'created', message);
  return message;
}

/** Keeps that a contact writes to us, before the message is kept: it counts in their score. */
export async function countInbound(ctx: Context, contactId: string): Promise<void> {
  ctx.touch('Contact', contactId, await scoreOfWriter(ctx, contactId));
}

/** Keeps when a contact was last written to. */
export function touchLastContacted(ctx: Context, { contactId, sentAt }: Pick<MessageRow, 'contactId' | 'sentAt'>): void {
  ctx.touch('Contact', contactId, { lastContactedAt: sentAt ?? ctx.now(), lastActivityAt: sentAt ?? ctx.now() });
}

/**
 * A message as it was told last: that a text is on its way is told to nobody (`movesUntold` of its table), unless nobody knows what became
 * of an attempt.
 */
export const asTold = (message: MessageRow): MessageRow =>
  message.status === 'sending' && message.error !== 'unconfirmed' ? { ...message, status: 'queued' } : message;

/** Tells of a change of a message; besides, that it was received or that a carrier took it, where that is what happened. */
export function emitMessage(
  ctx: Context,
  event: 'created' | 'updated',
  message: MessageRow,
  changes?: Changes,
  isTaken = false,
): Promise<void> {
  const isReceived = event === 'created' && message.direction === 'inbound';
  const also = { ...(isTaken && { 'message.sent': ['status', 'sentAt'] }), ...(isReceived && { 'message.received': [] }) };
  return ctx.emit({ name: `message.${event}`, record: message, changes, also, contactId: message.contactId });
}
