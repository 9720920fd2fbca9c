import type { Logger } from 'pino';
import { pause } from '../kernel/base/pause.js';
import type { Database } from '../kernel/database/index.js';
import type { Channel } from '../kernel/events/channel.js';
import { feedWake } from '../kernel/events/feedStore.js';

/** At most this many events get their places in one step. */
const batch = 1000;
/** Between two looks where nobody may have told us of a commit, and between two where everybody does. */
const pollMs = 250;
const safetyMs = 5000;
/**
 * Between the beginnings of two steps, for each event that the first one placed, and at most: a lone change is told at once,
 * and under load one step, with a commit of its own, serves many.
 */
const [spacingMs, mostSpacingMs] = [4, 20];
/** When another relay is at work: it may have looked before our events were committed. */
const busyMs = 5;

/** The wake that processes without a relay send after a commit that wrote events. */
export const outboxWake = 'outbox';

interface Placed {
  account_id: string | null;
  head: string;
  placed: string;
}

/**
 * Gives committed events their places in the feeds and wakes the readers. Any number may run against one database: the
 * database lets one place events at a time. An event is never lost, since it waits in its table until it has a place.
 */
export class Relay {
  #running?: Promise<void>;
  #again = false;
  #stopped = false;
  /** When the last step ended, by `performance.now()`: the clock of the day may be set back. */
  #looked = Number.NEGATIVE_INFINITY;
  /** How many events the last step placed. */
  #placed = 0;
  #timer?: NodeJS.Timeout;
  #leave?: () => void;

  constructor(
    private readonly database: Database,
    private readonly channel: Channel,
    private readonly log: Logger,
    /** Told of the accounts whose events got their places. */
    private readonly placed: (accounts: readonly string[]) => void = () => undefined,
  ) {}

  start(): void {
    this.#leave = this.channel.subscribe(outboxWake, () => this.wake());
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
    this.wake();
  }

  /** There may be events without a place. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
      // Woken between the last look and here.
      if (this.#again) this.wake();
    });
  }

  /** Ends after the step that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#leave?.();
    await this.#running;
  }

  #poll() {
    const rest = this.channel.connected ? safetyMs : pollMs;
    if (!this.#running && performance.now() - this.#looked >= rest) this.wake();
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#stopped) {
      const early = this.#looked + Math.min(mostSpacingMs, spacingMs * this.#placed) - performance.now();
      if (early > 0) await pause(early);
      this.#again = false;
      try {
        this.#again = (await this.#step()) || this.#again;
      } catch (error) {
        // The database is away, or away from us: the next poll looks again.
        this.#looked = Number.NEGATIVE_INFINITY;
        this.log.warn({ err: error }, 'the relay could not place events');
      }
    }
  }

  /** One step. Answers whether there may be more to do. */
  async #step(): Promise<boolean> {
    const { rows } = await this.database.execute('select account_id, head::text, placed::text from place_events($1)', [batch]);
    this.#looked = performance.now();
    const placed = rows as Placed[];
    if (placed[0]?.account_id === null) {
      // It places for us too: we ask as seldom as under load.
      this.#placed = mostSpacingMs / spacingMs;
      await pause(busyMs * (1 + Math.random()));
      return true;
    }
    this.#placed = placed.reduce((sum, row) => sum + Number(row.placed), 0);
    for (const { account_id: account, head } of placed) this.channel.publish(feedWake(account!), head);
    this.placed(placed.map(({ account_id: account }) => account!));
    return this.#placed === batch;
  }
}

/** How many events wait for a place, and for how many seconds the oldest has. */
export async function waitingEvents(database: Database): Promise<{ count: number; age: number }> {
  const { rows } = await database.execute(
    `select count(*)::int as count, coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)::float8 as age
     from outbox_events e
     where seq > (select seq from feed_floor) and not exists (select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq)`,
  );
  return (rows as { count: number; age: number }[])[0]!;
}
