import type { AccountSweep, App } from '../kernel/context/context.js';
import { wasTimedOut } from '../kernel/database/errors.js';
import type { Database } from '../kernel/database/index.js';
import { slot, Template } from '../kernel/database/statement.js';
import { type Sweep, sweepOf } from '../kernel/database/sweep.js';
import { oldEvents } from '../kernel/events/feedStore.js';
import { oldOutcomes } from '../kernel/operations/idempotency.claims.js';
import { oldPublicOutcomes } from '../kernel/operations/idempotency.public.js';
import { actingForAccount } from '../modules/auth/auth.acting.js';
import { lapsesOver, outcomesOver } from './dueLapses.js';
import { reseal } from './reseal.js';

/** Rows that one statement takes at most. */
const batch = 5000;
/** Where so few take too long, it is not because of their number. */
const fewest = 50;
/** Milliseconds for which a sweep of rows goes on before the others have their turn, and for which all of them do. */
const longest = { ofOne: 10_000, ofAll: 120_000 };
/** How many rows a statement of each sweep took last: fewer than a batch where that takes too long. */
const portions = new WeakMap<Database, Map<string, number>>();

/** Everything that is swept, by its name: what the kernel keeps for a time, and what modules declare. */
const sweepsOf = (app: App): [string, Sweep | AccountSweep][] => [
  ...Object.entries({
    oldEvents: oldEvents([...app.registry.readers.keys()]),
    oldOutcomes,
    oldPublicOutcomes,
    lapsesOver: lapsesOver(app),
    outcomesOver: outcomesOver(app),
  }),
  ...app.registry.sweeps,
];

/**
 * Does every sweep once, over all accounts: deletes what has been kept for its time, does the work that modules declare for accounts
 * (`sweeps`), and seals anew under the latest key. A sweep that fails is in the log by its name and keeps no other from being done.
 * Throws an AggregateError of all faults at the end. Where the process is to stop, the rest is left to the next time; where there is more
 * than time for it, so is that, and the log says so.
 */
export async function sweep(app: App, { ofOne, ofAll } = longest): Promise<void> {
  const end = performance.now() + ofAll;
  const faults: unknown[] = [];
  const noteOf = (name: string) => (error: unknown, accountId?: string) => {
    app.log.error({ err: error, sweep: name, accountId }, 'a sweep failed');
    faults.push(error);
  };
  const unfinished: [string, Sweep][] = [];
  const takeTurn = async (name: string, each: Sweep) => {
    if (await sweepRows(app, name, each, ofOne).catch(noteOf(name))) unfinished.push([name, each]);
  };
  for (const [name, each] of sweepsOf(app)) {
    if (!app.ready) break;
    if ('rows' in each) await takeTurn(name, each);
    else await sweepAccounts(app, each, noteOf(name)).catch(noteOf(name));
  }
  while (unfinished.length > 0 && app.ready && performance.now() < end) await takeTurn(...unfinished.shift()!);
  if (unfinished.length > 0 && app.ready)
    app.log.warn({ sweeps: unfinished.map(([name]) => name) }, 'there is more to sweep than there was time for');
  if (app.ready) await reseal(app).catch(noteOf('reseal'));
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} sweeps failed`);
}

/** Sweeps rows for so many milliseconds; whether there are more. */
async function sweepRows(app: App, name: string, each: Sweep, longestMs: number): Promise<boolean> {
  const now = app.clock.now();
  const before = each.before ? each.before(now, app.config) : now;
  if (!before) return false;
  const taken = portionsOf(app);
  const end = performance.now() + longestMs;
  // Rows are not all alike: now and then more are tried.
  let most = Math.min(batch, (taken.get(name) ?? batch) * 2);
  for (;;) {
    const { text, values } = sweepOf(each, before, most);
    try {
      const { rows } = await app.database.execute(text, values);
      taken.set(name, most);
      if (rows.length < most) return false;
      if (!app.ready || performance.now() >= end) return true;
    } catch (error) {
      // Large rows that are on no page in memory: as many would take as long each time. The limit of time is no matter here, or a sweep
      // that begins with too many might never get to how many can be done.
      if (!wasTimedOut(error) || most <= fewest || !app.ready) throw error;
      most = Math.max(fewest, Math.floor(most / 4));
    }
  }
}

function portionsOf({ database }: App): Map<string, number> {
  const known = portions.get(database) ?? new Map<string, number>();
  portions.set(database, known);
  return known;
}

async function sweepAccounts(app: App, each: AccountSweep, note: (error: unknown, accountId: string) => void): Promise<void> {
  const now = app.clock.now();
  const { text, values } = new Template(each.accounts(slot('now', 'timestamptz'))).with({ now: now.toISOString() });
  const { rows } = await app.database.execute(text, values);
  for (const row of rows as Record<string, string>[]) {
    const id = row.id!;
    try {
      if (each.isDue && !each.isDue(row, now)) continue;
      // A suspended account has no context: what is due there waits.
      const ctx = await actingForAccount(app, id);
      while (ctx && app.ready && (await each.work(ctx)));
    } catch (error) {
      note(error, id);
    }
  }
}
