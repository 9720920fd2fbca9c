import type { App, Context } from '../kernel/context/context.js';
import { shown } from '../kernel/events/feedStore.js';
import { type Behind as BehindOf, behind, stepOf, waitingForReaders } from '../kernel/events/readers.js';
import { transacted } from '../kernel/operations/transacted.js';
import { actingAs, type FoundAccount, foundAccount } from '../modules/auth/auth.acting.js';

/** Events of which something is made in one transaction; one where the last one failed, so that a fault holds up no others. */
const most = 100;
/** Accounts that are read at once. */
const concurrency = 4;
/** Readers that one look finds. */
const lookedFor = 1000;
/** Between two looks over all accounts: for what another process placed before it died, and what failed. */
const lookMs = 2000;
/** Until a reader is asked for again that another process is at: it may have looked before our events had their places. */
const heldMs = 20;
/** The longest pause after faults. */
const mostPauseMs = 60_000;

type Behind = BehindOf<FoundAccount>;

/** What failed of a reader in an account: how often in a row, and until when it rests. */
interface Fault {
  times: number;
  until: number;
}

/** Reads the feeds for the modules, in every process that works. */
export class FeedReaders {
  readonly #waiting = new Map<string, Behind>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #faults = new Map<string, Fault>();
  /** The accounts to be looked at; null for all of them, undefined for none. */
  #wanted: ReadonlySet<string> | null | undefined;
  #looking?: Promise<void>;
  #timer?: NodeJS.Timeout;
  #stopped = false;
  #app?: App;

  start(app: App): void {
    if (app.registry.readers.size === 0) return;
    this.#app = app;
    this.#timer = setInterval(() => this.#look(null), lookMs).unref();
    this.#look(null);
  }

  /** Events of these accounts have got their places. */
  placed(accounts: readonly string[]): void {
    if (accounts.length > 0) this.#look(accounts);
  }

  /** Ends after the steps that are under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#running.values());
  }

  #look(accounts: readonly string[] | null): void {
    const app = this.#app;
    if (!app || this.#stopped) return;
    this.#wanted = accounts === null || this.#wanted === null ? null : new Set([...(this.#wanted ?? []), ...accounts]);
    this.#looking ??= this.#lookOn(app).finally(() => {
      this.#looking = undefined;
      // Wanted between the last look and here.
      if (this.#wanted !== undefined) this.#look([]);
    });
  }

  /** Looks as long as something is wanted: what comes while a look is under way is one more. */
  async #lookOn(app: App): Promise<void> {
    while (this.#wanted !== undefined && !this.#stopped) {
      const accounts = this.#wanted && [...this.#wanted];
      this.#wanted = undefined;
      try {
        const query = behind({ accounts, most: lookedFor, account: foundAccount, readers: app.registry.readers });
        const { rows } = await app.database.execute(query.text, query.values);
        for (const each of rows as Behind[]) this.#waiting.set(keyOf(each), each);
      } catch (error) {
        app.log.warn({ err: error }, 'the readers of the feed could not look for events');
      }
      this.#begin(app);
    }
  }

  #begin(app: App): void {
    for (const [key, each] of this.#waiting) {
      if (this.#stopped || this.#running.size >= concurrency) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      if ((this.#faults.get(key)?.until ?? 0) > Date.now()) continue;
      const running = this.#read(app, each, key).finally(() => {
        this.#running.delete(key);
        this.#begin(app);
      });
      this.#running.set(key, running);
    }
  }

  /** One step of a reader in an account; where there is more, the next look finds it again, with its account as it is by then. */
  async #read(app: App, each: Behind, key: string): Promise<void> {
    const { accountId, name } = each;
    try {
      const step = await readStep(app, each, this.#faults.has(key) ? 1 : most);
      if (step !== 'held') this.#faults.delete(key);
      if (step === 'more') this.placed([accountId]);
      if (step === 'held') setTimeout(() => this.placed([accountId]), heldMs).unref();
    } catch (error) {
      const times = (this.#faults.get(key)?.times ?? 0) + 1;
      this.#faults.set(key, { times, until: Date.now() + Math.min(2 ** times * 100, mostPauseMs) });
      app.log.error({ err: error, reader: name, accountId, times }, 'a reader of the feed failed');
    }
  }
}

const keyOf = ({ accountId, name }: Behind) => `${accountId} ${name}`;

async function readStep(app: App, { name, account }: Behind, limit: number): Promise<'held' | 'more' | 'end'> {
  const reader = app.registry.readers.get(name)!;
  const ctx = actingAs(app, account, { actor: reader.actor, request: { id: `feed-${app.clock.id()}`, ip: '127.0.0.1' } });
  const statement = stepOf(name, reader.wanted);
  return transacted(ctx, async (inside: Context) => {
    const [row] = await inside.rows(statement, { most: limit });
    const { isHeld, more, events } = row!.step;
    if (events.length > 0)
      await reader.make(
        inside,
        events.map((event) => shown(app, event)),
      );
    if (isHeld) return 'held';
    return more ? 'more' : 'end';
  });
}

/** What waits for the readers. */
export async function waitingForAll({ database }: Pick<App, 'database'>): Promise<{ queue: string; count: number; age: number }[]> {
  const { rows } = await database.execute(waitingForReaders);
  return rows as { queue: string; count: number; age: number }[];
}
