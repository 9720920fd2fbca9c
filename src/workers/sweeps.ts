import type { AccountSweep, App } from '../kernel/context/context.js';
import type { Sweep } from '../kernel/context/registry.js';
import { keptSince } from '../kernel/events/feedStore.js';
import { actingForAccounts } from '../modules/auth/auth.acting.js';
import { lapsesOver } from './dueLapses.js';
import { reseal } from './reseal.js';

const batch = 5000;

/** What the kernel itself keeps for a time: events in the feed, outcomes under an Idempotency-Key. */
const kernelSweeps: readonly Sweep[] = [
  {
    // By account, since the index begins with it. Events without a place are never deleted, nor those that are still to be read.
    sql: `with old as (
        select e.* from feed_heads h cross join lateral (
          select e.account_id, e.id, p.pos from outbox_events e join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
          where e.account_id = h.account_id and e.created_at < $1::timestamptz
            and not exists (select from feed_readers r where r.account_id = h.account_id and r.pos < p.pos) order by e.created_at limit $2::int
        ) e limit $2::int
      ), places as (delete from feed_positions p using old where p.account_id = old.account_id and p.pos = old.pos)
      delete from outbox_events o using old where o.account_id = old.account_id and o.id = old.id returning 1`,
    before: keptSince,
  },
  {
    sql: `delete from idempotency_keys k using (
        select account_id, principal, key from idempotency_keys where expires_at < $1::timestamptz limit $2::int
      ) old where k.account_id = old.account_id and k.principal = old.principal and k.key = old.key
        and k.expires_at < $1::timestamptz returning 1`,
  },
  {
    sql: `delete from public_outcomes o using (
        select client, operation, key from public_outcomes where expires_at < $1::timestamptz limit $2::int
      ) old where o.client = old.client and o.operation = old.operation and o.key = old.key
        and o.expires_at < $1::timestamptz returning 1`,
  },
];

/** Does what is due over all accounts, for the kernel and for every module. What fails keeps nothing else from being done; it is thrown at the end. */
export async function sweep(app: App): Promise<void> {
  const faults: unknown[] = [];
  const note = (error: unknown) => void faults.push(error);
  for (const each of [...kernelSweeps, lapsesOver(app), ...app.registry.sweeps])
    await ('sql' in each ? sweepRows(app, each) : sweepAccounts(app, each, note)).catch(note);
  await reseal(app).catch(note);
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} sweeps failed`);
}

async function sweepRows({ database, clock, config }: App, { sql, before }: Sweep): Promise<void> {
  const now = clock.now();
  const moment = before ? before(now, config) : now;
  if (!moment) return;
  for (;;) {
    const { rows } = await database.execute(sql, [moment.toISOString(), batch]);
    if (rows.length < batch) break;
  }
}

async function sweepAccounts(app: App, { accounts, work }: AccountSweep, note: (error: unknown) => void): Promise<void> {
  const { rows } = await app.database.execute(accounts, [app.clock.now().toISOString()]);
  for (const { id } of rows as { id: string }[]) {
    try {
      // A suspended account has no context: what is due there waits.
      const [ctx] = await actingForAccounts(app, [id]);
      while (ctx && (await work(ctx)));
    } catch (error) {
      app.log.error({ err: error, accountId: id }, 'a sweep failed in an account');
      note(error);
    }
  }
}
