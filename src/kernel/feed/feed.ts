import { Arg, Extensions, ID, Subscription } from 'type-graphql';
import { AppError, check, denied, invalidField } from '../base/errors.js';
import type { Context, Principal } from '../context/context.js';
import type { Database } from '../database/index.js';
import { sql } from '../database/sql.js';
import type { Changes } from '../events/facts.js';
import { isUuid } from '../model/checks.js';
import { Page, pageSize } from '../model/connection.js';

/**
 * The ordered feed of an account: its events, numbered without gaps by the relay in the order in which they were
 * committed. The number is the event's position; who remembers the last one he saw misses nothing.
 */

/** An event as the feed gives it. */
export interface FeedEvent {
  /** The position, a decimal string. */
  id: string;
  /** The event's own id, which webhooks carry. */
  eventId: string;
  name: string;
  createdAt: Date;
  /** "contact" */
  entityType: string;
  entityId: string;
  changes: Changes | null;
  /** The record as it was then. */
  data: Record<string, unknown>;
}

/** Which events of the account are wanted. */
export interface Wanted {
  /** Only events of these names; null for all. */
  names: string[] | null;
  /** And of those, which. */
  matches?: (event: FeedEvent) => boolean;
}

/** The wake that tells an account's readers of the end of its feed. */
export const feedWake = (account: string) => `feed:${account}`;

/** How long the feed keeps an event. */
export const keptDays = 30;
const keptMs = keptDays * 24 * 60 * 60 * 1000;

/** The moment before which events are no longer kept. */
export const keptSince = (now: Date) => new Date(now.getTime() - keptMs);

/** Where an account's feed begins and ends. */
export interface Extent {
  /** The position before the first event that is kept. */
  floor: bigint;
  /** The position of the last event; 0 before the first. */
  head: bigint;
}

/** Where the feed of the account begins and ends now. */
export async function extentOf(database: Database, account: string, now: Date): Promise<Extent> {
  const { rows } = await database.execute(
    `select coalesce(h.pos, 0)::text as head,
       greatest(
         coalesce((select min(pos) - 1 from outbox_events where account_id = $1::uuid), h.pos, 0),
         coalesce((select max(pos) from outbox_events where account_id = $1::uuid and created_at < $2::timestamptz), 0)
       )::text as floor
     from (select 1) one left join feed_heads h on h.account_id = $1::uuid`,
    [account, keptSince(now).toISOString()],
  );
  const [extent] = rows as { head: string; floor: string }[];
  return { head: BigInt(extent!.head), floor: BigInt(extent!.floor) };
}

/** The last positions in the feeds of some accounts. */
export async function headsOf(database: Database, accounts: string[]): Promise<{ account: string; head: string }[]> {
  const { rows } = await database.execute(
    'select account_id as account, pos::text as head from feed_heads where account_id = any($1::uuid[])',
    [accounts],
  );
  return rows as { account: string; head: string }[];
}

const position = /^\d{1,18}$/;

/** A position as a caller gave it. Throws 400 when it is none. */
export function positionOf(after: string): bigint {
  check(position.test(after), () => invalidField('after', 'must be a position of the feed: a decimal number'));
  return BigInt(after);
}

/**
 * The position to go on after: "0" is all that is kept. Throws 400 beyond the end of the feed, and 410 for one whose
 * successors are no longer all kept.
 */
export function startAfter(after: bigint, { floor, head }: Extent): bigint {
  check(after <= head, () => invalidField('after', 'is beyond the end of the feed'));
  check(after === 0n || after >= floor, () => new AppError('gone', `after is older than the ${keptDays} days that are kept; start again`));
  return after > floor ? after : floor;
}

/** A stretch of the feed: after one position, up to another. */
export interface Stretch {
  after: bigint;
  upTo: bigint;
  names: string[] | null;
  limit: number;
}

/** The events of a stretch, the oldest first. */
export async function readFeed(database: Database, account: string, { after, upTo, names, limit }: Stretch): Promise<FeedEvent[]> {
  const events = sql`
    select pos::text as id, id as "eventId", name, created_at as "createdAt", entity_type as "entityType", entity_id as "entityId", changes, data
    from outbox_events
    where account_id = ${account}::uuid and pos > ${after.toString()}::bigint and pos <= ${upTo.toString()}::bigint
      and (${names}::text[] is null or name = any(${names}::text[]))
    order by pos limit ${limit}::int`;
  const [text] = await database.planned(sql`select coalesce(json_agg(e order by e.id::bigint), '[]')::text from (${events}) e`);
  const rows = JSON.parse(text!) as (FeedEvent & { createdAt: string })[];
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));
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

/** How many events of these names the feed keeps; positions have no gaps, so all of them need no counting. */
async function countFeed(database: Database, account: string, { floor, head }: Extent, names: string[] | null): Promise<number> {
  if (!names) return Number(head - floor);
  const { rows } = await database.execute(
    'select count(*)::int as n from outbox_events where account_id = $1::uuid and pos > $2::bigint and pos <= $3::bigint and name = any($4::text[])',
    [account, floor.toString(), head.toString(), names],
  );
  return (rows as { n: number }[])[0]!.n;
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
  check(asked.length > 0, () => invalidField('names', 'must name at least one event'));
  for (const name of asked) {
    check(events.has(name), () => invalidField('names', `names no event: ${name.slice(0, 100)}`));
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
      check(isUuid(id), () => invalidField(argument, 'must be a UUID'));
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
