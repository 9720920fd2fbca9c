import type { Logger } from 'pino';
import { nextTurn, pause } from '../kernel/base/eventLoop.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import type { Database } from '../kernel/database/index.js';
import { type Sql, sql } from '../kernel/database/sql.js';
import type { Channel } from '../kernel/events/channel.js';
import { feedColumns, feedWake, type StoredEvent } from '../kernel/events/feedStore.js';
import type { FollowedFeeds } from '../kernel/events/followedFeeds.js';
import { mostCounted } from './dueWaiting.js';

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
  /** The events of the account that was asked for, in JSON, where they are few. */
  events: string | null;
}

/** How many events of an account a step brings along: a lone change needs no other look, and many are read by those who want them. */
const fewEvents = 10;

/**
 * The step, which brings along the events of one account where they are few. It sees what was committed before it began, but the function
 * places also what was committed later: events of that may be missing from what it brings along.
 * Each event is looked up by its number, which all accounts share: a plan that knows of few events would read all those of the account.
 */
const step = (account: string | null): Sql => sql`
  select r.account_id, r.head::text, r.placed::text,
    case when r.account_id = ${account}::uuid and r.placed <= ${fewEvents}::int then (
      select json_agg(e order by e.id::bigint)::text from (
        select ${feedColumns} from (
          select r.account_id, r.head - r.placed + s.nth as pos, s.seq from unnest(r.seqs) with ordinality s(seq, nth)
        ) p cross join lateral (select * from outbox_events o where o.seq = p.seq offset 0) e where e.account_id = p.account_id
      ) e
    ) end as events
  from place_events(${batch}::int) r`;

/** Who is told of what a step has placed. */
interface Listeners {
  followed?: FollowedFeeds;
  /** The accounts whose events got their places. */
  placed?: (accounts: readonly string[]) => void;
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
  /** The account that wrote last, until a step asks for its events. */
  #writer?: string;
  #timer?: NodeJS.Timeout;
  #leave?: () => void;

  constructor(
    private readonly database: Database,
    private readonly channel: Channel,
    private readonly log: Logger,
    private readonly listeners: Listeners = {},
  ) {}

  start(): void {
    this.#leave = this.channel.subscribe(outboxWake, () => this.wake());
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
    this.wake();
  }

  /** There may be events without a place, of this account where it is known. */
  wake(account?: string): void {
    if (this.#stopped) return;
    this.#writer = account ?? this.#writer;
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
        warnThrottled({ log: this.log }, error, 'the relay could not place events');
      }
    }
  }

  /** One step. Answers whether there may be more to do. */
  async #step(): Promise<boolean> {
    const placed = await this.#place();
    this.#looked = performance.now();
    if (placed[0]?.account_id === null) {
      // It places for us too: we ask as seldom as under load.
      this.#placed = mostSpacingMs / spacingMs;
      await pause(busyMs * (1 + Math.random()));
      return true;
    }
    this.#placed = placed.reduce((sum, row) => sum + Number(row.placed), 0);
    for (const each of placed) this.#tell(each);
    // Who listens goes first: others have work of their own to do before they tell anybody.
    await nextTurn();
    this.listeners.placed?.(placed.map(({ account_id: account }) => account!));
    return this.#placed === batch;
  }

  async #place(): Promise<Placed[]> {
    const { followed } = this.listeners;
    const writer = this.#writer !== undefined && followed?.has(this.#writer) ? this.#writer : null;
    this.#writer = undefined;
    const { text, values } = step(writer);
    return (await this.database.executePlanned(text, values)).rows as Placed[];
  }

  #tell({ account_id: account, head, placed, events }: Placed): void {
    const brought = events ? (JSON.parse(events) as StoredEvent[]) : [];
    if (brought.length === Number(placed)) this.listeners.followed?.give(account!, brought);
    this.channel.publish(feedWake(account!), head);
  }
}

/**
 * Throws where the next event would have a number that was given already, as in a copy of a database that was made row by row: no relay
 * looks for events behind its floor, and two of one number cannot both have a place.
 */
export async function checkNumbers(database: Pick<Database, 'execute'>): Promise<void> {
  const { rows } = await database.execute(
    `select greatest((select max(seq) from outbox_events), (select seq from feed_floor)) > (select last_value from outbox_events_seq_seq) as "isBehind"`,
  );
  if ((rows as { isBehind: boolean }[])[0]!.isBehind)
    throw new Error('The sequence outbox_events_seq_seq is behind the events of this database: set it as docs/restore.md says');
}

/** How many events wait for a place, and for how many seconds the oldest has: of those that get theirs next, if there are very many. */
export async function waitingEvents(database: Pick<Database, 'execute'>): Promise<{ count: number; age: number }> {
  const { rows } = await database.execute(
    `select count(*)::int as count, coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)::float8 as age
     from (
       select e.created_at from outbox_events e where e.seq > (select seq from feed_floor)
         and (select p.pos from feed_positions p where p.account_id = e.account_id and p.seq = e.seq) is null
       order by e.seq limit ${mostCounted}) w`,
  );
  return (rows as { count: number; age: number }[])[0]!;
}
