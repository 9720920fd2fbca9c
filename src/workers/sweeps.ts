import type { AccountSweep, App } from '../kernel/context/context.js';
import { slot, Template } from '../kernel/database/statement.js';
import { type Sweep, sweepOf } from '../kernel/database/sweep.js';
import { oldEvents } from '../kernel/events/feedStore.js';
import { oldOutcomes } from '../kernel/operations/idempotency.claims.js';
import { oldPublicOutcomes } from '../kernel/operations/idempotency.public.js';
import { actingForAccount } from '../modules/auth/auth.acting.js';
import { lapsesOver } from './dueLapses.js';
import { reseal } from './reseal.js';

const batch = 5000;

/** Everything that is swept, by its name: what the kernel keeps for a time, and what modules declare. */
const sweepsOf = (app: App): [string, Sweep | AccountSweep][] => [
  ...Object.entries({ oldEvents, oldOutcomes, oldPublicOutcomes, lapsesOver: lapsesOver(app) }),
  ...app.registry.sweeps,
];

/**
 * Does every sweep once, over all accounts: deletes what has been kept for its time, does the work that modules declare for accounts
 * (`sweeps`), and seals anew under the latest key. A sweep that fails is in the log by its name and keeps no other from being done.
 * Throws an AggregateError of all faults at the end.
 */
export async function sweep(app: App): Promise<void> {
  const faults: unknown[] = [];
  const noteOf = (name: string) => (error: unknown, accountId?: string) => {
    app.log.error({ err: error, sweep: name, accountId }, 'a sweep failed');
    faults.push(error);
  };
  for (const [name, each] of sweepsOf(app)) {
    const note = noteOf(name);
    await ('rows' in each ? sweepRows(app, each) : sweepAccounts(app, each, note)).catch(note);
  }
  await reseal(app).catch(noteOf('reseal'));
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} sweeps failed`);
}

async function sweepRows({ database, clock, config }: App, each: Sweep): Promise<void> {
  const now = clock.now();
  const before = each.before ? each.before(now, config) : now;
  if (!before) return;
  const { text, values } = sweepOf(each, before, batch);
  for (;;) {
    const { rows } = await database.execute(text, values);
    if (rows.length < batch) break;
  }
}

async function sweepAccounts(app: App, { accounts, work }: AccountSweep, note: (error: unknown, accountId: string) => void): Promise<void> {
  const { text, values } = new Template(accounts(slot('now', 'timestamptz'))).with({ now: app.clock.now().toISOString() });
  const { rows } = await app.database.execute(text, values);
  for (const { id } of rows as { id: string }[]) {
    try {
      // A suspended account has no context: what is due there waits.
      const ctx = await actingForAccount(app, id);
      while (ctx && (await work(ctx)));
    } catch (error) {
      note(error, id);
    }
  }
}
