import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { notedOutcome } from '../../kernel/operations/notedOutcomes.js';
import { emitMessage } from './message.service.js';
import { messageTable } from './message.table.js';

/** A message that was cancelled, and the status that it had. */
export const cancelledMessage = { ...messageTable.shape, wasStatus: text };

/** Cancels what waits to be sent, of messages under the alias `m`; one of which it is noted that it went waits no more. */
export const cancelSql = ({ account, which, error, now }: { account: Sql; which: Sql; error: Sql; now: Sql }) => sql`
  with waiting as (
    select m.id, m.status from messages m where m.account_id = ${account} and m.status in ('scheduled', 'queued') and ${which}
      and ${notedOutcome('messages', 'm')} is null
    order by m.id for update)
  update messages t set status = 'cancelled', due_at = null, error = ${error}, updated_at = ${now}
  from waiting w where t.account_id = ${account} and t.id = w.id returning ${messageTable.columns}, w.status as "wasStatus"`;

/** Tells of messages that were cancelled. */
export async function tellCancelled(ctx: Context, messages: RowOf<typeof cancelledMessage>[]): Promise<void> {
  const tell = ({ wasStatus, ...message }: RowOf<typeof cancelledMessage>) =>
    emitMessage(ctx, 'updated', message, { status: { from: wasStatus, to: 'cancelled' } });
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
