import { isDeepStrictEqual } from 'node:util';
import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isAbstractType,
  isObjectType,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { badRequest } from '../kernel/base/errors.js';
import { TurnQueue } from '../kernel/base/turnQueue.js';
import type { AccountInfo, App, Context, Principal } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { extentOf, feedWake, positionOf, startAfter } from '../kernel/events/feedStore.js';
import { rightsOf, wantedBy } from '../kernel/feed/feed.js';
import { printerOf } from '../kernel/lists/printer.js';
import { compile, type Operation } from '../kernel/operations/operation.js';
import { clientStatesIn } from './live.clientState.js';
import { LiveQueries } from './live.js';
import { planLive } from './live.plan.js';
import { callerOf } from './subscriptions.callers.js';
import { LiveCosts } from './subscriptions.costs.js';
import { AccountFeed, type Beginning } from './subscriptions.feed.js';
import type { Sink } from './subscriptions.group.js';
import { lookAtHeads } from './subscriptions.heads.js';
import { rootField, withoutPosition } from './subscriptions.root.js';

/** Between two looks where wakes may not arrive, and between two where they do. */
const pollMs = 250;
const safetyMs = 1000;
/** Accounts for which an event is executed at one time: most connections to the database are left to requests. */
const accountsAtATime = 4;

/** A validated subscription as it came. */
export interface Request {
  operation: Operation;
  document: DocumentNode;
  operationName?: string | null;
  variables: Record<string, unknown>;
  /** How many records it may read at each event. */
  cost: number;
  /** The position to go on after, where the transport knows it (SSE's Last-Event-ID). */
  resumeAfter?: string;
}

/** What a subscription's root field is asked with. */
interface Read {
  args: Record<string, unknown>;
  /** The variables, with the defaults of those that were not given. */
  coerced: Record<string, unknown>;
  /** The variables that tell subscribers of one document apart. */
  own: Record<string, unknown>;
}

// Saved filters may be somebody's own, and filters name them.
const savedFilters = /viewId|smartListId/;

/** An account's feed while there are subscriptions to it. */
interface Held {
  /** The account as it was seen last: what is shared goes by its time zone and its country, whoever began it. */
  account: AccountInfo;
  feed: Promise<AccountFeed>;
  /** The feed, once it is there. */
  opened?: AccountFeed;
  holders: number;
  /** Ends the listening for its wakes. */
  leave: () => void;
}

/** Joins what is shared; `principalNow` answers whose it is, in the account as it was seen last. */
type Join = (feed: AccountFeed, principalNow: () => Principal) => Promise<() => void>;

/** All live subscriptions of this process, whichever transport they came through. */
export class Subscriptions {
  readonly #feeds = new Map<string, Held>();
  readonly #costs: LiveCosts;
  /** Events are executed for several accounts at a time, one of an account: whoever has many heavy subscriptions waits for himself. */
  readonly #turns = new TurnQueue(accountsAtATime);
  readonly #live: LiveQueries;
  readonly #timer: NodeJS.Timeout;
  /** When it was looked last, by `performance.now()`: the clock of the day may be set back. */
  #looked = Number.NEGATIVE_INFINITY;
  #polling = false;
  /** How many there are. */
  count = 0;

  constructor(
    private readonly app: App,
    private readonly schema: GraphQLSchema,
  ) {
    this.#costs = new LiveCosts(app.config.graphql.liveCost);
    this.#live = new LiveQueries(app, this.#turns);
    this.#timer = setInterval(() => void this.#poll(), pollMs).unref();
  }

  /**
   * Begins a subscription and returns its end. Throws 401 and 403 by its access marks, 400 for arguments that do not fit,
   * 410 for a position that is no longer kept, 400 for more than all live subscriptions of the caller may cost. Null where directives
   * leave nothing of it: it is complete as it begins.
   */
  async open(ctx: Context, request: Request, sink: Sink): Promise<(() => void) | null> {
    const { operation, variables, cost } = request;
    operation.allow(ctx);
    operation.coerce(variables);
    const { principal, app } = ctx;
    if (!principal) throw badRequest('A subscription needs an account');
    const { field, isLeftIn, args, coerced, own } = this.#read(request);
    if (!isLeftIn) return null;
    if (field.extensions.isLive) return this.#openLive(ctx, request, sink, { args, coerced, own });
    const wanted = wantedBy(field)!(ctx, args);
    const after = request.resumeAfter ?? (args.after as string | null | undefined) ?? undefined;
    const position = after === undefined ? undefined : positionOf(after);
    const begin: Beginning = { isTold: args.ready === true };
    const accountId = principal.account.id;
    const key = `${this.#whose(principal, request, own, wanted.byPerson)} ${operation.id} ${JSON.stringify(own)}`;
    return this.#holding(principal, key, cost, async (feed, principalNow) => {
      if (position !== undefined) begin.after = startAfter(position, await extentOf(app.database, accountId, app.clock.now()));
      return feed.join(key, { operation, variables, principalNow, wanted, cost }, sink, begin);
    });
  }

  /** Begins a live query, whose documents are those of queries. */
  async #openLive(ctx: Context, request: Request, sink: Sink, { args, coerced, own }: Read): Promise<() => void> {
    const { document, operationName, operation, cost } = request;
    const principal = ctx.caller;
    const had = clientStatesIn(args.after);
    const plan = planLive(this.schema, document, operationName, coerced);
    const printer = printerOf(this.schema, plan.query);
    const query = compile(this.schema, plan.query, { printer });
    query.allow(ctx);
    query.coerce(request.variables);
    const { variables } = request;
    const key = `${this.#whose(principal, request, own)} ${operation.id} ${JSON.stringify(own)}`;
    const asked = { schema: this.schema, plan, query, variables, cost };
    return this.#holding(principal, key, cost, async (feed, principalNow) =>
      this.#live.join(feed, key, { ...asked, principalNow }, sink, had),
    );
  }

  /** Holds the feed of the account and what the subscription costs from its beginning to its end, which is returned. */
  async #holding(principal: Principal, key: string, cost: number, join: Join): Promise<() => void> {
    const accountId = principal.account.id;
    const giveBack = this.#costs.take(callerOf(principal), key, cost);
    const held = this.#hold(principal.account);
    try {
      const leave = await join(await held.feed, () => ({ ...principal, account: held.account }));
      this.count++;
      return once(() => {
        leave();
        this.count--;
        giveBack();
        this.#release(accountId, held);
      });
    } catch (error) {
      giveBack();
      this.#release(accountId, held);
      throw error;
    }
  }

  /** Those who see the same: all of the same rights, or one person alone where records or saved filters may be private. */
  #whose(principal: Principal, request: Request, own: object, byPerson = false): string {
    const isPersonal = byPerson || this.#showsPersonal(request) || savedFilters.test(`${print(request.document)} ${JSON.stringify(own)}`);
    return isPersonal ? `${rightsOf(principal)} ${principal.userId ?? principal.id}` : rightsOf(principal);
  }

  /** Whether a document shows records that not everybody of the same rights may see: then each person is served alone. */
  #showsPersonal({ document }: Request): boolean {
    const personal = new Set([...this.app.registry.events.values()].flatMap(({ of, byPerson }) => (byPerson ? [of.type] : [])));
    const types = new TypeInfo(this.schema);
    let shows = false;
    // Pages tell of their records, too, where none of these is selected: how many there are, and their ids.
    const isPersonal = (type: GraphQLNamedType): boolean =>
      personal.has(type.name) || (isAbstractType(type) ? this.schema.getPossibleTypes(type) : heldBy(type)).some(isPersonal);
    const enter = () => {
      const type = getNamedType(types.getType());
      if (type && isPersonal(type)) shows = true;
    };
    visit(document, visitWithTypeInfo(types, { enter }));
    return shows;
  }

  /** The root field, its arguments, and the variables that tell subscribers of one document apart. */
  #read({ document, operationName, variables }: Request) {
    const definition = getOperationAST(document, operationName)!;
    const { coerced = {} } = getVariableValues(this.schema, definition.variableDefinitions ?? [], variables);
    const { node, isLeftIn } = rootField(document, definition.selectionSet, coerced);
    const field = node && this.schema.getSubscriptionType()?.getFields()[node.name.value];
    if (!node || !field) throw badRequest('A subscription selects one field of the type Subscription');
    const args = getArgumentValues(field, node, coerced);
    return { field, isLeftIn, args, coerced, own: withoutPosition(document, node, coerced) };
  }

  /** How an account is now: where it was otherwise before, events are told by it from here on, and live queries are read again. */
  see(account: AccountInfo): void {
    const held = this.#feeds.get(account.id);
    if (!held || isDeepStrictEqual(held.account, account)) return;
    held.account = account;
    this.#live.reread(account.id);
  }

  #hold(account: AccountInfo): Held {
    const held = this.#feeds.get(account.id) ?? this.#open(account);
    this.#feeds.set(account.id, held);
    held.holders++;
    return held;
  }

  #open(account: AccountInfo): Held {
    const { app } = this;
    const accountId = account.id;
    let feed: AccountFeed | undefined;
    // Before the look for the end of the feed, so that what comes between is not missed.
    const deafen = app.channel.subscribe(feedWake(accountId), (head) => feed?.wake(head));
    const part = app.followed.follow(accountId, { give: (events) => feed?.give(events) });
    const leave = () => {
      deafen();
      part();
    };
    const opening = extentOf(app.database, accountId, app.clock.now()).then(({ head }) => {
      feed = new AccountFeed(app, this.#turns, { account: accountId, head });
      held.opened = feed;
      feed.wake('');
      return feed;
    });
    const held: Held = { account, feed: opening, holders: 0, leave };
    return held;
  }

  #release(accountId: string, held: Held) {
    if (--held.holders > 0) return;
    if (this.#feeds.get(accountId) === held) this.#feeds.delete(accountId);
    held.leave();
    held.feed.then(
      (feed) => feed.close(),
      () => {},
    );
  }

  /** Looks where the feeds end: wakes only make it faster. */
  async #poll(): Promise<void> {
    const rest = this.app.channel.connected ? safetyMs : pollMs;
    if (this.#polling || this.#feeds.size === 0 || performance.now() - this.#looked < rest - pollMs / 2) return;
    this.#polling = true;
    try {
      // Who opens one looks by himself.
      const feeds = [...this.#feeds.values()].flatMap(({ opened }) => opened ?? []);
      await lookAtHeads(this.app, feeds);
    } catch (error) {
      warnThrottled(this.app, error, 'the ends of the feeds could not be read');
    } finally {
      this.#looked = performance.now();
      this.#polling = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** The types of what pages and their edges hold. */
const heldBy = (type: GraphQLNamedType): GraphQLNamedType[] =>
  isObjectType(type) ? ['nodes', 'rows', 'node'].flatMap((name) => getNamedType(type.getFields()[name]?.type) ?? []) : [];

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
