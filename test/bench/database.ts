import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/kernel/database/index.js';
import { type Filled, fill, type Size, size } from './fill.js';

const { BENCH_DATABASE_URL, DATABASE_URL, BENCH_DATABASE = 'crm_bench', BENCH_KEEP } = process.env;
const adminUrl = BENCH_DATABASE_URL ?? DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const keep = BENCH_KEEP === '1';
const template = `${BENCH_DATABASE}_template`;

/** The account, and a database of its own for each server. */
export interface Place extends Filled {
  serverUrl: string;
  ceilingUrl: string;
  version: string;
  drop(): Promise<void>;
}

function urlOf(database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const remove = (client: pg.Client, name: string) => client.query(`drop database if exists ${name} with (force)`);

/** What a kept template must have been made from to be used again. */
function stamp(): string {
  const hash = createHash('sha256').update(JSON.stringify(size));
  const folder = resolve('prisma/migrations');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(readFileSync(join(folder, name)));
  }
  for (const name of ['fill.ts', 'fill.deals.ts', 'fill.work.ts', 'words.ts'])
    hash.update(readFileSync(join(dirname(folder), '../test/bench', name)));
  return hash.digest('hex');
}

/** The filled account of a kept template; undefined when there is none, or it was made from something else. */
async function kept(client: pg.Client): Promise<Filled | undefined> {
  const { rows } = await client.query<{ note: string | null }>(
    `select shobj_description(oid, 'pg_database') as note from pg_database where datname = $1`,
    [template],
  );
  const note = rows[0]?.note;
  const known = note ? (JSON.parse(note) as Filled & { stamp: string }) : undefined;
  return known?.stamp === stamp() ? known : undefined;
}

async function makeTemplate(client: pg.Client): Promise<Filled> {
  await remove(client, template);
  await client.query(`create database ${template}`);
  const database = await openDatabase({ url: urlOf(template), dataDir: ':memory:' });
  await database.close();
  const filled = await connected(urlOf(template), fill);
  const note = JSON.stringify({ ...filled, stamp: stamp() });
  await client.query(`comment on database ${template} is '${note}'`);
  return filled;
}

/** A database of its own filled to a size, which is dropped afterwards. */
export const filledDatabase = <T>(name: string, wanted: Size, work: (url: string, filled: Filled) => Promise<T>): Promise<T> =>
  emptyDatabase(name, async (url) => work(url, await connected(url, (inside) => fill(inside, wanted))));

/** A migrated database without an account, which is dropped afterwards. */
export async function emptyDatabase<T>(name: string, work: (url: string) => Promise<T>): Promise<T> {
  return connected(adminUrl, async (client) => {
    await remove(client, name);
    await client.query(`create database ${name}`);
    try {
      await (await openDatabase({ url: urlOf(name), dataDir: ':memory:' })).close();
      return await work(urlOf(name));
    } finally {
      await remove(client, name);
    }
  });
}

/** The counters are ours: the ceiling counts, and so it does not pay for keeping totals. */
const dropCounters = `
do $$ declare t record; begin
  for t in select tgname, tgrelid::regclass as owner from pg_trigger where not tgisinternal and tgname like 'count\\_%' loop
    execute format('drop trigger %I on %s', t.tgname, t.owner);
  end loop;
end $$`;

/** Makes (or takes again, after BENCH_KEEP=1) the filled template, and two copies of it. */
export function prepareDatabases(): Promise<Place> {
  return connected(adminUrl, async (client) => {
    const began = Date.now();
    const filled = (await kept(client)) ?? (await makeTemplate(client));
    const [server, ceiling] = [`${BENCH_DATABASE}_server`, `${BENCH_DATABASE}_ceiling`];
    for (const name of [server, ceiling]) {
      await remove(client, name);
      await client.query(`create database ${name} template ${template}`);
    }
    await connected(urlOf(ceiling), (inside) => inside.query(dropCounters));
    await client.query('checkpoint');
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    console.error(`databases ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    const drop = () =>
      connected(adminUrl, async (last) => {
        for (const name of [server, ceiling, ...(keep ? [] : [template])]) await remove(last, name);
      });
    return { ...filled, serverUrl: urlOf(server), ceilingUrl: urlOf(ceiling), version: rows[0]!.server_version, drop };
  });
}
