import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { allow } from '../kernel/access/access.js';
import { badRequest } from '../kernel/base/errors.js';
import type { App, Context } from '../kernel/context/context.js';
import { extentOf, feedWake, headsOf, positionOf, startAfter } from '../kernel/events/feedStore.js';
import { rightsOf, wantedBy } from '../kernel/feed/feed.js';
import type { Operation } from '../kernel/operations/operation.js';
import { AccountFeed, type Sink } from './subscriptions.feed.js';

/** Between two looks where wakes may not arrive, and between two where they do. */
const pollMs = 250;
const safetyMs = 1000;

/** A validated subscription as it came. */
export interface Request {
  operation: Operation;
  document: DocumentNode;
  operationName?: string | null;
  variables: Record<string, unknown>;
  /** The position to go on after, where the transport knows it (SSE's Last-Event-ID). */
  resumeAfter?: string;
}

/** An account's feed while there are subscriptions to it. */
interface Held {
  feed: Promise<AccountFeed>;
  holders: number;
  /** Ends the listening for its wakes. */
  leave: () => void;
}

/** All live subscriptions of this process, whichever door they came through. */
export class Subscriptions {
  readonly #feeds = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;
  #looked = 0;
  #polling = false;
  /** How many there are. */
  count = 0;

  constructor(
    private readonly app: App,
    private readonly schema: GraphQLSchema,
  ) {
    this.#timer = setInterval(() => void this.#poll(), pollMs).unref();
  }

  /**
   * Begins a subscription and returns its end. Throws 401 and 403 as any operation does, 400 for arguments that do not fit,
   * 410 for a position that is no longer kept.
   */
  async open(ctx: Context, request: Request, sink: Sink): Promise<() => void> {
    const { operation, variables } = request;
    allow(ctx, operation.needs);
    operation.coerce(variables);
    const { principal, app } = ctx;
    if (!principal) throw badRequest('A subscription needs an account');
    const { field, args, own } = this.#read(request);
    const wanted = wantedBy(field)!(ctx, args);
    const after = request.resumeAfter ?? (args.after as string | null | undefined) ?? undefined;
    const position = after === undefined ? undefined : positionOf(after);
    const account = principal.account.id;
    const held = this.#hold(account);
    try {
      const feed = await held.feed;
      const start = position === undefined ? undefined : startAfter(position, await extentOf(app.database, account, app.clock.now()));
      const who = wanted.byPerson ? `${rightsOf(principal)} ${principal.userId}` : rightsOf(principal);
      const key = `${who} ${operation.id} ${JSON.stringify(own)}`;
      const leave = feed.join(key, { operation, variables, principal, wanted }, sink, start);
      this.count++;
      return once(() => {
        leave();
        this.count--;
        this.#release(account, held);
      });
    } catch (error) {
      this.#release(account, held);
      throw error;
    }
  }

  /** The root field, its arguments, and the variables that tell subscribers of one document apart. */
  #read({ document, operationName, variables }: Request) {
    const definition = getOperationAST(document, operationName)!;
    const node = rootField(document, definition.selectionSet);
    const field = node && this.schema.getSubscriptionType()?.getFields()[node.name.value];
    if (!node || !field) throw badRequest('A subscription selects one field of the type Subscription');
    const { coerced } = getVariableValues(this.schema, definition.variableDefinitions ?? [], variables);
    const args = getArgumentValues(field, node, coerced);
    return { field, args, own: withoutPosition(document, node, coerced ?? {}) };
  }

  #hold(account: string): Held {
    const held = this.#feeds.get(account) ?? this.#open(account);
    this.#feeds.set(account, held);
    held.holders++;
    return held;
  }

  #open(account: string): Held {
    const { app } = this;
    let feed: AccountFeed | undefined;
    // Before the look for the end of the feed, so that what comes between is not missed.
    const leave = app.channel.subscribe(feedWake(account), (head) => feed?.wake(head));
    const opening = extentOf(app.database, account, app.clock.now()).then(({ head }) => {
      feed = new AccountFeed(app, account, head);
      feed.wake('');
      return feed;
    });
    return { feed: opening, holders: 0, leave };
  }

  #release(account: string, held: Held) {
    if (--held.holders > 0) return;
    if (this.#feeds.get(account) === held) this.#feeds.delete(account);
    held.leave();
    held.feed.then(
      (feed) => feed.close(),
      () => {},
    );
  }

  /** Looks where the feeds end: wakes only make it faster. */
  async #poll(): Promise<void> {
    const { channel, database, log } = this.app;
    const rest = channel.connected ? safetyMs : pollMs;
    if (this.#polling || this.#feeds.size === 0 || Date.now() - this.#looked < rest - pollMs / 2) return;
    this.#polling = true;
    try {
      for (const { account, head } of await headsOf(database, [...this.#feeds.keys()])) {
        void this.#feeds.get(account)?.feed.then((feed) => feed.wake(head));
      }
    } catch (error) {
      log.warn({ err: error }, 'the ends of the feeds could not be read');
    } finally {
      this.#looked = Date.now();
      this.#polling = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

/** The one field of a subscription, looked for in fragments too. */
function rootField(document: DocumentNode, { selections }: SelectionSetNode): FieldNode | undefined {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) return selection;
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : document.definitions.find((d) => d.kind === Kind.FRAGMENT_DEFINITION && d.name.value === selection.name.value);
    const found = fragment && 'selectionSet' in fragment && fragment.selectionSet && rootField(document, fragment.selectionSet);
    if (found) return found;
  }
  return undefined;
}

/**
 * The variables without the one that is only the position to go on after: subscribers who came back at different times
 * are one group again once they have caught up.
 */
function withoutPosition(document: DocumentNode, node: FieldNode, variables: Record<string, unknown>): Record<string, unknown> {
  const value = node.arguments?.find((argument) => argument.name.value === 'after')?.value;
  if (value?.kind !== Kind.VARIABLE) return variables;
  const name = value.name.value;
  let uses = 0;
  visit(document, { Variable: (variable) => void (variable.name.value === name && uses++) });
  // Its definition and this one place.
  if (uses > 2) return variables;
  const { [name]: _position, ...rest } = variables;
  return rest;
}
