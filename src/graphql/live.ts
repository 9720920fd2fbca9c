import { type GraphQLObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { Budget } from '../kernel/base/budget.js';
import { AppError, badRequest, internalError } from '../kernel/base/errors.js';
import { nextTurn, pause } from '../kernel/base/eventLoop.js';
import type { TurnQueue } from '../kernel/base/turnQueue.js';
import { type App, Context, type Principal } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { fromDatabase } from '../kernel/database/errors.js';
import type { FeedEvent } from '../kernel/events/feedStore.js';
import { causeOf, type Operation, run } from '../kernel/operations/operation.js';
import { EqualityFilters, QueryDependencies } from './live.dependencies.js';
import type { LivePlan } from './live.plan.js';
import { type ClientState, clientStateOf, isSame, listText, type ReadList, readLists } from './live.rows.js';
import { Message } from './message.js';
import { Patience } from './patience.js';
import type { AccountFeed } from './subscriptions.feed.js';
import { retryMs, type Sink, sentInOneTurn } from './subscriptions.group.js';

/** A state this young is given to who comes: what was committed before is in it, but for a moment. */
const freshMs = 50;

/** What a subscriber has of each list, by its key. */
export type ClientStates = ReadonlyMap<string, ClientState>;

/** What the live query came to at one moment. Somebody who has an older one is told what became of it. */
class State {
  readonly had: ClientStates;
  readonly #messages = new WeakMap<object, Message>();

  constructor(
    readonly lists: ReadonlyMap<string, ReadList>,
    readonly position: string,
  ) {
    this.had = new Map([...lists].map(([key, list]) => [key, clientStateOf(list)]));
  }

  /** The message that makes of what somebody has what it is now; the same one for all who have the same. */
  messageFrom(had: ClientStates, print: (had: ClientStates) => string): Message {
    const message = this.#messages.get(had) ?? new Message(print(had));
    this.#messages.set(had, message);
    return message;
  }
}

interface Member {
  sink: Sink;
  had: ClientStates;
  /** What was sent last; none before the first message. */
  sent?: State;
  isSending: boolean;
  left: boolean;
}

/** What the subscribers of one live query have in common. */
export interface LiveShared {
  schema: GraphQLSchema;
  plan: LivePlan;
  query: Operation;
  variables: Record<string, unknown>;
  /** Whose rights it goes by, in the account as it is now: one read asks once, as it begins. */
  principalNow: () => Principal;
  cost: number;
}

/**
 * A live query of one account and one set of rights: it is run once for all who ask it, when they come and when something
 * happened that may concern it. Each subscriber is told what became of that which he has, at his own pace: who is slow is told of
 * several changes at once.
 */
export class LiveQuery {
  readonly #members = new Set<Member>();
  #state?: State;
  /** How often it was to be read anew: what was being read then is of before. */
  #refreshes = 0;
  #ranAt = 0;
  #isRunning = false;
  #isDirty = true;
  #dependencies: QueryDependencies;
  readonly #patience: Patience;
  #lists: readonly EqualityFilters[];

  constructor(
    private readonly app: App,
    private readonly turns: TurnQueue,
    private readonly shared: LiveShared,
    /** The last position whose events are known to be in the database. */
    private readonly position: () => bigint,
  ) {
    this.#patience = new Patience(app.database);
    this.#lists = this.#filters();
    this.#dependencies = new QueryDependencies(app, this.#lists);
  }

  #filters(): EqualityFilters[] {
    const { plan, principalNow } = this.shared;
    const ctx = new Context(this.app, { id: 'live', ip: '127.0.0.1' }, principalNow());
    return plan.lists.map((list) => new EqualityFilters(ctx, list));
  }

  get accountId(): string {
    return this.shared.principalNow().account.id;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Somebody who has this of it comes. Returns the way out. */
  join(sink: Sink, had: ClientStates): () => void {
    const member: Member = { sink, had, isSending: false, left: false };
    this.#members.add(member);
    const isFresh = this.#state && !this.#isDirty && !this.#isRunning && performance.now() - this.#ranAt <= freshMs;
    if (isFresh) this.#tell(member, this.#state!);
    else this.#isDirty = true;
    this.#go();
    return () => {
      member.left = true;
      this.#members.delete(member);
    };
  }

  /** These events happened. */
  deliver(events: readonly FeedEvent[]): void {
    if (this.#isRunning || events.some((event) => this.#dependencies.isBy(event))) this.#isDirty = true;
    this.#go();
  }

  /** What it was made of may be lost: all of it is read anew, and who has more is told what is not there any more. */
  refresh(): void {
    this.#state = undefined;
    this.#refreshes++;
    this.#isDirty = true;
    this.#go();
  }

  /** The account is another now: by its time zone and its country other records may be found, and shown otherwise. */
  reread(): void {
    this.#lists = this.#filters();
    this.#isDirty = true;
    this.#go();
  }

  #go(): void {
    if (!this.#isRunning) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDirty && this.#members.size > 0) {
      this.#isDirty = false;
      const position = this.position().toString();
      const refreshes = this.#refreshes;
      try {
        const lists = await this.turns.run(this.accountId, () => this.#read());
        this.#ranAt = performance.now();
        this.#patience.restore();
        if (refreshes !== this.#refreshes) continue;
        if (!this.#state || !isSameState(this.#state.lists, lists)) this.#state = new State(lists, position);
        await this.#send(this.#state);
      } catch (error) {
        this.#isDirty = true;
        await this.#fault(error);
      }
    }
    this.#isRunning = false;
  }

  async #read(): Promise<ReadonlyMap<string, ReadList>> {
    // Who reads from the embedded database never waits: without this the event loop would not turn between two of them.
    await nextTurn();
    const { query, variables, principalNow, cost, plan } = this.shared;
    const budget = new Budget(this.app.config.graphql, cost);
    const dependencies = new QueryDependencies(this.app, this.#lists);
    const request = { id: 'live', ip: '127.0.0.1', budget, reads: (text: string) => dependencies.note(text) };
    const ctx = new Context(this.app, request, principalNow());
    const { data, errors } = await run(query, ctx, variables);
    if (budget.refusal) throw budget.refusal;
    if (errors?.length || !data) throw (errors?.[0] && causeOf(errors[0])) ?? errors?.[0] ?? new Error('a live query answered nothing');
    this.#dependencies = dependencies;
    const lists = readLists(plan.lists, data);
    budget.print([...lists.values()].reduce((sum, { rows }) => sum + rows.reduce((all, { text }) => all + text.length, 0), 0));
    return lists;
  }

  /** Waits where the database is away; ends the subscriptions where the document cannot be read, or takes too long each time. */
  async #fault(error: unknown): Promise<void> {
    const known = error instanceof AppError ? error : fromDatabase(error);
    const reason = known ?? internalError();
    if (!known) this.app.log.error({ err: error }, 'a live query failed');
    if (reason.code !== 'unavailable') return this.#fail(reason);
    if (await this.#patience.isOver()) return this.#fail(badRequest('The live query takes too long: ask for less'));
    warnThrottled(this.app, error, 'a live query could not be read');
    await pause(retryMs);
  }

  #fail(reason: AppError): void {
    for (const member of [...this.#members]) {
      member.left = true;
      this.#members.delete(member);
      member.sink.fail(reason);
    }
  }

  async #send(state: State): Promise<void> {
    let sent = 0;
    for (const member of this.#members) {
      sent += this.#tell(member, state);
      if (sent < sentInOneTurn) continue;
      sent = 0;
      await nextTurn();
    }
  }

  /** Sends somebody what became of what he has, unless he is still taking what was sent before. Answers how much was sent. */
  #tell(member: Member, state: State): number {
    if (member.left || member.isSending || member.sent === state) return 0;
    // His socket may be full of what others of his live queries sent.
    if (member.sink.isCrowded()) return this.#awaitReader(member);
    const message = state.messageFrom(member.had, (had) => this.#print(state, had));
    member.sent = state;
    member.had = state.had;
    member.sink.send(message, state.position);
    if (member.sink.isCrowded()) this.#awaitReader(member);
    return message.length;
  }

  /** Tells somebody once he has taken what was sent to him. Nothing is sent by then. */
  #awaitReader(member: Member): 0 {
    member.isSending = true;
    void member.sink.drained().then(() => {
      member.isSending = false;
      // What happened while he was taking it.
      if (this.#state) this.#tell(member, this.#state);
    });
    return 0;
  }

  #print({ lists, position }: State, had: ClientStates): string {
    const { plan, schema } = this.shared;
    const live = schema.getType('Live') as GraphQLObjectType;
    const members = plan.members.map(({ key, name, list }) => {
      const value = list
        ? listText(list, lists.get(key)!, had.get(key), getNamedType(live.getFields()[name]!.type).name)
        : JSON.stringify(name === 'position' ? position : 'Live');
      return `"${key}":${value}`;
    });
    return `{"data":{"${plan.key}":{${members.join()}}}}`;
  }
}

/** The live queries that somebody watches, each once. */
export class LiveQueries {
  readonly #running = new Map<string, { query: LiveQuery; leave: () => void }>();

  constructor(
    private readonly app: App,
    private readonly turns: TurnQueue,
  ) {}

  /** Joins the live query of a key, which begins with its first subscriber. Returns the way out. */
  join(feed: AccountFeed, key: string, shared: LiveShared, sink: Sink, had: ClientStates): () => void {
    const running = this.#running.get(key) ?? this.#begin(feed, shared);
    this.#running.set(key, running);
    const leave = running.query.join(sink, had);
    return () => {
      leave();
      if (running.query.size > 0 || this.#running.get(key) !== running) return;
      this.#running.delete(key);
      running.leave();
    };
  }

  /** Reads those of an account again, which is another now. */
  reread(accountId: string): void {
    for (const { query } of this.#running.values()) if (query.accountId === accountId) query.reread();
  }

  #begin(feed: AccountFeed, shared: LiveShared) {
    const query = new LiveQuery(this.app, this.turns, shared, () => feed.position);
    const leave = feed.watch(
      (events) => query.deliver(events),
      () => query.refresh(),
    );
    return { query, leave };
  }
}

function isSameState(one: ReadonlyMap<string, ReadList>, other: ReadonlyMap<string, ReadList>): boolean {
  return [...one].every(([key, list]) => isSame(list, other.get(key)!));
}
