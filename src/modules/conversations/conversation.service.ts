import { found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes } from '../../kernel/events/changes.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';
import { emitMessage } from '../messages/message.service.js';
import { bytesOfMessage, messageTable } from '../messages/message.table.js';
import type { ConversationList } from './conversation.model.js';
import { type ConversationRow, conversationTable } from './conversation.table.js';

/** Contract GET /conversations: the last message first. */
export const listConversations = (ctx: Context, args: ConversationList) => listRows<ConversationRow>(ctx, conversationTable, args);

/** One conversation by its contact, or null. */
export const findConversation = (ctx: Context, contactId: string) => findRow<ConversationRow>(ctx, conversationTable, contactId);

/** Contract GET /conversations/{contactId}: 404 where the contact is none, is deleted, or has no message. */
export const getConversation = async (ctx: Context, contactId: string) => found(await findConversation(ctx, contactId), 'Conversation');

const unread = statement({
  name: 'unreadMessages',
  takes: { contact: uuid, most: nullable(integer) },
  row: { id: uuid, bytes: integer },
  locks: true,
  text: ({ account, contact, most }) => sql`
    select t.id, ${bytesOfMessage} as bytes from messages t
    where t.account_id = ${account} and t.contact_id = ${contact} and t.direction = 'inbound' and t.read_at is null ${lockedUpTo(most)}`,
});

const read = statement({
  name: 'readMessages',
  takes: { ids: listOf(uuid), now: instant },
  row: messageTable.shape,
  changes: true,
  text: ({ account, ids, now }) => sql`
    update messages t set read_at = ${now}, updated_at = ${now}
    where t.account_id = ${account} and t.id = any(${ids}) returning ${messageTable.columns}`,
});

/** POST /conversations/{contactId}/read: all that the contact wrote has been read, its head with it. */
export async function markConversationRead(ctx: Context, contactId: string): Promise<ConversationRow> {
  const contact = validId(contactId, 'Conversation');
  const messages = await ctx.rows(unread, { contact, most: ctx.unit?.mostToLock ?? null });
  // Read once they are held: who marks them at the same moment is waited for.
  const before = await getConversation(ctx, contact);
  if (messages.length === 0) return before;
  const now = ctx.now();
  const readAt = { from: null, to: now.toISOString() };
  await changeAll(ctx, {
    find: async () => messages,
    change: (ids) => ctx.rows(read, { ids, now }),
    tell: (message) => emitMessage(ctx, 'updated', message, { readAt }),
  });
  const after = await getConversation(ctx, contact);
  await emitConversation(ctx, after, { unreadCount: { from: before.unreadCount, to: after.unreadCount } });
  return after;
}

const close = statement({
  name: 'closeConversation',
  takes: { contact: uuid, now: instant },
  row: { closedAt: nullable(instant), unreadCount: integer },
  changes: true,
  text: ({ account, contact, now }) => sql`
    update conversations t set closed_at = ${now}, updated_at = ${now}
    where t.account_id = ${account} and t.contact_id = ${contact} and t.closed_at is null
    returning closed_at as "closedAt", unread_count as "unreadCount"`,
});

/** POST /conversations/{contactId}/close: nobody waits any more, until the next message. */
export async function closeConversation(ctx: Context, contactId: string): Promise<ConversationRow> {
  const contact = validId(contactId, 'Conversation');
  const now = ctx.now();
  const closed = await ctx.rows(close, { contact, now });
  // Read after that: who closes it at the same moment is waited for. One that is hidden is none, and stays as it was.
  const after = await getConversation(ctx, contact);
  if (closed.length === 0) return after;
  await emitConversation(ctx, after, { closedAt: { from: null, to: now.toISOString() } });
  return after;
}

const emitConversation = (ctx: Context, conversation: ConversationRow, changes: Changes) =>
  ctx.emit({ name: 'conversation.updated', record: conversation, changes, contactId: conversation.contactId });
