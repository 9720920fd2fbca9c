import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client, dataOf, password, type Reply } from '../support/index.js';
import { ServerProcess } from '../support/process.js';
import { TcpProxy } from '../support/proxy.js';

jest.setTimeout(120_000);

let dir: string;
let server: ServerProcess;
const agent = new Agent();
const opened: TcpProxy[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'crm-retries-'));
});
afterAll(async () => {
  agent.destroy();
  await server?.kill();
  for (const proxy of opened) await proxy.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the server on the same data again; calls go through a proxy. */
async function start(cookie?: string): Promise<{ client: Client; direct: Client; proxy: TcpProxy }> {
  server = new ServerProcess({ DATA_DIR: dir, SEED_DEMO: '0', LOG_LEVEL: 'warn' });
  const address = await server.address();
  const proxy = await TcpProxy.before(address);
  opened.push(proxy);
  const to = (url: string) => {
    const made = new Client({ port: Number(new URL(url).port), agent, logs: [] });
    made.cookie = cookie;
    return made;
  };
  return { client: to(proxy.through(address)), direct: to(address), proxy };
}

/** Asks until it is so. */
async function until(holds: () => Promise<boolean>) {
  while (!(await holds()));
}

it('a reply that was lost with its process comes again, from what was committed', async () => {
  const first = await start();
  let { client, direct } = first;
  const { proxy } = first;
  dataOf(await client.post('/auth/register', { email: 'kill@example.com', password, accountName: 'Kill' }));
  const cookie = client.cookie;
  direct.cookie = cookie;
  const create = (to: Client): Promise<Reply> => to.post('/contacts', { lastName: 'Survivor' }, { 'idempotency-key': 'kill-nine' });
  const total = async () => dataOf(await direct.get('/contacts')).meta.total;

  const arrived = proxy.muteAfterRequest();
  const lost = create(client).catch((error: Error) => error);
  await arrived;
  await until(async () => (await total()) === 1);
  server.signal('SIGKILL');
  await server.ended();
  proxy.cut();
  expect(String(await lost)).toMatch(/ECONNRESET|hang up/);

  ({ client, direct } = await start(cookie));
  const again = await create(client);
  expect([again.status, again.headers['idempotent-replayed'], again.body.data.lastName]).toEqual([201, 'true', 'Survivor']);
  expect(await total()).toBe(1);
});
