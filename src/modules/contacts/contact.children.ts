import type { Batch, Context } from '../../kernel/context/context.js';
import { instant, listOf, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql, tablesWith } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// These follow a contact in their own way, below.
const besides = ['contact_tags', 'conversations'];

/** Every table whose rows follow their contact in a merge: whatever names one. */
const children = tablesWith('contactId').filter((table) => !besides.includes(table));

const merge = { from: uuid, to: uuid };

const repoints = children.map((table) =>
  statement({
    name: `repoint ${table}`,
    takes: merge,
    changes: true,
    text: ({ account, from, to }) =>
      sql`update ${rawSql(table)} set contact_id = ${to} where account_id = ${account} and contact_id = ${from}`,
  }),
);

// A sequence runs once for a person: where both are under way, the kept contact's run goes on.
const endDoubleEnrollments = statement({
  name: 'endDoubleEnrollments',
  takes: { ...merge, now: instant },
  changes: true,
  text: ({ account, from, to, now }) => sql`
    update enrollments e set status = 'cancelled', ended_at = ${now}, end_reason = 'merged'
    where e.account_id = ${account} and e.contact_id = ${from} and e.status in ('active', 'paused')
    and exists (select 1 from enrollments o where o.account_id = e.account_id and o.sequence_id = e.sequence_id
      and o.contact_id = ${to} and o.status in ('active', 'paused'))`,
});

const repointTags = statement({
  name: 'repointTags',
  takes: merge,
  changes: true,
  text: ({ account, from, to }) => sql`
    with moved as (delete from contact_tags where account_id = ${account} and contact_id = ${from} returning *)
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select account_id, ${to}, tag_id, created_at from moved on conflict do nothing`,
});

const mergeConversations = statement({
  name: 'mergeConversations',
  takes: merge,
  changes: true,
  text: ({ account, from, to }) => sql`
    with gone as (delete from conversations where account_id = ${account} and contact_id = ${from} returning *)
    insert into conversations as c (account_id, contact_id, last_message_id, last_message_at, last_inbound_at, last_outbound_at,
      unread_count, message_count, closed_at, created_at, updated_at)
    select account_id, ${to}, last_message_id, last_message_at, last_inbound_at, last_outbound_at,
      unread_count, message_count, closed_at, created_at, updated_at from gone
    on conflict (account_id, contact_id) do update set
      last_message_id = case when coalesce(excluded.last_message_at, '-infinity') > coalesce(c.last_message_at, '-infinity')
        then excluded.last_message_id else c.last_message_id end,
      last_message_at = greatest(c.last_message_at, excluded.last_message_at),
      last_inbound_at = greatest(c.last_inbound_at, excluded.last_inbound_at),
      last_outbound_at = greatest(c.last_outbound_at, excluded.last_outbound_at),
      unread_count = c.unread_count + excluded.unread_count,
      message_count = c.message_count + excluded.message_count`,
});

/** Hands everything that hangs on one contact to another. */
export async function repointChildren(ctx: Context, from: string, to: string): Promise<void> {
  await ctx.rows(endDoubleEnrollments, { from, to, now: ctx.now() });
  for (const repoint of repoints) await ctx.rows(repoint, { from, to });
  await ctx.rows(mergeConversations, { from, to });
  await ctx.rows(repointTags, { from, to });
}

const cancelAll = statement({
  name: 'cancelPendingOfContacts',
  takes: { contacts: listOf(uuid), now: instant },
  changes: true,
  text: ({ account, contacts, now }) => sql`
    with messages as (
      update messages set status = 'cancelled'
      where account_id = ${account} and contact_id = any(${contacts}) and status = 'scheduled'),
    enrollments as (
      update enrollments set status = 'cancelled', ended_at = ${now}, end_reason = 'contact_deleted', next_email_at = null
      where account_id = ${account} and contact_id = any(${contacts}) and status in ('active', 'paused'))
    update automation_runs set status = 'cancelled'
    where account_id = ${account} and contact_id = any(${contacts}) and status in ('running', 'waiting')`,
});

/** What deleted contacts must no longer receive (contract "States and transitions", Contact). */
export const cancelPending: Batch<void> = async (ctx, contacts) => {
  await ctx.rows(cancelAll, { contacts, now: ctx.now() });
  return contacts.map(() => undefined);
};
