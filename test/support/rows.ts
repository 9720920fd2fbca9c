import { expect } from '@jest/globals';
import { waitingJobs } from '../../src/workers/jobs.js';
import { eventually } from './live.js';
import type { TestServer } from './server.js';

/** Columns that a mere request may touch: when somebody was last there, and until when their session lives on. */
const touched: Record<string, string[]> = {
  api_keys: ['last_used_at', 'updated_at'],
  memberships: ['last_active_at', 'updated_at'],
  sessions: ['last_seen_at', 'expires_at'],
};
/** Tables that say nothing of their own: the migrations', and the places that the relay gives events a moment after their commit. */
const ignored = ['_prisma_migrations', 'feed_heads', 'feed_positions', 'feed_floor'];

/** How many rows each table has, and a hash of all they hold. */
export type Rows = Record<string, string>;

const pictures = new WeakMap<object, Promise<string>>();

/** The statement that takes the picture, made once for a database. */
async function pictureOf({ database }: TestServer['app']): Promise<string> {
  const { rows: tables } = await database.execute(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> all($1) order by 1`,
    [ignored],
  );
  const left = (name: string) => (touched[name] ?? []).map((column) => `'${column}'`).join(', ');
  const queries = (tables as { name: string }[]).map(
    ({ name }) => `select '${name}' as name, count(*)::int as n,
      md5(coalesce(string_agg(j, '|' order by j), '')) as hash
      from (select (to_jsonb(t) - array[${left(name)}]::text[])::text as j from "${name}" t) s`,
  );
  return queries.join(' union all ');
}

/** A picture of every table, to be compared with a later one. */
export async function rows({ app }: TestServer): Promise<Rows> {
  const picture = pictures.get(app) ?? pictureOf(app);
  pictures.set(app, picture);
  const result = await app.database.execute(await picture);
  return Object.fromEntries((result.rows as { name: string; n: number; hash: string }[]).map((r) => [r.name, `${r.n} ${r.hash}`]));
}

/** What was begun before is done: jobs write what nobody asks for any more. */
const noJobRuns = ({ app }: TestServer) =>
  eventually(async () => (await waitingJobs(app.database)).length === 0 && (await app.database.execute(active)).rows.length === 0);

const active = "select 1 from pgboss.job where state = 'active' and name not like 'test.%'";

/** Runs the work and fails if it left any trace in any table. */
export async function expectNothingWritten<T>(server: TestServer, work: () => Promise<T>): Promise<T> {
  await noJobRuns(server);
  const before = await rows(server);
  const result = await work();
  expect(await rows(server)).toEqual(before);
  return result;
}
