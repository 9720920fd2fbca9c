import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { emitMessage } from './message.service.js';
import { messageTable } from './message.table.js';

/** Takes back what waits to be sent, of those that name one of some records. */
const cancelling = (column: 'contact_id' | 'enrollment_id') =>
  statement({
    name: `cancelMessagesBy ${column}`,
    takes: { ids: listOf(uuid), error: text, now: instant },
    row: { ...messageTable.shape, wasStatus: text },
    changes: true,
    text: ({ account, ids, error, now }) => sql`
      with waiting as (
        select m.id, m.status from messages m where m.account_id = ${account} and m.${rawSql(column)} = any(${ids})
          and m.status in ('scheduled', 'queued') order by m.id for update)
      update messages t set status = 'cancelled', due_at = null, error = ${error}, updated_at = ${now}
      from waiting w where t.account_id = ${account} and t.id = w.id returning ${messageTable.columns}, w.status as "wasStatus"`,
  });

const ofContacts = cancelling('contact_id');
const ofEnrollments = cancelling('enrollment_id');

async function cancel(ctx: Context, which: typeof ofContacts, ids: readonly string[], error: string): Promise<void> {
  const cancelled = await ctx.rows(which, { ids, error, now: ctx.now() });
  const tell = ({ wasStatus, ...message }: (typeof cancelled)[number]) =>
    emitMessage(ctx, 'updated', message, { status: { from: wasStatus, to: 'cancelled' } });
  await Promise.all(cancelled.map(tell));
}

/** Takes back what waits to be sent to a contact. */
export const cancelOfContact = (ctx: Context, contact: string, error: string) => cancel(ctx, ofContacts, [contact], error);

/** Takes back what waits to be sent of runs through sequences that ended. */
export const cancelOfEnrollments = (ctx: Context, enrollments: readonly string[], error: string) =>
  cancel(ctx, ofEnrollments, enrollments, error);
