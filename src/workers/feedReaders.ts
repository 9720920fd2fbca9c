import type { App, Context } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { shown } from '../kernel/events/feedStore.js';
import { type Behind as BehindOf, behind, reachedByReader, stepOf, waitingForReaders } from '../kernel/events/readers.js';
import { inOwnTransaction } from '../kernel/operations/ownTransaction.js';
import { actingAs, type FoundAccount, foundAccount } from '../modules/auth/auth.acting.js';
import { ReaderPace } from './readerPace.js';

/** Accounts that are read at once. */
const concurrency = 4;
/** Readers that one look finds. */
const lookedFor = 1000;
/** Between two looks over all accounts: for what another process placed before it died, and what failed. */
const lookMs = 2000;
/**
 * From a step of a reader that made something to its next one in that account, unless it left some: a lone event is read at once, and of
 * many each step reads several. A step is a transaction, however little it makes.
 */
const spacingMs = 50;
/** Until a reader is asked for again that another process is at: it may have looked before our events had their places. */
const heldMs = 20;

type Behind = BehindOf<FoundAccount>;

/** Reads the feeds for the modules, in every process that works. */
export class FeedReaders {
  readonly #waiting = new Map<string, Behind>();
  readonly #running = new Map<string, Promise<void>>();
  /** The readers that have just made a step. */
  readonly #spaced = new Set<string>();
  /** Of the readers that are given fewer events than others, or rest. */
  readonly #paces = new Map<string, ReaderPace>();
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
        const { rows } = await app.database.executePlanned(query.text, query.values);
        for (const each of rows as Behind[]) this.#waiting.set(keyOf(each), each);
      } catch (error) {
        warnThrottled(app, error, 'the readers of the feed could not look for events');
      }
      this.#begin(app);
    }
  }

  #begin(app: App): void {
    for (const [key, each] of this.#waiting) {
      if (this.#stopped || this.#running.size >= concurrency) return;
      if (this.#running.has(key) || this.#spaced.has(key)) continue;
      this.#waiting.delete(key);
      if (this.#paces.get(key)?.isResting) continue;
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
    const pace = this.#paces.get(key) ?? new ReaderPace();
    const progress = { given: pace.limit };
    try {
      const { isHeld, more, made } = await readStep(app, each, pace.limit, progress);
      if (isHeld) return this.#lookIn(heldMs, accountId);
      pace.made(made, made < progress.given);
      if (pace.isFull) this.#paces.delete(key);
      else this.#paces.set(key, pace);
      if (more) this.placed([accountId]);
      else if (made > 0) this.#space(app, key);
    } catch (error) {
      this.#lookIn(pace.failed(progress.given), accountId);
      this.#paces.set(key, pace);
      app.log.error({ err: error, reader: name, accountId, times: pace.faults, events: progress.given }, 'a reader of the feed failed');
    }
  }

  #space(app: App, key: string): void {
    this.#spaced.add(key);
    setTimeout(() => {
      this.#spaced.delete(key);
      this.#begin(app);
    }, spacingMs).unref();
  }

  #lookIn(ms: number, accountId: string): void {
    setTimeout(() => this.placed([accountId]), ms).unref();
  }
}

const keyOf = ({ accountId, name }: Behind) => `${accountId} ${name}`;

/**
 * What became of a step: whether another process is at the reader, whether there may be more, and of how many events something was made.
 */
interface Stepped {
  isHeld: boolean;
  more: boolean;
  made: number;
}

async function readStep(app: App, { name, account }: Behind, most: number, progress: { given: number }): Promise<Stepped> {
  const reader = app.registry.readers.get(name)!;
  const ctx = actingAs(app, account, { actor: reader.actor, request: { id: `feed-${app.clock.id()}`, ip: '127.0.0.1' } });
  const statement = stepOf(name, reader.wanted);
  return inOwnTransaction(ctx, async (inside: Context) => {
    const [row] = await inside.rows(statement, { most });
    const { isHeld, more, events, sizes } = row!.step;
    progress.given = events.length;
    if (events.length === 0) return { isHeld, more, made: 0 };
    const given = events.map((event, nth) => ({ ...shown(app, event), size: sizes[nth]! }));
    const made = await reader.make(inside, given);
    const isPart = made < given.length;
    if (isPart) await inside.rows(reachedByReader, { name, event: given[made - 1]!.eventId });
    return { isHeld, more: more || isPart, made };
  });
}

/** What a reader's queue is called. */
export const queueOfReader = (name: string) => `reader ${name}`;

/**
 * What waits for the readers that modules declare: how many events, and for how many seconds the oldest has. Suspended accounts' is left
 * out.
 */
export async function waitingForAll({ database, registry }: App): Promise<{ queue: string; count: number; age: number }[]> {
  const { rows } = await database.execute(waitingForReaders, [[...registry.readers.keys()]]);
  return rows as { queue: string; count: number; age: number }[];
}
