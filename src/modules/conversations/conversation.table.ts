import { hourMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import { type RowOf } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { isUnanswered } from '../contacts/contact.views.js';
import { Conversation, ConversationConnection, ConversationList, type ConversationState } from './conversation.model.js';
import { idleAfter, slaOf, stateOf, waits } from './conversation.state.js';

const row = modelRow('Conversation', Conversation);

const isWaiting = isUnanswered('t');

const isIdle = (ctx: Context): Sql => sql`(t.last_message_at is null or t.last_message_at < ${idleAfter(ctx.now())}::timestamptz)`;

/** Whose turn it is, as SQL: the same as `stateOf`. */
const state = (ctx: Context): Sql => sql`case when t.closed_at is not null then 'closed' when ${isIdle(ctx)} then 'idle'
  when ${isWaiting} then 'awaiting_reply' else 'replied' end`;

const isCurrent = (ctx: Context): Sql => sql`t.closed_at is null and t.last_message_at >= ${idleAfter(ctx.now())}::timestamptz`;

/** A condition for each state, written so that PostgreSQL can estimate its rows by the statistics of columns. */
const isIn: Record<keyof typeof ConversationState, (ctx: Context) => Sql> = {
  closed: () => sql`t.closed_at is not null`,
  idle: (ctx) => sql`(t.closed_at is null and ${isIdle(ctx)})`,
  awaiting_reply: (ctx) => sql`(${isCurrent(ctx)} and ${isWaiting})`,
  replied: (ctx) => sql`(${isCurrent(ctx)} and not ${isWaiting})`,
};

const sla = (ctx: Context): Sql => {
  const since = (hours: number) => sql`t.last_inbound_at <= ${new Date(ctx.now().getTime() - hours * hourMs)}::timestamptz`;
  const dueAt = sql`to_char((t.last_inbound_at + make_interval(hours => ${waits.breached}::int)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return sql`case when ${state(ctx)} <> 'awaiting_reply' then json_build_object('state', 'none', 'dueAt', null) else json_build_object(
    'state', case when ${since(waits.breached)} then 'breached' when ${since(waits.dueSoon)} then 'due_soon' else 'ok' end, 'dueAt', ${dueAt}) end`;
};

/** Conversations by the id of their contact; those of deleted contacts are hidden. */
export const conversationTable = table({
  row,
  untold: true,
  withoutEvents: ['messageCount', 'unreadCount', 'hidden', 'lastMessageId', 'lastMessageAt', 'lastInboundAt', 'lastOutboundAt'],
  toldAtTimes: ['unreadCount'],
  neverTold: ['conversationState', 'sla'],
  list: ConversationList,
  page: ConversationConnection,
  key: 'contact_id',
  live: sql`not t.hidden`,
  computed: {
    conversationState: { sql: state, of: (conversation: ConversationRow, ctx) => stateOf(conversation, ctx.now()) },
    sla: { sql: sla, of: (conversation: ConversationRow, ctx) => slaOf(conversation, ctx.now()) },
  },
  sorts: { lastMessageAt: byTime('last_message_at', true) },
  byDefault: ['lastMessageAt', 'desc'],
  conditions: {
    state: (wanted, ctx) => isIn[wanted](ctx),
    unread: (isUnread) => (isUnread ? sql`t.unread_count > 0` : sql`t.unread_count = 0`),
    assignedTo: (id) => sql`exists (
      select 1 from contacts c where c.account_id = t.account_id and c.id = t.contact_id and c.assigned_to = ${id}::uuid and c.deleted_at is null)`,
  },
});

export type ConversationRow = RowOf<typeof row.shape> & { id: string };
