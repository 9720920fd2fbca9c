import type { App } from '../kernel/context/context.js';
import { keptSince } from '../kernel/events/feedStore.js';

const batch = 5000;
const hourMs = 60 * 60 * 1000;

/** Ended sessions and used tokens are kept a day longer, so that what is asked about them can be answered. */
const graceMs = 24 * hourMs;

/** The payments vendor sends a message again for some days; it is known ten times as long. */
const resentMs = 30 * 24 * hourMs;

/** What is done once its time has come: the statement, and the moment of its `$1`. `$2` is how many rows at a time. */
const due: { sql: string; before: (now: Date) => Date }[] = [
  {
    // By account, since the index begins with it. Events without a place are never deleted.
    sql: `with old as (
        select e.* from feed_heads h cross join lateral (
          select e.account_id, e.id, p.pos from outbox_events e join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
          where e.account_id = h.account_id and e.created_at < $1::timestamptz order by e.created_at limit $2::int
        ) e limit $2::int
      ), places as (delete from feed_positions p using old where p.account_id = old.account_id and p.pos = old.pos)
      delete from outbox_events o using old where o.account_id = old.account_id and o.id = old.id returning 1`,
    before: keptSince,
  },
  {
    sql: `delete from sessions where id in (
        select id from sessions where expires_at < $1::timestamptz or revoked_at < $1::timestamptz limit $2::int
      ) returning 1`,
    before: (now) => new Date(now.getTime() - graceMs),
  },
  {
    sql: `delete from tokens where id in (select id from tokens where expires_at < $1::timestamptz limit $2::int) returning 1`,
    before: (now) => new Date(now.getTime() - graceMs),
  },
  {
    sql: `delete from idempotency_keys k using (
        select account_id, principal, key from idempotency_keys where expires_at < $1::timestamptz limit $2::int
      ) old where k.account_id = old.account_id and k.principal = old.principal and k.key = old.key returning 1`,
    before: (now) => now,
  },
  {
    sql: `delete from billing_events e using (
        select account_id, id from billing_events where created_at < $1::timestamptz limit $2::int
      ) old where e.account_id = old.account_id and e.id = old.id returning 1`,
    before: (now) => new Date(now.getTime() - resentMs),
  },
  {
    // What reads show as overdue from the first minute of the day after is written down.
    sql: `update invoices i set status = 'overdue', updated_at = $1::timestamptz from (
        select t.account_id, t.id from invoices t join accounts a on a.id = t.account_id
        where t.status = 'sent' and t.amount_paid < t.total and t.due_date < ($1::timestamptz at time zone a.timezone)::date
        limit $2::int for update of t skip locked
      ) late where i.account_id = late.account_id and i.id = late.id returning 1`,
    before: (now) => now,
  },
];

/**
 * Deletes what nobody may ask for any more (events past their 30 days, ended sessions, tokens, idempotency keys, known messages),
 * and marks unpaid invoices whose day to pay is over.
 */
export async function sweep({ database, clock }: App): Promise<void> {
  for (const { sql, before } of due) {
    const moment = before(clock.now()).toISOString();
    for (;;) {
      const { rows } = await database.execute(sql, [moment, batch]);
      if (rows.length < batch) break;
    }
  }
}
