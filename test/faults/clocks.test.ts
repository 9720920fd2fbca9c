import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, dataOf, MovableClock, minute, onPostgres, server, type TestServer } from '../support/index.js';

onPostgres(describe)('processes whose clocks are ten minutes apart', () => {
  it.each([
    ['behind', 'ahead'],
    ['ahead', 'behind'],
  ] as const)('what a process that is %s has under way is not taken for left by one that is %s', async (first, second) => {
    const [one, other] = [processes[first]!, processes[second]!];
    const name = `clocks-${first}`;
    const hook = (client: Client) =>
      client.post('/webhooks/manage', { url: `https://example.com/${first}`, events: ['deal.won'] }, { 'idempotency-key': name });
    expect((await hook(one.client)).status).toBe(201);
    const execute = (text: string, ...values: unknown[]) => one.api.app.database.execute(text, values);
    await execute("update idempotency_keys set state = 'running', response = null where key = $1", name);
    expect((await hook(other.client)).body.code).toBe('send_in_progress');

    const begin = async (client: Client) => dataOf(await client.post('/imports', { rows: [{ lastName: 'Clock' }] })).id as string;
    const id = await begin(one.client);
    await execute('update imports set total_rows = 0 where id = $1::uuid', id);
    await begin(other.client);
    expect((await execute('select 1 from imports where id = $1::uuid', id)).rows).toHaveLength(1);
    await execute("update imports set leased_until = now() - interval '1 second' where id = $1::uuid", id);
    await begin(other.client);
    expect((await execute('select 1 from imports where id = $1::uuid', id)).rows).toHaveLength(0);
  });
});

/** Processes on one database whose clocks are ten minutes apart. */
const processes: Partial<Record<'behind' | 'ahead', { api: TestServer; client: Client }>> = {};
let house: TestServer;

beforeAll(async () => {
  house = await server();
  if (!house.place.databaseUrl) return;
  const { secret } = await (await house.seed.account()).key();
  for (const [name, by] of [['behind', -5] as const, ['ahead', 5] as const]) {
    const api = await server({ beside: house });
    const clock = new MovableClock();
    clock.advance(by * minute);
    api.app.clock = clock;
    processes[name] = { api, client: api.anybody().with({ authorization: `Bearer ${secret}` }) };
  }
});
afterAll(async () => {
  for (const { api } of Object.values(processes)) await api.close();
  await house.close();
});
