import pg from 'pg';
import type { Reply } from './client.js';
import { eventually } from './live.js';
import type { TestServer } from './server.js';

/** Updates that are held up, by SQL: of which table and columns, and of which rows, alias `new`. */
export interface HeldUp {
  table: string;
  columns: string;
  rows: string;
}

/** The removal of a person, who is locked by then. */
export const removals: HeldUp = { table: 'memberships', columns: 'status', rows: "new.status = 'removed'" };

const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

// Who waits for a row that another transaction has locked has the lock of its place meanwhile.
const rowsWaitedFor = `select distinct relation::regclass::text as name from pg_locks
  where locktype = 'tuple' and database = (select oid from pg_database where datname = current_database())`;

interface Outcome {
  /** Of the first, and of the second. */
  replies: Reply[];
  /** The tables in which rows were waited for when the second waited; none where it was over by then. */
  waitedFor: string[];
}

/**
 * Has something come to an update, hold it up before it is done, and begins something else; goes on once that is over or waits
 * (PostgreSQL only).
 */
export async function whileHeldUp(
  api: TestServer,
  { table, columns, rows }: HeldUp,
  first: () => Promise<Reply>,
  second: () => Promise<Reply>,
): Promise<Outcome> {
  const { execute } = api.app.database;
  // Who is held up by it waits for as long as a statement may take: the server's limit for locks is that of rows.
  await execute(`create function test_held_up() returns trigger language plpgsql set lock_timeout = 0 as $$ begin
    perform pg_advisory_xact_lock_shared(79); return new; end $$`);
  await execute(`create trigger test_held_up before update of ${columns} on ${table} for each row
    when (${rows}) execute function test_held_up()`);
  const client = new pg.Client(api.place.databaseUrl);
  await client.connect();
  await client.query('select pg_advisory_lock(79)');
  const waits = async (count: number) => (await client.query(waiting)).rows.length >= count;
  try {
    const held = first();
    await eventually(() => waits(1));
    let isOver = false;
    const begun = second().finally(() => {
      isOver = true;
    });
    await eventually(async () => isOver || (await waits(2)));
    const waitedFor = (await client.query<{ name: string }>(rowsWaitedFor)).rows.map(({ name }) => name);
    await client.end();
    return { replies: await Promise.all([held, begun]), waitedFor };
  } finally {
    await client.end();
    await execute(`drop trigger test_held_up on ${table}; drop function test_held_up()`);
  }
}

/** A connection beside the one that holds something: within a transaction a look at who waits answers what the first one saw. */
type Look = pg.Client;

/**
 * Holds something by a connection of its own, begins something, and lets go once `meanwhile` is over; what it did to hold it is taken back
 * (PostgreSQL only).
 */
export async function whileLocked<T>(
  api: TestServer,
  holding: string,
  begin: () => Promise<T>,
  meanwhile: (look: Look) => Promise<unknown>,
): Promise<T> {
  const [holder, look] = [new pg.Client(api.place.databaseUrl), new pg.Client(api.place.databaseUrl)];
  await Promise.all([holder.connect(), look.connect()]);
  try {
    await holder.query('begin');
    await holder.query(holding);
    const begun = begin();
    await meanwhile(look);
    await holder.query('rollback');
    return await begun;
  } finally {
    await Promise.all([holder.end(), look.end()]);
  }
}

/** The statements that wait for a lock: of which process of the database, since when, and for which others. */
export const waitingIn = async (look: Look): Promise<{ pid: number; since: Date; others: number[] }[]> =>
  (await look.query(waiting.replace('select', 'select pid, query_start as since, pg_blocking_pids(pid) as others'))).rows;

/** Until so many statements wait for a lock. */
export const untilWaiting = (count: number) => (look: Look) => eventually(async () => (await waitingIn(look)).length >= count);

/** Until what waits for a lock does so for the second time: it was ended once, and begun again. */
export async function untilWaitingAgain(look: Look): Promise<void> {
  const first = await eventually(async () => (await waitingIn(look))[0]);
  await eventually(async () => (await waitingIn(look)).some(({ since }) => since.getTime() - first!.since.getTime() > 1000));
}
