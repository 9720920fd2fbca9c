import { afterAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { v4 } from 'uuid';
import { onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';

jest.setTimeout(120_000);

const name = `crm_test_start_${v4().replaceAll('-', '')}`;
const running: ServerProcess[] = [];

async function admin(text: string): Promise<void> {
  const client = new pg.Client(process.env.DATABASE_URL);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

afterAll(async () => {
  await Promise.all(running.map((each) => each.kill()));
  if (process.env.DATABASE_URL) for (const each of [name, `${name}_told`]) await admin(`drop database if exists ${each} with (force)`);
});

onPostgres(describe)('processes that start at once on a new database', () => {
  it('all serve: one makes the tables and the queues, and the others wait', async () => {
    await admin(`create database ${name}`);
    const url = new URL(process.env.DATABASE_URL!);
    url.pathname = `/${name}`;
    const env = { DATABASE_URL: url.href, SECRET_KEY: 's'.repeat(44) };
    for (let n = 0; n < 4; n++) running.push(new ServerProcess(env));
    const addresses = await Promise.all(running.map((each) => each.address()));
    const statuses = await Promise.all(addresses.map(async (address) => (await fetch(`${address}/healthz`)).status));
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it('say whether they migrate it or wait for who does', async () => {
    await Promise.all(running.splice(0).map((each) => each.kill()));
    await admin(`create database ${name}_told`);
    const url = new URL(process.env.DATABASE_URL!);
    url.pathname = `/${name}_told`;
    const migrating = new pg.Client(url.href);
    await migrating.connect();
    const processes: ServerProcess[] = [];
    const toldBy = (line: string) => processes.filter(({ output }) => output.includes(line)).length;
    try {
      await migrating.query('select pg_advisory_lock(7240111)');
      for (let n = 0; n < 2; n++) processes.push(new ServerProcess({ DATABASE_URL: url.href, SECRET_KEY: 's'.repeat(44) }));
      running.push(...processes);
      await eventually(() => toldBy('another process migrates the database') === 2, 60_000);
      expect(toldBy('migrating the database')).toBe(0);
    } finally {
      await migrating.end();
    }
    await Promise.all(processes.map((each) => each.address()));
    expect([toldBy('"msg":"migrating the database"'), toldBy('"msg":"the database is migrated"')]).toEqual([1, 1]);
  });
});
