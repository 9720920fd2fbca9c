import { LRUCache } from 'lru-cache';
import { type App, Context, type Principal } from '../kernel/context/context.js';
import { type FeedEvent, readFeed } from '../kernel/events/feedStore.js';
import { asBatches, type ToldEvent } from '../kernel/feed/batches.js';
import { type Wanted } from '../kernel/feed/feed.js';
import type { Operation } from '../kernel/operations/operation.js';
import { printErrors } from './errors.js';

/** Events read in one statement. */
const batch = 200;
/** After a fault of the database. */
const retryMs = 250;
const endOfTime = 2n ** 62n;

/** Where a subscriber's results go: his socket or stream, and his place in it. */
export interface Sink {
  /** Sends one result. The text is the same for all of a group; a reader who does not keep up is cut off. */
  send(text: string, position: string): void;
  /** Resolves when the reader has taken most of what was sent, so that a long replay goes at his pace. */
  drained(): Promise<void>;
}

/** What the members of a group have in common. */
export interface Shared {
  operation: Operation;
  variables: Record<string, unknown>;
  principal: Principal;
  wanted: Wanted;
}

/** A subscriber; once he has caught up with the feed, he gets what comes after `from`. */
interface Member {
  sink: Sink;
  /** Who it is. */
  viewer: string;
  from: bigint;
  left: boolean;
}

/** Whether somebody may see an event that is wanted. */
const isFor = ({ viewer }: Member, { onlyFor }: FeedEvent) => onlyFor === null || onlyFor === viewer;

/** The subscribers of one document with the same variables, account and rights: each event is executed once for all. */
export class Group {
  /** Who has caught up. */
  readonly members = new Set<Member>();
  /** Everybody, those who still replay included. */
  holders = 0;
  // A moment only: what a replay shows of a record is the record as it is, and many may come back at once.
  readonly #texts = new LRUCache<string, Promise<string>>({ max: 100, ttl: 1000 });

  constructor(
    private readonly app: App,
    readonly shared: Shared,
  ) {}

  /** What the group is told of these events, in their order. */
  chosen(events: FeedEvent[]): ToldEvent[] {
    const { names, matches, shows, batches } = this.shared.wanted;
    const wanted = events.filter((event) => (!names || names.includes(event.name)) && (!matches || matches(event)));
    const shown = shows ? wanted.map(shows) : wanted;
    return batches ? asBatches(shown) : shown;
  }

  /** The result for one event as JSON text. */
  text(event: ToldEvent): Promise<string> {
    const key = event.batch ? `${event.id} ${event.batch.count}` : event.id;
    const known = this.#texts.get(key);
    if (known) return known;
    const made = this.#execute(event);
    this.#texts.set(key, made);
    return made;
  }

  async #execute(event: ToldEvent): Promise<string> {
    const { operation, variables, principal } = this.shared;
    const ctx = new Context(this.app, { id: `event-${event.eventId}`, ip: '127.0.0.1' }, principal);
    return JSON.stringify(printErrors(await operation.execute(ctx, variables, event), ctx));
  }

  /** Sends what the group wants of these events, in their order. */
  async deliver(events: FeedEvent[]): Promise<void> {
    for (const event of this.chosen(events)) {
      const members = () => [...this.members].filter((member) => isFor(member, event));
      if (members().length === 0) continue;
      const text = await this.text(event);
      const position = BigInt(event.id);
      for (const { sink, from } of members()) if (position > from) sink.send(text, event.id);
    }
  }
}

/** One account's feed in this process: read once for all its subscribers. */
export class AccountFeed {
  /** The last position that was handed to the groups. */
  #position: bigint;
  /** How far the feed is said to go. */
  #end: bigint;
  readonly #groups = new Map<string, Group>();
  #looking = false;
  /** Whether it may go on, and nobody said how far. */
  #again = false;
  #closed = false;

  constructor(
    private readonly app: App,
    readonly account: string,
    head: bigint,
  ) {
    this.#position = head;
    this.#end = head;
  }

  /** The feed may have grown, to this position where it is known. */
  wake(head: string): void {
    if (head === '') this.#again = true;
    else if (BigInt(head) > this.#end) this.#end = BigInt(head);
    if (!this.#looking) void this.#look();
  }

  close(): void {
    this.#closed = true;
  }

  async #look(): Promise<void> {
    this.#looking = true;
    // One change is told more than once (by this process, by Redis, by a poll), and is looked for once.
    while ((this.#again || this.#end > this.#position) && !this.#closed) {
      this.#again = false;
      const end = this.#end;
      try {
        const found = await this.#handOut();
        if (found === batch) this.#again = true;
        // What was said to be there is not kept any more; what was said meanwhile may have come too late for this look.
        else if (this.#end === end && end > this.#position) this.#end = this.#position;
      } catch (error) {
        this.app.log.warn({ err: error }, 'a feed could not be read');
        this.#again = true;
        await new Promise((resume) => setTimeout(resume, retryMs));
      }
    }
    this.#looking = false;
  }

  async #handOut(): Promise<number> {
    const events = await readFeed(this.app, this.account, { after: this.#position, upTo: endOfTime, names: null, limit: batch });
    if (events.length === 0) return 0;
    // Who joins from here on has caught up with these, whether or not they are delivered to the others yet.
    this.#position = BigInt(events.at(-1)!.id);
    await Promise.all([...this.#groups.values()].map((group) => group.deliver(events)));
    return events.length;
  }

  /**
   * Joins the group of a key: at once for what is still to come, or after a replay of all that came after a position.
   * Returns the way out.
   */
  join(key: string, shared: Shared, sink: Sink, after?: bigint): () => void {
    const viewer = shared.principal.userId;
    const group = this.#groups.get(key) ?? new Group(this.app, shared);
    this.#groups.set(key, group);
    group.holders++;
    const member: Member = { sink, viewer, from: this.#position, left: false };
    if (after === undefined) group.members.add(member);
    else void this.#replay(group, member, after);
    return () => {
      if (member.left) return;
      member.left = true;
      group.members.delete(member);
      if (--group.holders === 0) this.#groups.delete(key);
    };
  }

  /**
   * Sends what came after a position until there is no more, and then makes the member one of the group. Between the look
   * that finds no more and the joining nothing is awaited, so that no event is missed or sent twice.
   */
  async #replay(group: Group, member: Member, after: bigint): Promise<void> {
    let from = after;
    while (!member.left && !this.#closed) {
      const upTo = this.#position;
      if (from >= upTo) {
        member.from = from;
        group.members.add(member);
        return;
      }
      try {
        from = await this.#resend(group, member, from, upTo);
      } catch (error) {
        this.app.log.warn({ err: error }, 'a feed could not be replayed');
        await new Promise((resume) => setTimeout(resume, retryMs));
      }
    }
  }

  /** Sends one batch at the reader's pace. Answers how far the member has come, also when he left on the way. */
  async #resend(group: Group, member: Member, after: bigint, upTo: bigint): Promise<bigint> {
    const { names } = group.shared.wanted;
    const events = await readFeed(this.app, this.account, { after, upTo, names, limit: batch });
    for (const event of group.chosen(events)) {
      if (!isFor(member, event)) continue;
      const text = await group.text(event);
      if (member.left) return after;
      member.sink.send(text, event.id);
      await member.sink.drained();
    }
    return events.length < batch ? upTo : BigInt(events.at(-1)!.id);
  }
}
