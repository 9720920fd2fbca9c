import { LRUCache } from 'lru-cache';
import { Budget } from '../kernel/base/budget.js';
import type { AppError } from '../kernel/base/errors.js';
import { nextTurn, pause } from '../kernel/base/eventLoop.js';
import { jsonSize, printJson } from '../kernel/base/jsonText.js';
import type { TurnQueue } from '../kernel/base/turnQueue.js';
import { type App, Context, type Principal } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { fromDatabase } from '../kernel/database/errors.js';
import type { FeedEvent } from '../kernel/events/feedStore.js';
import { asBatches, type ToldEvent } from '../kernel/feed/batches.js';
import { type Wanted } from '../kernel/feed/feed.js';
import { causeOf, type Operation } from '../kernel/operations/operation.js';
import { printErrors } from './errors.js';
import { Message } from './message.js';
import { Patience } from './patience.js';

/** Characters that are sent in one turn of the event loop. */
export const sentInOneTurn = 1_000_000;

/** After a fault of the database, milliseconds until it is asked again. */
export const retryMs = 250;

/** Where a subscriber's results go: his socket or stream, and his place in it. */
export interface Sink {
  /** Sends one result, the same for all of a group; a reader who does not keep up is cut off. */
  send(result: Message, position: string): void;
  /** Whether the reader has left so much of what was sent that more should wait. */
  isCrowded(): boolean;
  /** Resolves when the reader has taken most of what was sent, so that a long replay goes at his pace. */
  drained(): Promise<void>;
  /** Ends the subscription with an error. */
  fail(reason: AppError): void;
}

/** What a group is told of an event: its result, or why the subscription ends. */
type Outcome = { result: Message; refusal?: undefined } | { result?: undefined; refusal: AppError };

/** What executing an event came to. `outage`: the error by which something is missing, because the database was not there. */
type Attempt = { told: Outcome; outage?: AppError } | { told?: undefined; outage: AppError };

/** What the members of a group have in common. */
export interface Shared {
  operation: Operation;
  variables: Record<string, unknown>;
  /** Whose rights it goes by, in the account as it is now: one execution asks once, as it begins. */
  principalNow: () => Principal;
  wanted: Wanted;
  /** How many records it may read at an event. */
  cost: number;
}

/** A subscriber; once he has caught up with the feed, he gets what comes after `from`. */
export interface Member {
  sink: Sink;
  /** Who it is. */
  viewer: string;
  from: bigint;
  left: boolean;
}

/** Whether somebody may see an event that is wanted. */
export const isFor = ({ viewer }: Member, { onlyFor }: FeedEvent) => onlyFor === null || onlyFor === viewer;

/** The subscribers of one document with the same variables, account and rights: each event is executed once for all. */
export class Group {
  /** Who has caught up. */
  readonly members = new Set<Member>();
  /** Everybody, those who still replay included. */
  holders = 0;
  // A moment only: what a replay shows of a record is the record as it is, and many may come back at once.
  readonly #told = new LRUCache<string, Promise<Outcome>>({ max: 100, ttl: 1000 });
  readonly #patience: Patience;

  constructor(
    private readonly app: App,
    private readonly turns: TurnQueue,
    readonly shared: Shared,
  ) {
    this.#patience = new Patience(app.database);
  }

  /** What the group is told of these events, in their order. */
  chosen(events: FeedEvent[]): ToldEvent[] {
    const { names, matches, shows, batches } = this.shared.wanted;
    const wanted = events.filter((event) => (!names || names.includes(event.name)) && (!matches || matches(event)));
    const shown = shows ? wanted.map(shows) : wanted;
    return batches ? asBatches(shown) : shown;
  }

  /** What it is told of one event, executed when it is the account's turn. */
  told(event: ToldEvent): Promise<Outcome> {
    const key = `${event.name} ${event.id} ${event.batch?.count ?? 1}`;
    const known = this.#told.get(key);
    if (known) return known;
    const made = this.#whole(event);
    this.#told.set(key, made);
    return made;
  }

  /**
   * Executes it until nothing is missing that was only away: a subscriber goes on after what he was sent, and never gets it again. It
   * is sent as it is where the database answers others all the while, and where nobody waits for it any more.
   */
  async #whole(event: ToldEvent): Promise<Outcome> {
    for (;;) {
      const { told, outage } = await this.turns.run(this.shared.principalNow().account.id, () => this.#execute(event));
      if (!outage) this.#patience.restore();
      const isOver = !outage || this.holders === 0 || (await this.#patience.isOver());
      if (isOver && told) return told;
      if (isOver) throw outage;
      warnThrottled(this.app, outage, 'an event could not be read');
      await pause(retryMs);
    }
  }

  async #execute(event: ToldEvent): Promise<Attempt> {
    // Who reads from the embedded database never waits: without this the event loop would not turn between two groups.
    await nextTurn();
    const { operation, variables, principalNow, cost } = this.shared;
    const budget = new Budget(this.app.config.graphql, cost);
    const ctx = new Context(this.app, { id: `event-${event.eventId}`, ip: '127.0.0.1', budget }, principalNow());
    try {
      const result = await operation.execute(ctx, variables, { root: event });
      if (budget.refusal) return { told: { refusal: budget.refusal } };
      const outage = result.errors?.map(causeOf).find(isUnavailable);
      budget.print(jsonSize(result.data, budget.mostBytes));
      const text = await printJson(printErrors(result, ctx));
      budget.print(Buffer.byteLength(text));
      return { told: { result: new Message(text) }, outage };
    } catch (error) {
      if (budget.refusal) return { told: { refusal: budget.refusal } };
      const outage = fromDatabase(error);
      if (isUnavailable(outage)) return { outage: outage! };
      throw error;
    }
  }

  /** Sends what the group wants of these events, in their order. */
  async deliver(events: FeedEvent[]): Promise<void> {
    for (const event of this.chosen(events)) {
      const position = BigInt(event.id);
      const hears = (member: Member) => isFor(member, event) && position > member.from;
      if (![...this.members].some(hears)) continue;
      const told = await this.told(event);
      await this.#send(event, told, [...this.members].filter(hears));
    }
  }

  async #send({ id }: ToldEvent, { result, refusal }: Outcome, members: readonly Member[]): Promise<void> {
    let sent = 0;
    for (const member of members) {
      if (member.left) continue;
      if (refusal) {
        member.sink.fail(refusal);
        continue;
      }
      member.sink.send(result, id);
      sent += result.length;
      if (sent < sentInOneTurn) continue;
      sent = 0;
      await nextTurn();
    }
  }
}

const isUnavailable = (error: AppError | undefined) => error?.code === 'unavailable';
