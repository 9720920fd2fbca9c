import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase } from '../../src/kernel/database/index.js';
import { Statistics } from '../../src/workers/statistics.js';
import { freshPlace, onEmbedded } from '../support/database.js';
import { type Account, server, type TestServer } from '../support/index.js';

let crm: TestServer;
let acme: Account;
let statistics: Statistics;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  statistics = new Statistics(crm.app.database, crm.app.log);
});
afterAll(() => crm.close());

const fill = (from: number, to: number) => crm.app.database.prisma.$executeRaw`
  insert into contacts (account_id, id, first_name, email, created_at, updated_at)
  select ${acme.id}::uuid, gen_random_uuid(), 'Ada', 'ada' || n || '@example.com', now(), now()
  from generate_series(${from}::int, ${to}::int) n`;

/** How many rows the planner thinks a table has. */
async function known(table: string): Promise<number> {
  const { rows } = await crm.app.database.execute('select reltuples::float8 as n from pg_class where oid = $1::regclass', [table]);
  return (rows as { n: number }[])[0]!.n;
}

const looked = async (table: string) => {
  await statistics.look();
  return known(table);
};

describe('what the planner knows of a table', () => {
  it('follows as it grows by half, and not for each few rows', async () => {
    await fill(1, 3000);
    const first = await looked('contacts');
    expect(first).toBeGreaterThan(2500);
    await fill(3001, 3100);
    expect(await looked('contacts')).toBe(first);
    await fill(3101, 9000);
    expect(await looked('contacts')).toBeGreaterThan(8000);
  });
});

onEmbedded(describe)('the log of the embedded database', () => {
  it('is given back while the server runs, and little of it is left to be replayed', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'crm-log-'));
    const database = await openDatabase({ dataDir, image: (await freshPlace()).image });
    const upkeep = new Statistics(database, crm.app.log);
    await database.execute('create table wide as select n, repeat(md5(n::text), 30) as text from generate_series(1, 10000) n');
    for (let i = 0; i < 14; i++) {
      await database.execute('update wide set n = n + 1');
      await upkeep.look();
    }
    const { rows } = await database.execute(
      'select (pg_current_wal_insert_lsn() - redo_lsn)::float8 / 1024 / 1024 as megabytes from pg_control_checkpoint()',
    );
    expect((rows as { megabytes: number }[])[0]!.megabytes).toBeLessThan(33);
    expect(readdirSync(join(dataDir, 'database/pg_wal')).length).toBeLessThan(30);
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

onEmbedded(describe)('a table of the embedded database whose rows come and go', () => {
  const execute = (text: string) => crm.app.database.execute(text);
  const pages = async (table: string) => {
    const { rows } = await execute(`select (pg_relation_size('${table}') / 8192)::int as n`);
    return (rows as { n: number }[])[0]!.n;
  };

  it.each(['churned', 'pgboss.churned'])('%s keeps its size', async (table) => {
    await execute('create schema if not exists pgboss');
    await execute(`create table ${table} as select n, md5(n::text) as text from generate_series(1, 5000) n`);
    await statistics.look();
    const first = await pages(table);
    for (let i = 0; i < 6; i++) {
      await execute(`delete from ${table}`);
      await execute(`insert into ${table} select n, md5(n::text) from generate_series(1, 5000) n`);
      // The database counts at the latest a second later, and a look comes after twenty.
      await execute('select pg_stat_force_next_flush()');
      await statistics.look();
    }
    expect(await pages(table)).toBeLessThanOrEqual(2.5 * first);
  });
});
