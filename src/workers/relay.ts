import type { Logger } from 'pino';
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
/**
 * A step begins at the last event that was placed this long ago: those before it have their places, but for what an unusually
 * long transaction wrote, which a look at everything finds.
 */
const settledMs = 15_000;
/** When another relay is at work: it may have looked before our events were committed. */
const busyMs = 5;

/** The wake that processes without a relay send after a commit that wrote events. */
export const outboxWake = 'outbox';

interface Placed {
  account_id: string | null;
  head: string;
  placed: string;
  last: string;
}

/**
 * Gives committed events their places in the feeds and wakes the readers. Any number may run against one database: the
 * database lets one place events at a time. An event is never lost, since it waits in its table until it has a place.
 */
export class Relay {
  #running?: Promise<void>;
  #again = false;
  #stopped = false;
  #looked = 0;
  #lookedAtAll = 0;
  /** How many events the last step placed. */
  #placed = 0;
  /** The last events of steps, the oldest first; the first of them is where the next step begins. */
  #marks: { at: number; last: number }[] = [];
  #timer?: NodeJS.Timeout;
  #leave?: () => void;

  constructor(
    private readonly database: Database,
    private readonly channel: Channel,
    private readonly log: Logger,
    private readonly settled = settledMs,
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
    if (!this.#running && Date.now() - this.#looked >= rest) this.wake();
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#stopped) {
      const early = this.#looked + Math.min(mostSpacingMs, spacingMs * this.#placed) - Date.now();
      if (early > 0) await new Promise((resume) => setTimeout(resume, early));
      this.#again = false;
      try {
        this.#again = (await this.#step()) || this.#again;
      } catch (error) {
        // The database is away, or away from us: the next poll looks again.
        this.#looked = 0;
        this.log.warn({ err: error }, 'the relay could not place events');
      }
    }
  }

  /** Where the next step begins, if not at the very first event. */
  #beginning(): number {
    const now = Date.now();
    while (this.#marks.length > 1 && now - this.#marks[1]!.at >= this.settled) this.#marks.shift();
    const [oldest] = this.#marks;
    return oldest && now - oldest.at >= this.settled ? oldest.last : 0;
  }

  #remember(placed: Placed[]): void {
    const last = Math.max(0, ...placed.map((row) => Number(row.last)));
    const newest = this.#marks.at(-1);
    // One mark a second is near enough.
    if (last > 0 && (!newest || this.#looked - newest.at >= 1000)) this.#marks.push({ at: this.#looked, last });
  }

  /** One step. Answers whether there may be more to do. */
  async #step(): Promise<boolean> {
    const sql = 'select account_id, head::text, placed::text, last::text from place_events($1, $2)';
    const isDue = Date.now() - this.#lookedAtAll >= safetyMs;
    const { rows } = await this.database.execute(sql, [batch, isDue ? 0 : this.#beginning()]);
    this.#looked = Date.now();
    const placed = rows as Placed[];
    if (placed[0]?.account_id === null) {
      // It places for us too: we ask as seldom as under load.
      this.#placed = mostSpacingMs / spacingMs;
      await new Promise((resume) => setTimeout(resume, busyMs * (1 + Math.random())));
      return true;
    }
    // Only now: a look that failed, or found another relay at work, was none.
    if (isDue) this.#lookedAtAll = this.#looked;
    this.#remember(placed);
    this.#placed = placed.reduce((sum, row) => sum + Number(row.placed), 0);
    for (const { account_id: account, head } of placed) this.channel.publish(feedWake(account!), head);
    return this.#placed === batch;
  }
}

/** How many events wait for a place, and for how many seconds the oldest has. */
export async function waitingEvents(database: Database): Promise<{ count: number; age: number }> {
  const { rows } = await database.execute(
    `select count(*)::int as count, coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)::float8 as age
     from outbox_events where pos is null`,
  );
  return (rows as { count: number; age: number }[])[0]!;
}
