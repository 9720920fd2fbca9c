import { Arg, Extensions, ID, Subscription } from 'type-graphql';
import { mayUse } from '../access/access.js';
import { check, denied, invalidField } from '../base/errors.js';
import type { Context, Principal } from '../context/context.js';
import { countFeed, extentOf, type FeedEvent, keptDays, positionOf, readFeed, startAfter } from '../events/feedStore.js';
import { mostCounted, Page, pageSize, type TotalCount } from '../model/connection.js';
import { EventKind, ready } from './eventFields.js';

/** Which events of the account are wanted. */
export interface Wanted {
  /** Only events of these names; null for all. */
  names: string[] | null;
  /** And of those, which. */
  matches?: (event: FeedEvent) => boolean;
  /** Whether what the record shows depends on who asks: then each person is served alone. */
  byPerson?: boolean;
  /** How an event is told; as it is by default. */
  shows?: (event: FeedEvent) => FeedEvent;
  /** Whether what belongs to one batch is told as one event, as far as it is read at one moment. */
  batches?: boolean;
}

/** What events are chosen by, besides where to begin. */
export interface Choice {
  names?: readonly string[] | null;
  kinds?: readonly string[] | null;
}

/** What a page of the feed is asked for with. */
export interface FeedArgs extends Choice {
  after?: string | null;
  first?: number | null;
  perPage?: number | null;
  count?: TotalCount | null;
  selection: ReadonlySet<string>;
}

/** A page of the feed, and where to go on. */
export interface FeedPage extends Page<FeedEvent> {
  /** The position to ask after next: that of its last event, and of the end of the feed where nothing more is wanted. */
  position: string;
}

/** A page of the caller's feed, the oldest event first; without `after` from the first that is kept. */
export async function pageOfFeed(ctx: Context, args: FeedArgs): Promise<FeedPage> {
  const { database } = ctx.app;
  const viewer = ctx.person;
  const account = ctx.caller.account.id;
  const names = visibleNames(ctx, chosenNames(ctx, args));
  const after = positionOf(args.after ?? '0');
  const extent = await extentOf(database, account, ctx.now());
  const start = startAfter(after, extent);
  const size = pageSize(args);
  const { mostBytes } = ctx.request;
  const events = await readFeed(ctx.app, account, { after: start, upTo: extent.head, names, limit: size + 1, viewer, mostBytes });
  const most = args.count === 'estimated' ? mostCounted : null;
  const total = args.selection.has('totalCount') ? await countFeed(database, account, extent, { names, viewer, most }) : null;
  const shown = events.slice(0, size);
  const more = { next: events.length > size, previous: start > extent.floor };
  const position = more.next ? shown.at(-1)!.id : extent.head.toString();
  return Object.assign(new Page(shown, (event) => event.id, more, total), { position });
}

/** The names that are asked for, by name and by kind; where both are given, those that are in both. Null for all. */
export function chosenNames({ app }: Context, { names, kinds }: Choice): string[] | null {
  for (const [argument, asked] of Object.entries({ names, kinds })) {
    check(!asked || asked.length > 0, () => invalidField(argument, 'too_few', 'must name at least one event'));
  }
  check(!kinds?.includes(ready), () => invalidField('kinds', 'not_allowed', 'names no event: ask for it with ready: true'));
  for (const name of names ?? []) {
    check(app.registry.events.has(name), () => invalidField('names', 'not_allowed', `names no event: ${name.slice(0, 100)}`));
  }
  if (!names) return kinds ? [...new Set(kinds)] : null;
  return [...new Set(names)].filter((name) => !kinds || kinds.includes(name));
}

/**
 * The names of the events that the caller gets: those asked for (403 where one must not be seen), else all that may be. Null for every
 * event there is.
 */
export function visibleNames(ctx: Context, asked: readonly string[] | null): string[] | null {
  const { events } = ctx.app.registry;
  const may = (name: string) => mayUse(ctx.caller, events.get(name)!.access);
  if (!asked) {
    const visible = [...events.keys()].filter(may);
    return visible.length < events.size ? visible : null;
  }
  for (const name of asked) check(may(name), () => refusal(ctx, name));
  return [...asked];
}

function refusal({ app, caller }: Context, name: string) {
  const { scope, role = 'member' } = app.registry.events.get(name)!.access;
  if (caller.kind === 'key') return denied(scope ? `This API key lacks the scope ${scope} for ${name}` : `API keys may not see ${name}`);
  return denied(`${name} needs the role ${role}`);
}

/** What decides which events a caller sees, and what a document shows him of them. */
export function rightsOf({ account, kind, role, permissions = [], tier, scopes }: Principal): string {
  return JSON.stringify([account.id, kind, role, [...permissions].sort(), tier, scopes && [...scopes].sort()]);
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
  // Whoever executes the schema without a transport has no feed: it is read once for all subscribers (graphql/subscriptions.ts).
  const subscribe = () => {
    throw new Error('Subscriptions are served over WebSocket and Server-Sent Events');
  };
  return (target: object, method: string | symbol, descriptor: PropertyDescriptor) => {
    Subscription(type as ReturnTypeFunc, { ...options, subscribe })(target, method, descriptor);
    Extensions({ wanted })(target, method as string);
  };
}

/** Which events by name. */
export const NamesArg = (description = 'Only events of these names') => Arg('names', () => [String], { nullable: true, description });

/** Which events by kind. */
export const KindsArg = (description = 'Only events of these kinds') => Arg('kinds', () => [EventKind], { nullable: true, description });

/** Whether a batch is one event. */
export const BatchesArg = () =>
  Arg('batches', () => Boolean, {
    nullable: true,
    description:
      'Whether changes of one bulk edit or import that come at one moment are told as one event: its last, with the others in batch',
  });

/** Where a subscription begins: absent only with what is still to come. */
export const AfterArg = () =>
  Arg('after', () => ID, {
    nullable: true,
    description: `Goes on after this position, then live; "0" is all of the last ${keptDays} days; absent, or "latest", only what is still to come`,
  });

/** Whether a subscription says where it begins. */
export const ReadyArg = () =>
  Arg('ready', () => Boolean, {
    nullable: true,
    description:
      'Whether the first event is of the kind ready: every event after its id is going to come. What is read from then on misses nothing',
  });

/** How a subscription's root field chooses its events. */
export const wantedBy = (field: { extensions: Readonly<Record<string, unknown>> }) => field.extensions.wanted as Choose | undefined;
