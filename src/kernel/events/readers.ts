import { bigint, integer, json, text } from '../database/kinds.js';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { type Statement, statement } from '../database/statement.js';
import { feedColumns, type StoredEvent } from './feedStore.js';

/**
 * Readers of the feed make rows of its events: deliveries, runs. How far each is in an account is a row, which it holds while it
 * makes something of the events after it, and which moves in the same transaction. What is for one person alone none of them reads.
 */

/** Positions that are looked at in one step, wanted or not. */
const longestStep = 1000;

/** Begins to read for the account where nothing was read before: after what has its place by now. */
export const followFeed = statement({
  name: 'followFeed',
  takes: { name: text },
  changes: true,
  text: ({ account, name }) => sql`
    insert into feed_readers (account_id, name, pos)
    values (${account}, ${name}, coalesce((select pos from feed_heads where account_id = ${account}), 0))
    on conflict (account_id, name) do nothing`,
});

/** Where the feed of the account ends: what has its place by now, whatever the clocks of processes say. */
export const endOfFeed = statement({
  name: 'endOfFeed',
  row: { pos: bigint },
  text: ({ account }) => sql`select coalesce((select pos from feed_heads where account_id = ${account}), 0)::text as pos`,
});

/** One step of a reader: the next events that it wants, taken in a transaction that is to make something of them. */
export interface Step {
  /** Whether another process is at it. */
  isHeld: boolean;
  /** Whether there may be more. */
  more: boolean;
  events: StoredEvent[];
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

const stepSql = ({ account, name, wanted, most }: { account: Sql; name: string; wanted: Sql; most: Sql }) => sql`
  with reader as (
    select pos from feed_readers where account_id = ${account} and name = ${name} for update skip locked
  ), step as (
    select p.pos, p.seq from reader r cross join lateral (
      select pos, seq from feed_positions where account_id = ${account} and pos > r.pos order by pos limit ${rawSql(String(longestStep))}
    ) p
  ), wanted (name) as materialized (${wanted}), found as (
    select ${feedColumns} from step p join outbox_events e on e.account_id = ${account} and e.seq = p.seq
    where e.only_for is null and (e.name in (select name from wanted) or '*' in (select name from wanted))
    order by p.pos limit ${most} + 1
  ), taken as (
    select * from found order by id::bigint limit ${most}
  ), reached as (
    select case when (select count(*) from found) > ${most} then (select max(id::bigint) from taken) else (select max(pos) from step) end as pos
  ), moved as (
    update feed_readers r set pos = reached.pos from reached
    where r.account_id = ${account} and r.name = ${name} and reached.pos is not null and exists (select from reader)
  )
  select json_build_object(
    'isHeld', not exists (select from reader),
    'more', (select count(*) from found) > ${most} or (select count(*) from step) = ${rawSql(String(longestStep))},
    'events', coalesce((select json_agg(t order by t.id::bigint) from taken t), '[]')
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
  select from feed_positions p join outbox_events e on e.account_id = p.account_id and e.seq = p.seq
  where p.account_id = l.account_id and p.pos > l.pos and p.pos <= l.pos + ${rawSql(String(longestStep))}
    and e.only_for is null and (e.name = any(array(${wanted(rawSql('l.account_id'))})) or '*' = any(array(${wanted(rawSql('l.account_id'))}))))`;

/**
 * The readers that are behind. Past what a reader does not want it is moved at once, without a transaction of its own, unless another
 * process is at it. Suspended accounts wait.
 */
export function behind({ accounts, most, account, readers }: Looking): Sql {
  const cases = [...readers].map(([name, { wanted }]) => sql`when ${name} then ${wants(wanted)}`);
  return sql`
    with lagging as (
      select r.account_id, r.name, r.pos, h.pos as head, ${account} as account
      from feed_readers r join feed_heads h using (account_id) join accounts a on a.id = r.account_id
      where h.pos > r.pos and a.suspended_at is null and (${accounts}::uuid[] is null or r.account_id = any(${accounts}::uuid[]))
        and r.name = any(${[...readers.keys()]}::text[])
      limit ${most}::int
    ), free as (
      select r.account_id, r.name from feed_readers r join lagging l on l.account_id = r.account_id and l.name = r.name and l.pos = r.pos
      for update of r skip locked
    ), idle as (
      select l.account_id, l.name, least(l.head, l.pos + ${rawSql(String(longestStep))}) as pos
      from lagging l join free f on f.account_id = l.account_id and f.name = l.name where not case l.name ${joinSql(cases, ' ')} end
    ), moved as (
      update feed_readers r set pos = i.pos from idle i where r.account_id = i.account_id and r.name = i.name
    )
    select l.account_id as "accountId", l.name, l.account from lagging l
    where not exists (select from idle i where i.account_id = l.account_id and i.name = l.name and i.pos = l.head)`;
}

/** What waits for each reader: how many events, wanted or not, and for how many seconds the oldest has. */
export const waitingForReaders = `
  select 'reader ' || r.name as queue, sum(h.pos - r.pos)::int as count,
    coalesce(greatest(extract(epoch from now() - min(e.created_at)), 0), 0)::float8 as age
  from feed_readers r join feed_heads h using (account_id)
  left join feed_positions p on p.account_id = r.account_id and p.pos = r.pos + 1
  left join outbox_events e on e.account_id = p.account_id and e.seq = p.seq
  where h.pos > r.pos group by r.name`;
