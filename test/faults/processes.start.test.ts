import { afterAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { v4 } from 'uuid';
import { onPostgres } from '../support/index.js';
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
  if (process.env.DATABASE_URL) await admin(`drop database if exists ${name} with (force)`);
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
});
