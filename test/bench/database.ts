import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/kernel/database/index.js';
import { type Filled, fill, type Size, size } from './fill.js';

const { BENCH_DATABASE_URL, DATABASE_URL } = process.env;
const adminUrl = BENCH_DATABASE_URL ?? DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const prefix = 'crm_bench';

/** Whose databases there are: this server's, the two ceilings' and that of the server which this one is compared with. */
export type SideName = 'server' | 'ceiling' | 'kept' | 'other';

/** The account, and a database of its own for each side. */
export interface Place extends Filled {
  urls: Record<SideName, string>;
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

/** What a template is made from. */
function stamp(): string {
  const hash = createHash('sha256').update(JSON.stringify(size));
  const folder = resolve('prisma/migrations');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(readFileSync(join(folder, name)));
  }
  for (const name of ['fill.ts', 'fill.deals.ts', 'fill.work.ts', 'fill.talk.ts', 'fill.calls.ts', 'fill.accounts.ts', 'words.ts'])
    hash.update(readFileSync(join(dirname(folder), '../test/bench', name)));
  return hash.digest('hex').slice(0, 12);
}

/** The filled account of a template that was kept; undefined when there is none. */
async function kept(client: pg.Client, template: string): Promise<Filled | undefined> {
  const { rows } = await client.query<{ note: string | null }>(
    `select shobj_description(oid, 'pg_database') as note from pg_database where datname = $1`,
    [template],
  );
  const note = rows[0]?.note;
  return note ? (JSON.parse(note) as Filled) : undefined;
}

async function makeTemplate(client: pg.Client, template: string): Promise<Filled> {
  await remove(client, template);
  await client.query(`create database ${template}`);
  const database = await openDatabase({ url: urlOf(template), dataDir: ':memory:' });
  await database.close();
  const filled = await connected(urlOf(template), fill);
  // Last of all: a template without it was never finished.
  await client.query(`comment on database ${template} is '${JSON.stringify(filled)}'`);
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

/** The counters and the heads of conversations are ours: the ceiling counts, and writes the heads by its own statements. */
const dropTriggers = `
do $$ declare t record; begin
  for t in select tgname, tgrelid::regclass as owner from pg_trigger where not tgisinternal
    and (tgname like 'count\\_%' or tgname in ('heads_insert', 'heads_update', 'keep_submission_counts')) loop
    execute format('drop trigger %I on %s', t.tgname, t.owner);
  end loop;
end $$`;

/** The ceiling with kept totals has one a stage too, for the board. */
const stageTotals = `
insert into counts (account_id, kind, slot, n)
select account_id, 'bench-stage:' || stage_id, 0, count(*) from deals where deleted_at is null group by account_id, stage_id`;

const changes: Partial<Record<SideName, string>> = { ceiling: dropTriggers, kept: stageTotals };

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Removes what a bench that was killed left behind. */
async function removeOrphans(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
  for (const { datname } of rows) {
    const pid = new RegExp(`^${prefix}_(\\d{1,7})_`).exec(datname)?.[1];
    if (pid && !isRunning(Number(pid))) await remove(client, datname);
  }
}

/** Makes (or takes again, where it was kept) the filled template, and a copy of it for each side. A kept one is named after what it is made from. */
export function prepareDatabases(sides: readonly SideName[], keep: boolean): Promise<Place> {
  return connected(adminUrl, async (client) => {
    const began = Date.now();
    await removeOrphans(client);
    const template = `${prefix}_${keep ? stamp() : process.pid}_template`;
    // Of several that start at once, one fills.
    await client.query('select pg_advisory_lock(hashtext($1))', [template]);
    const filled = (await kept(client, template)) ?? (await makeTemplate(client, template));
    const names = new Map(sides.map((side) => [side, `${prefix}_${process.pid}_${side}`]));
    for (const [side, name] of names) {
      await client.query(`create database ${name} template ${template}`);
      const change = changes[side];
      if (change) await connected(urlOf(name), (inside) => inside.query(change));
    }
    await client.query('select pg_advisory_unlock(hashtext($1))', [template]);
    await client.query('checkpoint');
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    console.error(`databases ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    const drop = () =>
      connected(adminUrl, async (last) => {
        for (const name of [...names.values(), ...(keep ? [] : [template])]) await remove(last, name);
      });
    const urls = Object.fromEntries([...names].map(([side, name]) => [side, urlOf(name)])) as Record<SideName, string>;
    return { ...filled, urls, version: rows[0]!.server_version, drop };
  });
}
