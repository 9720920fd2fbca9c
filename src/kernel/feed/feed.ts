import { Arg, Extensions, ID, Subscription } from 'type-graphql';
import { check, denied, invalidField } from '../base/errors.js';
import type { Context, Principal } from '../context/context.js';
import { countFeed, extentOf, type FeedEvent, keptDays, positionOf, readFeed, startAfter } from '../events/feedStore.js';
import { isUuid } from '../model/checks.js';
import { Page, pageSize } from '../model/connection.js';

/** Which events of the account are wanted. */
export interface Wanted {
  /** Only events of these names; null for all. */
  names: string[] | null;
  /** And of those, which. */
  matches?: (event: FeedEvent) => boolean;
}

/** What a page of the feed is asked for with. */
export interface FeedArgs {
  names?: string[] | null;
  after?: string | null;
  first?: number | null;
  perPage?: number | null;
  selection: ReadonlySet<string>;
}

/** A page of the caller's feed, the oldest event first; without `after` from the first that is kept. */
export async function pageOfFeed(ctx: Context, args: FeedArgs): Promise<Page<FeedEvent>> {
  const { database } = ctx.app;
  const account = ctx.caller.account.id;
  const names = visibleNames(ctx, args.names);
  const after = positionOf(args.after ?? '0');
  const extent = await extentOf(database, account, ctx.now());
  const start = startAfter(after, extent);
  const size = pageSize(args);
  const events = await readFeed(database, account, { after: start, upTo: extent.head, names, limit: size + 1 });
  const total = args.selection.has('totalCount') ? await countFeed(database, account, extent, names) : null;
  const more = { next: events.length > size, previous: start > extent.floor };
  return new Page(events.slice(0, size), (event) => event.id, more, total);
}

/**
 * The names of the events that the caller gets: those asked for, which must exist and lie in the key's scopes (400, 403),
 * else all that lie in them. Null for every event there is.
 */
export function visibleNames(ctx: Context, asked: readonly string[] | null | undefined): string[] | null {
  const { events } = ctx.app.registry;
  const { scopes } = ctx.caller;
  const may = (name: string) => !scopes || scopes.includes(events.get(name) ?? '');
  if (!asked) return scopes ? [...events.keys()].filter(may) : null;
  check(asked.length > 0, () => invalidField('names', 'too_few', 'must name at least one event'));
  for (const name of asked) {
    check(events.has(name), () => invalidField('names', 'not_allowed', `names no event: ${name.slice(0, 100)}`));
    check(may(name), () => denied(`This API key lacks the scope ${events.get(name)} for ${name}`));
  }
  return [...new Set(asked)];
}

/**
 * Chooses the events about one type of record. `keys` says what an argument is compared with: the record's id
 * (`entityId`), or a field of the record as it was then or, where the event changed it, before.
 */
export function about(entityType: string, keys: Record<string, string> = {}): Choose {
  return (ctx, args) => {
    const names = [...ctx.app.registry.events.keys()].filter((name) => name.startsWith(`${entityType}.`));
    const given = Object.entries(keys).filter(([argument]) => args[argument] !== undefined && args[argument] !== null);
    const wanted = given.map(([argument, field]) => {
      const id = String(args[argument]);
      check(isUuid(id), () => invalidField(argument, 'invalid_format', 'must be a UUID'));
      return { field, id: id.toLowerCase() };
    });
    // Who watches a column is told of what leaves it as well.
    const idsOf = (event: FeedEvent, field: string) =>
      field === 'entityId' ? [event.entityId] : [event.data[field], event.changes?.[field]?.from];
    const matches = (event: FeedEvent) => wanted.every(({ field, id }) => idsOf(event, field).includes(id));
    return { names: visibleNames(ctx, names), matches };
  };
}

/** What decides which events a caller sees, and what a document shows him of them. */
export function rightsOf({ account, kind, role, tier, scopes }: Principal): string {
  return JSON.stringify([account.id, kind, role, tier, scopes && [...scopes].sort()]);
}

type Choose = (ctx: Context, args: Record<string, unknown>) => Wanted;

interface FeedOptions {
  /** The field's name, where it is not the method's. */
  name?: string;
  description: string;
  wanted: Choose;
}

type ReturnTypeFunc = Extract<Parameters<typeof Subscription>[0], (...args: never[]) => unknown>;

/** A subscription over the feed: `wanted` says which events its arguments ask for; its method gets one event and answers it. */
export function FeedOf(type: () => unknown, { wanted, ...options }: FeedOptions): MethodDecorator {
  // Whoever executes the schema without a door has no feed: the doors read it once for all subscribers (graphql/subscriptions.ts).
  const subscribe = () => {
    throw new Error('Subscriptions are served over WebSocket and Server-Sent Events');
  };
  return (target: object, method: string | symbol, descriptor: PropertyDescriptor) => {
    Subscription(type as ReturnTypeFunc, { ...options, subscribe })(target, method, descriptor);
    Extensions({ wanted })(target, method as string);
  };
}

/** Where a subscription begins: absent only with what is still to come. */
export const AfterArg = () =>
  Arg('after', () => ID, {
    nullable: true,
    description: `Goes on after this position, then live; "0" is all of the last ${keptDays} days; absent only what is still to come`,
  });

/** How a subscription's root field chooses its events. */
export const wantedBy = (field: { extensions: Readonly<Record<string, unknown>> }) => field.extensions.wanted as Choose | undefined;
