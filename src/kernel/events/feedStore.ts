import { dayMs } from '../base/durations.js';
import { AppError, check, invalidField } from '../base/errors.js';
import type { Actor, Cause } from '../base/principal.js';
import { orItsBytes, whole } from '../database/bytes.js';
import type { Database } from '../database/index.js';
import { type Sql, sql } from '../database/sql.js';
import type { Sweep } from '../database/sweep.js';
import type { Changes } from './changes.js';
import type { RecordEvents } from './recordEvents.js';

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
  /** Identifies the change that the event tells of: the id of the change's first event. */
  changeId: string;
  name: string;
  /** The name once more, which GraphQL writes as a kind. */
  kind: string;
  /** The names of all events of the change, the most specific last. */
  names: string[];
  createdAt: Date;
  /** "Contact" */
  type: string;
  /** "contact" */
  entityType: string;
  entityId: string;
  /** Who did it. */
  actor: Actor;
  /** What the client called the mutation. */
  clientMutationId: string | null;
  /** The place in the trace of the request that did it. */
  traceparent: string | null;
  /** What the systems before this one say of that trace. */
  tracestate: string | null;
  /** The runs of workflows and automations behind it, the first one first. */
  causes: Cause[];
  /** The batch that the change belongs to. */
  batchId: string | null;
  /** The one person who may see it; null for everybody whose rights cover it. */
  onlyFor: string | null;
  changes: Changes | null;
  /** The record as it was then. */
  data: Record<string, unknown>;
}

/** What the feed is read from: the database, and what the declared events are about. */
export interface FeedSource {
  database: Database;
  registry: { events: ReadonlyMap<string, { of: RecordEvents }> };
}

/** The wake that tells an account's readers of the end of its feed. */
export const feedWake = (account: string) => `feed:${account}`;

/** How long the feed keeps an event. */
export const keptDays = 30;
const keptMs = keptDays * dayMs;

/** The moment before which events are no longer kept. */
const keptSince = (now: Date) => new Date(now.getTime() - keptMs);

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
         coalesce((select min(pos) - 1 from feed_positions where account_id = $1::uuid), h.pos, 0),
         coalesce((select max(p.pos) from outbox_events e join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
           where e.account_id = $1::uuid and e.created_at < $2::timestamptz), 0)
       )::text as floor
     from (select 1) one left join feed_heads h on h.account_id = $1::uuid`,
    [account, keptSince(now).toISOString()],
  );
  const [extent] = rows as { head: string; floor: string }[];
  return { head: BigInt(extent!.head), floor: BigInt(extent!.floor) };
}

/** The position of the last event that has its place, as part of a statement: what else that reads is never of before it. */
export const headSql = (account: string): Sql => sql`coalesce((select pos from feed_heads where account_id = ${account}::uuid), 0)`;

/** How far somebody has handed out the feed of an account, and the id of the event there where he knows it. */
export interface Reached {
  account: string;
  position: bigint;
  eventId?: string;
}

/** Where the feed of an account ends, and the id of the event at the position that was asked with, where one is kept there. */
export interface Head {
  account: string;
  head: string;
  eventId: string | null;
}

/** Where the feeds of some accounts end, and what is at these positions in them. */
export async function headsOf(database: Database, reached: readonly Reached[]): Promise<Head[]> {
  const { rows } = await database.execute(
    `select r.account, coalesce(h.pos, 0)::text as head, (
       select e.id from feed_positions p cross join lateral (
         select o.account_id, o.id from outbox_events o where o.seq = p.seq offset 0) e
       where p.account_id = r.account and p.pos = r.pos::bigint and e.account_id = p.account_id) as "eventId"
     from unnest($1::uuid[], $2::text[]) r(account, pos) left join feed_heads h on h.account_id = r.account`,
    [reached.map(({ account }) => account), reached.map(({ position }) => position.toString())],
  );
  return rows as Head[];
}

/**
 * Whether the feed was set back behind somebody: it ends before where he was, or has another event there. So it is after a failover or a
 * restore that lost commits: positions that he has handed out are given a second time.
 */
export const isSetBack = ({ position, eventId: known }: Reached, { head, eventId }: Omit<Head, 'account'>): boolean =>
  BigInt(head) < position || (known !== undefined && eventId !== null && eventId !== known);

const position = /^\d{1,18}$/;

/** Stands for the position at which the feed ends now. */
const latest = 'latest';

/** A position as a caller gave it; undefined for the end of the feed. Throws 400 when it is none. */
export function positionOf(after: string): bigint | undefined {
  if (after === latest) return undefined;
  check(position.test(after), () => invalidField('after', 'invalid_format', 'must be a position of the feed, a decimal number, or latest'));
  return BigInt(after);
}

/**
 * The position to go on after: "0" is all that is kept, undefined the end. Throws 400 beyond the end of the feed, and 410 for one whose
 * successors are no longer all kept.
 */
export function startAfter(after: bigint | undefined, { floor, head }: Extent): bigint {
  if (after === undefined) return head;
  check(after <= head, () => invalidField('after', 'out_of_range', 'is beyond the end of the feed'));
  check(after === 0n || after >= floor, () => new AppError('gone', `after is older than the ${keptDays} days that are kept; start again`));
  return after > floor ? after : floor;
}

/** A stretch of the feed: after one position, up to another. */
export interface Stretch {
  after: bigint;
  upTo: bigint;
  names: string[] | null;
  limit: number;
  /** For whom it is read: what others alone may see is left out. All of it by default. */
  viewer?: string | null;
  /** The most bytes that a statement may answer of it; one of more ends with `TooLarge`. */
  mostBytes?: number;
}

/** An event as a statement over `feed_positions p` and `outbox_events e` answers it, in JSON. */
export type StoredEvent = Omit<FeedEvent, 'kind' | 'type' | 'createdAt'> & { createdAt: string };

/** What such a statement selects. */
export const feedColumns = sql`
  p.pos::text as id, e.id as "eventId", coalesce(e.change_id, e.id) as "changeId", e.name, coalesce(nullif(e.names, '{}'), array[e.name]) as names,
  e.created_at as "createdAt", e.entity_type as "entityType", e.entity_id as "entityId",
  json_build_object('kind', coalesce(e.actor_kind, 'user'), 'id', e.actor_id, 'name', coalesce(e.actor_name, '')) as actor,
  coalesce(e.causes, '[]') as causes, e.client_mutation_id as "clientMutationId", e.traceparent, e.tracestate, e.batch_id as "batchId", e.only_for as "onlyFor",
  e.changes, e.data`;

/** The event as the feed gives it. */
export function shown(source: Pick<FeedSource, 'registry'>, { createdAt, ...row }: StoredEvent): FeedEvent {
  const type = source.registry.events.get(row.name)?.of.type ?? row.entityType;
  return { ...row, kind: row.name, type, createdAt: new Date(createdAt) };
}

/** How many positions are looked at one after the other for each event that is wanted, before they are looked for by their names. */
const lookedAtForEach = 10n;

/** The events of a stretch, the oldest first. */
export const readFeed = (source: FeedSource, account: string, stretch: Stretch): Promise<FeedEvent[]> =>
  byPlaces(
    account,
    stretch,
    (places) => eventsAt(source, account, places, stretch),
    ({ length }) => length === stretch.limit,
  );

/** What is read of a stretch by its places: by those that come next, and by their names where too few of these are wanted. */
export async function byPlaces<Found>(
  account: string,
  stretch: Stretch,
  read: (places: Sql) => Promise<Found>,
  isEnough: (found: Found) => boolean,
): Promise<Found> {
  const { after, upTo, names, limit } = stretch;
  const near = after + BigInt(limit) * lookedAtForEach;
  if (!names || upTo <= near) return read(placesInOrder(account, stretch));
  const found = await read(placesInOrder(account, { ...stretch, upTo: near }));
  return isEnough(found) ? found : read(placesByName(account, { ...stretch, names }));
}

/** The places of a stretch that the viewer may see. */
const inStretch = (account: string, { after, upTo, viewer = null }: Stretch): Sql => sql`
  account_id = ${account}::uuid and pos > ${after.toString()}::bigint and pos <= ${upTo.toString()}::bigint
    and (only_for is null or ${viewer}::uuid is null or only_for = ${viewer}::uuid)`;

/** The places of a stretch, one after the other. */
const placesInOrder = (account: string, stretch: Stretch): Sql => sql`
  select account_id, pos, seq from feed_positions
  where ${inStretch(account, stretch)} and (${stretch.names}::text[] is null or name = any(${stretch.names}::text[]))
  order by pos limit ${stretch.limit}::int`;

/** The places of a stretch that are of these names, each name found by the index: for names that are rare in it. */
const placesByName = (account: string, stretch: Stretch & { names: string[] }): Sql => sql`
  select f.account_id, f.pos, f.seq from unnest(${[...new Set(stretch.names)]}::text[]) n(name) cross join lateral (
    select account_id, pos, seq from feed_positions where ${inStretch(account, stretch)} and name = n.name and name <> '' order by pos limit ${stretch.limit}::int
  ) f order by f.pos limit ${stretch.limit}::int`;

async function eventsAt(source: FeedSource, account: string, places: Sql, { mostBytes }: Stretch): Promise<FeedEvent[]> {
  const events = sql`select ${feedColumns} from (${places}) p join outbox_events e on e.account_id = ${account}::uuid and e.seq = p.seq`;
  const all = sql`select coalesce(json_agg(e order by e.id::bigint), '[]')::text as part from (${events}) e`;
  const [text] = await source.database.planned(orItsBytes(all, mostBytes));
  return (JSON.parse(whole(text!)) as StoredEvent[]).map((row) => shown(source, row));
}

/** What is counted of a feed: events of these names, or all; without those that others than the viewer alone may see. */
interface Counted {
  names: string[] | null;
  viewer: string;
  /** Beyond so many it is not counted on, where it is counted by names; null for no such bound. */
  most?: number | null;
}

/** How many events the feed keeps: positions have no gaps, so all of them are counted by the first and the last. */
export async function countFeed(database: Database, account: string, { floor, head }: Extent, counted: Counted): Promise<number> {
  const { names, viewer, most } = counted;
  const within = 'account_id = $1::uuid and pos > $2::bigint and pos <= $3::bigint';
  // As the index by name has it.
  const named = names ? "and name = any($5::text[]) and name <> ''" : '';
  const bounded = `select count(*) as n from (select from feed_positions where ${within} and (only_for is null or only_for = $4::uuid) ${named} limit $6::int) c`;
  const whole = `select ${names ? `(select count(*) from feed_positions where ${within} ${named})` : '$3::bigint - $2::bigint'}
       - (select count(*) from feed_positions where ${within} and only_for <> $4::uuid ${named}) as n`;
  const isBounded = names && most;
  const values = [account, floor.toString(), head.toString(), viewer, ...(names ? [names] : []), ...(isBounded ? [most] : [])];
  const { rows } = await database.execute(isBounded ? bounded : whole, values);
  const [{ n }] = rows as [{ n: string | number | bigint }];
  return Number(n);
}

/** How much longer it keeps what a reader has not read that no module declares: of the version before this one, or of the next. */
const keptForOthersDays = 7;

/**
 * Events that are no longer kept. By account, since the index begins with it. Those without a place are never deleted, nor those that
 * are still to be read by readers of these names. A reader of another name keeps none for ever: nobody might ever read on in its name.
 */
export const oldEvents = (readers: readonly string[]): Sweep => ({
  rows: ({ before, most }) => sql`
    with old as (
        select e.* from feed_heads h cross join lateral (
          select e.account_id, e.id, p.pos from outbox_events e join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
          where e.account_id = h.account_id and e.created_at < ${before}
            and not exists (select from feed_readers r where r.account_id = h.account_id and r.pos < p.pos
              and (r.name = any(${[...readers]}::text[]) or e.created_at >= ${before} - make_interval(days => ${keptForOthersDays}::int)))
          order by e.created_at limit ${most}
        ) e limit ${most}
      ), places as (delete from feed_positions p using old where p.account_id = old.account_id and p.pos = old.pos)
      delete from outbox_events o using old where o.account_id = old.account_id and o.id = old.id returning 1`,
  before: keptSince,
});
