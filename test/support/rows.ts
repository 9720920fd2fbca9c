import { expect } from '@jest/globals';
import { mailsSent } from '../../src/modules/auth/auth.mail.js';
import { waitingJobs } from '../../src/workers/jobs.js';
import { waitingEvents } from '../../src/workers/relay.js';
import { eventually } from './live.js';
import type { TestServer } from './server.js';

/**
 * Columns that a mere request may touch: when somebody was last there, and until when their session lives on; and those that move
 * with the minutes, as a vendor is asked what came in.
 */
const touched: Record<string, string[]> = {
  api_keys: ['last_used_at', 'updated_at'],
  memberships: ['last_active_at', 'updated_at'],
  sessions: ['last_seen_at', 'expires_at'],
  vendor_connections: ['attempt', 'due_at', 'leased_until', 'cursor', 'updated_at'],
};
/** Tables that say nothing of their own: the migrations', and the places that the relay gives events a moment after their commit. */
const ignored = ['_prisma_migrations', 'feed_heads', 'feed_positions', 'feed_floor', 'feed_readers'];

/** How many rows each table has, and a hash of which versions of them. */
export type Rows = Record<string, string>;

const statements = new WeakMap<object, Promise<string>>();
const pictures = new WeakMap<object, { snapshot: string; rows: Rows }>();

/** What tells one version of a row: who wrote it and where it lies. Where columns are left out, all that it holds. */
const versionOf = (name: string) => {
  const left = touched[name]?.map((column) => `'${column}'`);
  return left ? `(to_jsonb(t) - array[${left.join(', ')}])::text` : 'xmin::text || ctid::text';
};

/** The statement that takes the picture, made once for a database. */
async function pictureOf({ database }: TestServer['app']): Promise<string> {
  const { rows: tables } = await database.execute(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> all($1) order by 1`,
    [ignored],
  );
  const queries = (tables as { name: string }[]).map(
    ({ name }) => `select '${name}' as name, count(*)::int as n,
      md5(coalesce(string_agg(v, '|' order by v), '')) as hash
      from (select ${versionOf(name)} as v from "${name}" t) s`,
  );
  return [`select 'snapshot' as name, 0 as n, ${snapshot} as hash`, ...queries].join(' union all ');
}

/** Which transactions a statement sees: as long as it is the same, so is every row. */
const snapshot = 'pg_current_snapshot()::text';

async function snapshotOf({ database }: TestServer['app']): Promise<string> {
  const { rows: found } = await database.execute(`select ${snapshot} as snapshot`);
  return (found as { snapshot: string }[])[0]!.snapshot;
}

/** A picture of every table, to be compared with a later one. */
export async function rows({ app }: TestServer): Promise<Rows> {
  const known = pictures.get(app);
  if (known && known.snapshot === (await snapshotOf(app))) return known.rows;
  const statement = statements.get(app) ?? pictureOf(app);
  statements.set(app, statement);
  const { rows: found } = await app.database.execute(await statement);
  const [seen, ...tables] = found as { name: string; n: number; hash: string }[];
  const picture = { snapshot: seen!.hash, rows: Object.fromEntries(tables.map((r) => [r.name, `${r.n} ${r.hash}`])) };
  pictures.set(app, picture);
  return picture.rows;
}

/** What was begun before is done: jobs write what nobody asks for any more. */
const noJobRuns = ({ app }: TestServer) =>
  eventually(async () => (await waitingJobs(app.database)).length === 0 && (await app.database.execute(active)).rows.length === 0);

const active = "select 1 from pgboss.job where state = 'active' and name not like 'test.%'";

/** What was told before is read: readers make rows of it. */
const allIsRead = ({ app }: TestServer) =>
  eventually(async () => (await waitingEvents(app.database)).count === 0 && (await app.database.execute(unread)).rows.length === 0);

const unread = `select 1 from feed_readers r join feed_heads h using (account_id) join accounts a on a.id = r.account_id
  where h.pos > r.pos and a.suspended_at is null`;

/** What had come due is done. */
const nothingIsDue = ({ app }: TestServer) => {
  const tables = [...app.registry.due.values()].map(({ table }) => table);
  const due = tables.map(
    (table) => `select 1 from ${table} where due_at <= $1::timestamptz or due_at is not null and leased_until > now()`,
  );
  return eventually(async () => (await app.database.execute(due.join(' union all '), [app.clock.now().toISOString()])).rows.length === 0);
};

/** Runs the work and fails if it left any trace in any table. */
export async function expectNothingWritten<T>(server: TestServer, work: () => Promise<T>): Promise<T> {
  // That a mail went is kept after the answer to whoever had it sent.
  await mailsSent();
  await noJobRuns(server);
  await allIsRead(server);
  await nothingIsDue(server);
  const before = await rows(server);
  const result = await work();
  expect(await rows(server)).toEqual(before);
  return result;
}
