import { AppError } from '../kernel/base/errors.js';
import { pause } from '../kernel/base/eventLoop.js';
import type { TurnQueue } from '../kernel/base/turnQueue.js';
import type { App } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { type FeedPortion, readPortion } from '../kernel/events/feedPortion.js';
import { type FeedEvent, type Head, type Reached, type StoredEvent, type Stretch, shown } from '../kernel/events/feedStore.js';
import type { Follower } from '../kernel/events/followedFeeds.js';
import type { ToldEvent } from '../kernel/feed/batches.js';
import { readyAt } from '../kernel/feed/ready.js';
import { Group, isFor, type Member, retryMs, type Shared, type Sink } from './subscriptions.group.js';

/** Events read in one statement at most. */
const batch = 200;
const endOfTime = 2n ** 62n;

/** Where a subscriber begins: after a position or with what is still to come, and whether he is told so. */
export interface Beginning {
  after?: bigint;
  isTold: boolean;
}

/** One account's feed in this process: read once for all its subscribers. */
export class AccountFeed implements Follower {
  readonly account: string;
  /** The last position that was handed to the groups. */
  #position: bigint;
  /** The id of the event there, where it is known. */
  #eventId?: string;
  /** How far the feed is said to go. */
  #end: bigint;
  readonly #groups = new Map<string, Group>();
  /** Who is in a group, those who still replay included. */
  readonly #members = new Set<Member>();
  /** Who is told of all events, and how he is told that what he knows may be of events that are lost. */
  readonly #watchers = new Map<(events: readonly FeedEvent[]) => void, () => void>();
  /** Events that came along with their places. */
  #given: readonly StoredEvent[] = [];
  #looking = false;
  /** Whether it may go on, and nobody said how far. */
  #again = false;
  #closed = false;

  constructor(
    private readonly app: App,
    private readonly turns: TurnQueue,
    { account, head }: { account: string; head: bigint },
  ) {
    this.account = account;
    this.#position = head;
    this.#end = head;
  }

  /** The feed may have grown, to this position where it is known. */
  wake(head: string): void {
    if (head === '') this.#again = true;
    else if (BigInt(head) > this.#end) this.#end = BigInt(head);
    if (!this.#looking) void this.#look();
  }

  give(events: readonly StoredEvent[]): void {
    this.#given = events;
  }

  close(): void {
    this.#closed = true;
  }

  /** The last position that was handed out: what happened up to it can be read. */
  get position(): bigint {
    return this.#position;
  }

  /** How far it was handed out. */
  get reached(): Reached {
    return { account: this.account, position: this.#position, eventId: this.#eventId };
  }

  /** The feed is known to go so far, and to have this event where it was handed out to (`reached`) when that was asked. */
  seen({ position }: Reached, { head, eventId }: Head): void {
    if (position === this.#position) this.#eventId ??= eventId ?? undefined;
    this.wake(head);
  }

  /**
   * The feed was set back, and ends here: positions that were handed out are given a second time, so whoever goes on by his own would pass
   * over the events that have them now. Who is told of events is ended, and has to begin anew; watchers look anew.
   */
  restart(head: string): void {
    this.#position = BigInt(head);
    this.#end = this.#position;
    this.#eventId = undefined;
    this.#given = [];
    this.#groups.clear();
    const lost = new AppError('gone', 'The last events are lost, and others take their positions: read again, and start without after');
    for (const { sink } of [...this.#members]) sink.fail(lost);
    for (const restarted of this.#watchers.values()) restarted();
    this.wake('');
  }

  /**
   * Tells somebody of all events from here on, whatever they are, and `restarted` of that some of them are lost. Returns the way to stop.
   */
  watch(watcher: (events: readonly FeedEvent[]) => void, restarted: () => void = () => {}): () => void {
    this.#watchers.set(watcher, restarted);
    return () => this.#watchers.delete(watcher);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    // One change is told more than once (by this process, by Redis, by a poll), and is looked for once.
    while ((this.#again || this.#end > this.#position) && !this.#closed) {
      const isAnywhere = this.#again;
      this.#again = false;
      const end = this.#end;
      try {
        const { isAll, more } = await this.#handOut();
        // Who does not know how far it may go on has not looked yet where he was given what comes next.
        if (more || (isAnywhere && !isAll)) this.#again = true;
        // What was said to be there is not kept any more; what was said meanwhile may have come too late for this look.
        else if (isAll && this.#end === end && end > this.#position) this.#end = this.#position;
      } catch (error) {
        warnThrottled(this.app, error, 'a feed could not be read');
        this.#again = true;
        await pause(retryMs);
      }
    }
    this.#looking = false;
  }

  /** What was given, where that is what follows; there may be more behind it. */
  #takeGiven(): FeedEvent[] | undefined {
    const given = this.#given;
    this.#given = [];
    return given[0] && BigInt(given[0].id) === this.#position + 1n ? given.map((event) => shown(this.app, event)) : undefined;
  }

  /** Hands out what comes next. Answers whether it was looked for all of that, and whether there may be more than was read. */
  async #handOut(): Promise<{ isAll: boolean; more: boolean }> {
    const given = this.#takeGiven();
    const after = this.#position;
    const { events, more } = given ? { events: given, more: false } : await this.#read({ after, upTo: endOfTime, names: null });
    // It began anew meanwhile.
    if (this.#position !== after) return { isAll: false, more: false };
    const answer = { isAll: given === undefined, more };
    if (events.length === 0) return answer;
    // Who joins from here on has caught up with these, whether or not they are delivered to the others yet.
    this.#position = BigInt(events.at(-1)!.id);
    this.#eventId = events.at(-1)!.eventId;
    for (const watcher of this.#watchers.keys()) watcher(events);
    await Promise.all([...this.#groups.values()].map((group) => group.deliver(events)));
    return answer;
  }

  #read(stretch: Omit<Stretch, 'limit'>): Promise<FeedPortion> {
    return readPortion(this.app, this.account, { ...stretch, limit: batch });
  }

  /**
   * Joins the group of a key: at once for what is still to come, or after a replay of all that came after a position.
   * Returns the way out.
   */
  join(key: string, shared: Shared, sink: Sink, { after, isTold }: Beginning): () => void {
    // Nobody but a person has private records.
    const principal = shared.principalNow();
    const viewer = principal.userId ?? principal.id;
    const group = this.#groups.get(key) ?? new Group(this.app, this.turns, shared);
    this.#groups.set(key, group);
    group.holders++;
    const member: Member = { sink, viewer, from: this.#position, left: false };
    this.#members.add(member);
    if (after === undefined && !isTold) group.members.add(member);
    else void this.#begin(group, member, { after: after ?? this.#position, isTold });
    return () => {
      if (member.left) return;
      member.left = true;
      group.members.delete(member);
      this.#members.delete(member);
      if (--group.holders === 0 && this.#groups.get(key) === group) this.#groups.delete(key);
    };
  }

  /** Tells the member where it begins, where that is asked for, and then what came after it. */
  async #begin(group: Group, member: Member, { after, isTold }: { after: bigint; isTold: boolean }): Promise<void> {
    while (isTold && !member.left && !this.#closed) {
      try {
        if (await this.#tell(group, member, readyAt(group.shared.principalNow().account, after, this.app.clock))) break;
        return;
      } catch (error) {
        await this.#rest(error);
      }
    }
    await this.#replay(group, member, after);
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
        await this.#rest(error);
      }
    }
  }

  /** Sends one event. Answers whether the member is still there. */
  async #tell(group: Group, member: Member, event: ToldEvent): Promise<boolean> {
    const { result, refusal } = await group.told(event);
    if (member.left) return false;
    if (refusal) member.sink.fail(refusal);
    else member.sink.send(result, event.id);
    return !refusal;
  }

  /** After a fault of the database. */
  #rest(error: unknown): Promise<void> {
    warnThrottled(this.app, error, 'a feed could not be replayed');
    return pause(retryMs);
  }

  /** Sends one batch at the reader's pace. Answers how far the member has come, also when he left on the way. */
  async #resend(group: Group, member: Member, after: bigint, upTo: bigint): Promise<bigint> {
    const { names } = group.shared.wanted;
    const { events, more } = await this.#read({ after, upTo, names });
    for (const event of group.chosen(events)) {
      if (!isFor(member, event)) continue;
      if (!(await this.#tell(group, member, event))) return after;
      await member.sink.drained();
    }
    return more ? BigInt(events.at(-1)!.id) : upTo;
  }
}
