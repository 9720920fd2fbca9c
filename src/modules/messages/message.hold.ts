import type { Context } from '../../kernel/context/context.js';
import { instant, integer, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';

/** Whether an enrollment, alias `e`, waits: it is paused, or its sequence, alias `s`, is inactive. */
export const isHeld = sql`(not s.is_active or e.status = 'paused')`;

// The sequence and the enrollment are held until this is written: who lets them go on waits, and finds the mail. The sequence comes
// first, as everybody takes them.
const parking = statement({
  name: 'parkMessage',
  takes: { id: uuid, attempt: integer },
  row: { id: uuid },
  changes: true,
  text: ({ account, id, attempt }) => sql`
    with held as materialized (
      select s.id from messages m join enrollments e on e.account_id = m.account_id and e.id = m.enrollment_id
      join sequences s on s.account_id = e.account_id and s.id = e.sequence_id
      where m.account_id = ${account} and m.id = ${id} and ${isHeld} for share of s, e)
    update messages t set due_at = null, leased_until = null
    where t.account_id = ${account} and t.id = ${id} and t.attempt = ${attempt} and t.status = 'queued' and exists (select 1 from held)
    returning t.id`,
});

/**
 * Keeps a mail that has come due of an enrollment that is paused, or whose sequence is inactive, until it goes on. False where it does by
 * now.
 */
export async function park(ctx: Context, { id, attempt }: { id: string; attempt: number }): Promise<boolean> {
  const parked = await inOwnTransaction(ctx, (inside) => inside.rows(parking, { id, attempt }));
  return parked.length > 0;
}

const unparking = statement({
  name: 'unparkMessages',
  takes: { sequence: uuid, enrollment: nullable(uuid), now: instant },
  row: { id: uuid },
  changes: true,
  text: ({ account, sequence, enrollment, now }) => sql`
    update messages t set due_at = ${now} from enrollments e
    where t.account_id = ${account} and t.status = 'queued' and t.due_at is null and t.enrollment_id = e.id
      and e.account_id = ${account} and e.sequence_id = ${sequence} and (${enrollment} is null or e.id = ${enrollment})
      and e.status <> 'paused' returning t.id`,
});

/** Sends the mails that came due while a sequence was inactive, or one enrollment in it was paused. */
export async function unpark(ctx: Context, sequence: string, enrollment: string | null = null): Promise<void> {
  const kept = await ctx.rows(unparking, { sequence, enrollment, now: ctx.now() });
  if (kept.length > 0) ctx.wake('messages');
}
