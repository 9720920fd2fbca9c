import type { App } from '../kernel/context/context.js';
import type { Sweep } from '../kernel/context/registry.js';
import { keptSince } from '../kernel/events/feedStore.js';

const batch = 5000;

/** What the kernel itself keeps for a time: events in the feed, outcomes under an Idempotency-Key. */
const kernelSweeps: readonly Sweep[] = [
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
    sql: `delete from idempotency_keys k using (
        select account_id, principal, key from idempotency_keys where expires_at < $1::timestamptz limit $2::int
      ) old where k.account_id = old.account_id and k.principal = old.principal and k.key = old.key returning 1`,
  },
];

/** Does what is due over all accounts, for the kernel and for every module. */
export async function sweep({ database, clock, registry }: App): Promise<void> {
  for (const { sql, before } of [...kernelSweeps, ...registry.sweeps]) {
    const now = clock.now();
    const moment = (before?.(now) ?? now).toISOString();
    for (;;) {
      const { rows } = await database.execute(sql, [moment, batch]);
      if (rows.length < batch) break;
    }
  }
}
