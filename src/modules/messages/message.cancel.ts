import { check, conflict } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { notedOutcome } from '../../kernel/operations/notedOutcomes.js';
import { emitMessage, type MessageRow, messageRows } from './message.service.js';
import { messageTable } from './message.table.js';

/** A message that was cancelled, and the status and the error that it had. */
export const cancelledMessage = { ...messageTable.shape, wasStatus: text, wasError: nullable(text) };

/** Cancels what waits to be sent, of messages under the alias `m`; one of which it is noted that it went waits no more. */
export const cancelSql = ({ account, which, error, now }: { account: Sql; which: Sql; error: Sql; now: Sql }) => sql`
  with waiting as (
    select m.id, m.status, m.error from messages m where m.account_id = ${account} and m.status in ('scheduled', 'queued') and ${which}
      and ${notedOutcome('messages', 'm')} is null
    order by m.id for update)
  update messages t set status = 'cancelled', due_at = null, error = ${error}, updated_at = ${now}
  from waiting w where t.account_id = ${account} and t.id = w.id returning ${messageTable.columns}, w.status as "wasStatus", w.error as "wasError"`;

/** Tells of messages that were cancelled. */
export async function tellCancelled(ctx: Context, messages: RowOf<typeof cancelledMessage>[]): Promise<void> {
  const tell = ({ wasStatus, wasError, ...message }: RowOf<typeof cancelledMessage>) =>
    emitMessage(ctx, 'updated', message, changesBetween({ status: wasStatus, error: wasError }, message, ['status', 'error']));
  await Promise.all(messages.map(tell));
}

const ofContacts = statement({
  name: 'cancelMessagesOfContacts',
  takes: { ids: listOf(uuid), error: text, now: instant },
  row: cancelledMessage,
  changes: true,
  text: ({ account, ids, error, now }) => cancelSql({ account, which: sql`m.contact_id = any(${ids})`, error, now }),
});

/** Cancels what waits to be sent to a contact. */
export const cancelOfContact = async (ctx: Context, contact: string, error: string): Promise<void> =>
  tellCancelled(ctx, await ctx.rows(ofContacts, { ids: [contact], error, now: ctx.now() }));

// By the database's clock, as leases go. What is noted of it is yet to be written.
const underWay = statement({
  name: 'messageUnderWay',
  takes: { id: uuid },
  row: { id: uuid },
  text: ({ account, id }) => sql`
    select t.id from messages t where t.account_id = ${account} and t.id = ${id}
      and (t.leased_until > now() or ${notedOutcome('messages', 't')} is not null)`,
});

/** POST /messages/{id}/cancel: a message that waits, or a draft, is taken back. 404, or 409 once it is on its way or settled. */
export async function cancelMessage(ctx: Context, id: string): Promise<MessageRow> {
  ctx.lockRows();
  const before = await ctx.forChange(messageRows, id);
  const mayBe = ['scheduled', 'queued', 'draft', 'cancelled'].includes(before.status);
  check(mayBe, () => conflict('status', `is ${before.status}`));
  if (before.status === 'cancelled') return before;
  // An e-mail says so by its lease alone.
  const isUnderWay = (await ctx.rows(underWay, { id })).length > 0;
  check(!isUnderWay, () => conflict('status', 'is sending: the message is on its way'));
  const message = ctx.update('Message', before, { status: 'cancelled', dueAt: null });
  await emitMessage(ctx, 'updated', message, changesBetween(before, message, ['status']));
  return message;
}
