import { bigint, flag, instant, integer, json, listOf, text, uuid } from '../database/kinds.js';
import { commitsUnawaited, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { type Statement, statement } from '../database/statement.js';
import { takenSql } from './feedPortion.js';
import { type FeedEvent, feedColumns, type StoredEvent } from './feedStore.js';

/**
 * Readers of the feed make rows of its events: deliveries, runs. How far each is in an account is a row, which it holds while it
 * makes something of the events after it, and which moves in the same transaction. What is for one person alone none of them reads.
 */

/** Positions that are looked at in one step, wanted or not. */
const longestStep = 1000;
/** Rows that one step makes; a single event may lead to more. */
const mostMade = 500;
/** Bytes in the rows that one step makes; a single event may lead to more. */
const mostMadeBytes = 16_000_000;

/** An event as a reader is given it. */
export interface ReadEvent extends FeedEvent {
  /** Its bytes, as JSON. */
  size: number;
}

/** What one step makes, as it adds up: the rest is left to the next one, so that each is short and needs little memory. */
export class Portion {
  #rows = 0;
  #bytes = 0;

  /**
   * Whether this step makes so many rows, each with the event in it, and so many bytes besides. It does of the first event that leads to
   * any.
   */
  takes({ size }: Pick<ReadEvent, 'size'>, rows: number, besides = 0): boolean {
    const isFirst = this.#rows === 0;
    this.#rows += rows;
    this.#bytes += rows * size + besides;
    return isFirst || (this.#rows <= mostMade && this.#bytes <= mostMadeBytes);
  }
}

/** Begins to read for the account where nothing was read before: after what has its place by now. */
// An existing row is skipped before the insert: `on conflict` would wait for the step that holds it, which may wait for us.
export const followFeed = statement({
  name: 'followFeed',
  takes: { name: text },
  changes: true,
  text: ({ account, name }) => sql`
    insert into feed_readers (account_id, name, pos)
    select ${account}, ${name}, coalesce((select pos from feed_heads where account_id = ${account}), 0)
    where not exists (select from feed_readers where account_id = ${account} and name = ${name})
    on conflict (account_id, name) do nothing`,
});

/**
 * The most events without a place that a `FeedEnd` names. There are more only while no relay is at work; the oldest of them then count as
 * later ones.
 */
export const mostUnplaced = 200;

/**
 * Where the feed of an account ends for who looks for events of some names from here on, whatever the clocks of processes say: behind what
 * has its place, and besides behind what is committed and has none yet.
 *
 * The ids of the latter are needed because the place of one may come behind that of an event which is committed later.
 */
export interface FeedEnd {
  /** The last position. */
  after: string;
  /** The ids of those without a place, the newest first. */
  unplaced: readonly string[];
}

/**
 * The events `e` of an account that are committed and have no place in the feed yet. Few events of all accounts are behind the floor: each
 * is looked up by itself, as the planner, left to itself, may read all that the account keeps.
 */
const withoutPlace = (account: Sql): Sql => sql`(
    select o.account_id, o.id, o.seq, o.name, o.created_at from outbox_events o where o.seq > (select seq from feed_floor) order by o.seq offset 0) e
  where e.account_id = ${account} and (select p.pos from feed_positions p where p.account_id = e.account_id and p.seq = e.seq) is null`;

/** The end of the caller's account's feed for some names, or for all but some by `*`. */
export const endOfFeed = statement({
  name: 'endOfFeed',
  takes: { names: listOf(text), except: listOf(text) },
  row: { after: bigint, unplaced: listOf(uuid) },
  text: ({ account, names, except }) => sql`
    select coalesce((select h.pos from feed_heads h where h.account_id = ${account}), 0)::text as after, array(
      select e.id from ${withoutPlace(account)} and (e.name = any(${names}) or '*' = any(${names})) and e.name <> all(${except})
      order by e.seq desc limit ${rawSql(String(mostUnplaced))}) as unplaced`,
});

/** So many events that a reader has not come to are left to it. */
const fewUnread = 1000;

/**
 * How far a reader is in the feed of the caller's account, but not before a place (`after`); whether an event of a name that happened until
 * a moment has no place yet (`isComing`), and whether the reader has many events of that time before it (`isFar`).
 */
export const readSoFar = statement({
  name: 'readSoFar',
  takes: { reader: text, event: text, after: bigint, until: instant },
  row: { after: bigint, isComing: flag, isFar: flag },
  text: ({ account, reader, event, after, until }) => sql`
    with reached as materialized (select r.pos from feed_readers r where r.account_id = ${account} and r.name = ${reader})
    select greatest(${after}::bigint, (select pos from reached))::text as after,
      exists (select from ${withoutPlace(account)} and e.name = ${event} and e.created_at <= ${until}) as "isComing",
      exists (
        select from reached r join feed_positions p on p.account_id = ${account} and p.pos = r.pos + ${rawSql(String(fewUnread))}
        cross join lateral (select o.created_at from outbox_events o where o.account_id = p.account_id and o.seq = p.seq offset 0) e
        where e.created_at <= ${until}) as "isFar"`,
});

/** Whether an event came after the feed ended so. */
export const isBehind = ({ id, eventId }: Pick<FeedEvent, 'id' | 'eventId'>, { after, unplaced }: FeedEnd): boolean =>
  BigInt(id) > BigInt(after) && !unplaced.includes(eventId);

/**
 * The events of some names after a place, the oldest first, for who announced that he waits for one: what a reader passed over before it
 * could know of him is among them, whatever it is at. What is for one person alone is not.
 */
export const eventsAfter = statement({
  name: 'eventsAfter',
  takes: { names: listOf(text), after: bigint, most: integer },
  row: { event: json<StoredEvent>() },
  text: ({ account, names, after, most }) => sql`
    select (select row_to_json(r) from (
      select ${feedColumns} from outbox_events e where e.account_id = ${account} and e.seq = p.seq offset 0) r) as event
    from (select f.pos, f.seq from (select distinct unnest(${names}) as name) n cross join lateral (
        select pos, seq from feed_positions where account_id = ${account} and pos > ${after}::bigint and name = n.name and name <> '' and only_for is null
        order by pos limit ${most}) f
      order by f.pos limit ${most}) p
    order by p.pos`,
});

/** One step of a reader: the next events that it wants, taken in a transaction that is to make something of them. */
export interface Step {
  /** Whether another process is at it. */
  isHeld: boolean;
  /** Whether there may be more. */
  more: boolean;
  events: StoredEvent[];
  /** The bytes of each event. */
  sizes: number[];
}

type StepStatement = Statement<{ step: Step }, { most: number }>;
const steps = new Map<string, StepStatement>();

/** The statement of a reader's step, which moves it behind the events that it answers. */
export function stepOf(name: string, wanted: (account: Sql) => Sql): StepStatement {
  const known = steps.get(name);
  if (known) return known;
  const made = statement({
    name: `read ${name}`,
    takes: { most: integer },
    row: { step: json<Step>() },
    changes: true,
    text: ({ account, most }) => stepSql({ account, name, wanted: wanted(account), most }),
  });
  steps.set(name, made);
  return made;
}

/** Moves a reader back to the last event of its step of which something was made, within the step's transaction. */
export const reachedByReader = statement({
  name: 'reachedByReader',
  takes: { name: text, event: uuid },
  changes: true,
  text: ({ account, name, event }) => sql`
    update feed_readers r set pos = p.pos from outbox_events e join feed_positions p on p.account_id = ${account} and p.seq = e.seq
    where e.account_id = ${account} and e.id = ${event} and r.account_id = ${account} and r.name = ${name}`,
});

const stepSql = ({ account, name, wanted, most }: { account: Sql; name: string; wanted: Sql; most: Sql }) => sql`
  with recursive reader as (
    select pos from feed_readers where account_id = ${account} and name = ${name} for update skip locked
  ), step as materialized (
    select p.pos, p.seq, p.name, p.only_for from reader r cross join lateral (
      select pos, seq, name, only_for from feed_positions where account_id = ${account} and pos > r.pos order by pos limit ${rawSql(String(longestStep))}
    ) p
  ), wanted (name) as materialized (${wanted}), found as materialized (
    select pos, seq, row_number() over (order by pos)::int as nth from step
    where only_for is null and (name in (select name from wanted) or '*' in (select name from wanted)) order by pos limit ${most} + 1
  ), ${takenSql(account, most)}, ended as (
    select (select count(*) from found) > max(nth) as is_short, max(pos) as pos from taken
  ), reached as (
    select case when is_short then pos else (select max(pos) from step) end as pos from ended
  ), moved as (
    update feed_readers r set pos = reached.pos from reached
    where r.account_id = ${account} and r.name = ${name} and reached.pos is not null and exists (select from reader)
  )
  select json_build_object(
    'isHeld', not exists (select from reader),
    'more', (select is_short from ended) or (select count(*) from step) = ${rawSql(String(longestStep))},
    'events', coalesce((select json_agg(event order by nth) from taken where event is not null), '[]'),
    'sizes', coalesce((select json_agg(size order by nth) from taken where event is not null), '[]')
  ) as step`;

/** A reader that is not at the end of an account's feed. */
export interface Behind<Account> {
  accountId: string;
  name: string;
  account: Account;
}

/** Which readers are looked for, and what of their accounts is told of those that are found. */
interface Looking {
  /** Only in these accounts; null in all. */
  accounts: readonly string[] | null;
  most: number;
  /** What is wanted of an account, alias `a`, as one JSON value. */
  account: Sql;
  /** The names of the events that each reader wants. */
  readers: ReadonlyMap<string, { wanted: (account: Sql) => Sql }>;
}

// Of each account the names are gathered once, and not for each event.
const wants = (wanted: (account: Sql) => Sql) => sql`exists (
  select from feed_positions p where p.account_id = l.account_id and p.pos > l.pos and p.pos <= l.pos + ${rawSql(String(longestStep))}
    and p.only_for is null and (p.name = any(array(${wanted(rawSql('l.account_id'))})) or '*' = any(array(${wanted(rawSql('l.account_id'))}))))`;

/**
 * The readers that are behind. Past what a reader does not want it is moved at once, without a transaction of its own, unless another
 * process is at it. Suspended accounts wait.
 */
export function behind({ accounts, most, account, readers }: Looking): Sql {
  const cases = [...readers].map(([name, { wanted }]) => sql`when ${name} then ${wants(wanted)}`);
  const meant = accounts ? sql`r.account_id = any(${accounts}::uuid[])` : sql`true`;
  // Locked are only those that are moved: a lock is written to disk as a change is.
  return sql`
    with lagging as materialized (
      select r.account_id, r.name, r.pos, h.pos as head, ${account} as account
      from feed_readers r join feed_heads h using (account_id) join accounts a on a.id = r.account_id
      where h.pos > r.pos and a.suspended_at is null and ${meant} and r.name = any(${[...readers.keys()]}::text[])
      limit ${most}::int
    ), idle as materialized (
      select l.account_id, l.name, l.pos as from_pos, l.head, least(l.head, l.pos + ${rawSql(String(longestStep))}) as pos
      from lagging l where not case l.name ${joinSql(cases, ' ')} end
    ), free as (
      select i.account_id, i.name, i.pos from idle i join feed_readers r on r.account_id = i.account_id and r.name = i.name and r.pos = i.from_pos
      for update of r skip locked
    ), moved as (
      update feed_readers r set pos = f.pos from free f where r.account_id = f.account_id and r.name = f.name returning ${commitsUnawaited}
    )
    select l.account_id as "accountId", l.name, l.account from lagging l
    where not exists (select from idle i where i.account_id = l.account_id and i.name = l.name and i.pos = i.head)`;
}

/**
 * What waits for each reader of these names (`$1`): how many events, wanted or not, and for how many seconds the oldest has. Not told is
 * what nobody reads now, however many workers there are: that of suspended accounts, and that of a reader which no module declares any
 * more.
 */
export const waitingForReaders = `
  select 'reader ' || r.name as queue, sum(h.pos - r.pos)::int as count,
    coalesce(greatest(extract(epoch from now() - min(e.created_at)), 0), 0)::float8 as age
  from feed_readers r join feed_heads h using (account_id) join accounts a on a.id = r.account_id
  left join feed_positions p on p.account_id = r.account_id and p.pos = r.pos + 1
  left join outbox_events e on e.account_id = p.account_id and e.seq = p.seq
  where h.pos > r.pos and a.suspended_at is null and r.name = any($1::text[]) group by r.name`;
