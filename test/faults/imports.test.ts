import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { freshPlace, type Place } from '../support/database.js';
import { Client, dataOf, type Loose, password } from '../support/index.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';

jest.setTimeout(120_000);

let dir: string;
let place: Place;
let server: ServerProcess;
const agent = new Agent();

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'crm-imports-'));
  place = await freshPlace();
});
afterAll(async () => {
  agent.destroy();
  await server?.kill();
  await place.drop();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the server on the same data again. */
async function start(cookie?: string): Promise<Client> {
  const env = { DATA_DIR: dir, SEED_DEMO: '0', LOG_LEVEL: 'warn', RATE_LIMIT_ENABLED: '0', DEFAULT_PLAN: 'enterprise' };
  const secret = 'a secret key for this test only, of fair length';
  server = new ServerProcess(place.databaseUrl ? { ...env, DATABASE_URL: place.databaseUrl, SECRET_KEY: secret } : env);
  const client = new Client({ port: Number(new URL(await server.address()).port), agent, logs: [] });
  client.cookie = cookie;
  return client;
}

it('an import whose process is killed goes on where it stopped, and imports no row twice', async () => {
  let client = await start();
  dataOf(await client.post('/auth/register', { email: 'kill@example.com', password, accountName: 'Kill' }));
  const total = 2500;
  const rows = Array.from({ length: total }, (_, i) => ({
    firstName: `P${i}`,
    email: i % 50 === 7 ? 'wrong' : `p${i}@example.com`,
    tags: 'x',
  }));
  const { id } = dataOf(await client.post('/imports', { rows }));
  dataOf(await client.post(`/imports/${id}/process`));
  const read = async (): Promise<Loose> => dataOf(await client.get(`/imports/${id}`));
  const seen = await eventually(async () => {
    const import_ = await read();
    return import_.processedRows > 0 && import_;
  });
  server.signal('SIGKILL');
  await server.ended();
  expect(seen).toMatchObject({ status: 'processing' });
  expect(seen.processedRows).toBeLessThan(total);

  client = await start(client.cookie);
  const again = await read();
  expect(again.status).toBe('processing');
  const done = await eventually(async () => {
    const import_ = await read();
    return import_.status === 'completed' && import_;
  }, 60_000);
  expect(done).toMatchObject({ processedRows: total, createdCount: total - total / 50, errorCount: total / 50, progress: 1 });
  expect(dataOf(await client.get('/contacts?per_page=1')).meta.total).toBe(done.createdCount);
  expect(dataOf(await client.get(`/imports/${id}/errors?per_page=1`)).meta.total).toBe(done.errorCount);
  const told = dataOf(await client.get('/activities?type=contact.created&per_page=1')).meta.total;
  expect(told).toBe(done.createdCount);
});
