import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freshPlace, type Place } from '../support/database.js';
import { Client, dataOf, type Loose, onPostgres, password } from '../support/index.js';
import { eventually, type Feed, Socket } from '../support/live.js';
import { ServerProcess } from '../support/process.js';
import { freePort } from '../support/simulators.js';

const query = 'subscription ($after: ID) { events(after: $after) { id entityId } }';

let place: Place;
let redis: ChildProcess;
let env: Record<string, string>;
const running: ServerProcess[] = [];

async function redisServer(port: number): Promise<ChildProcess> {
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout!.on('data', (chunk) => {
    said += chunk;
  });
  await eventually(() => /ready to accept connections/i.test(said));
  return child;
}

async function start(role: 'api' | 'worker'): Promise<ServerProcess> {
  const process = new ServerProcess({ ...env, ROLE: role });
  running.push(process);
  await process.address();
  return process;
}

const portOf = async (process: ServerProcess) => Number(new URL(await process.address()).port);
const clientOf = async (process: ServerProcess) => new Client({ port: await portOf(process), agent: new Agent(), logs: [] });

let here: ServerProcess;
let there: ServerProcess;
let worker: ServerProcess;
let owner: Client;
let secret: string;
let keyId: string;
let feed: Feed;
let socket: Socket;
let written: string[] = [];

async function boot(): Promise<void> {
  place = await freshPlace();
  const port = await freePort();
  redis = await redisServer(port);
  env = {
    DATABASE_URL: place.databaseUrl!,
    REDIS_URL: `redis://127.0.0.1:${port}`,
    SECRET_KEY: 'a secret key for tests only, never for anything else',
    RATE_LIMIT_ENABLED: '0',
    LOG_LEVEL: 'error',
  };
  here = await start('api');
  [there, worker] = await Promise.all([start('api'), start('worker')]);
  owner = await clientOf(there);
  dataOf(await owner.post('/auth/register', { email: 'owner@example.com', password, accountName: 'Acme' }));
  const key = dataOf(await owner.post('/api-keys', { name: 'key', permission: 'admin' }));
  [secret, keyId] = [key.key, key.id];
  socket = await Socket.open(await portOf(here), { init: { Authorization: `Bearer ${secret}` } });
  feed = socket.run(query, { after: '0' });
}

async function shutDown(): Promise<void> {
  await Promise.all(running.map((process) => process.kill()));
  redis?.kill('SIGKILL');
  await place?.drop();
}

const write = async (n: number) => {
  for (let i = 0; i < n; i++) written.push(dataOf(await owner.post('/contacts', { firstName: `C${i}` })).id);
};
/** Everything that was written arrived, once and in order; what came first, the key itself, is for sessions. */
const complete = async () => {
  const events = await feed.nth(written.length, 20_000);
  expect(events.map((event: Loose) => [event.id, event.entityId])).toEqual(written.map((id, n) => [String(n + 2), id]));
};

onPostgres(describe)('two servers and a worker on one database', () => {
  beforeAll(boot, 120_000);
  afterAll(shutDown);

  it('what is written there is heard here, at once', async () => {
    await write(1);
    await complete();
    const begun = Date.now();
    await write(20);
    await complete();
    expect(Date.now() - begun).toBeLessThan(10_000);
  });

  it('the worker has a lower priority', () => {
    expect([here, there, worker].map((process) => process.niceness())).toEqual([getPriority(), getPriority(), Math.max(getPriority(), 10)]);
  });

  it('nothing is lost when the worker dies and another takes its place', async () => {
    worker.signal('SIGKILL');
    await worker.ended();
    await write(10);
    expect(feed.results.length).toBeLessThan(written.length);
    worker = await start('worker');
    await complete();
  });

  it('nor when Redis is gone, nor when it comes back', async () => {
    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await write(10);
    await complete();
    redis = await redisServer(Number(new URL(env.REDIS_URL!).port));
    await write(10);
    await complete();
  });

  it('a key that is revoked there is refused here, sooner than what is known of it ends', async () => {
    const waits: number[] = [];
    for (let n = 0; n < 5; n++) {
      const doomed = dataOf(await owner.post('/api-keys', { name: `doomed ${n}`, permission: 'read' }));
      const caller = (await clientOf(here)).with({ authorization: `Bearer ${doomed.key}` });
      expect((await caller.get('/tags')).status).toBe(200);
      dataOf(await owner.del(`/api-keys/${doomed.id}`));
      const begun = performance.now();
      await eventually(async () => (await caller.get('/tags')).status === 401);
      waits.push(performance.now() - begun);
    }
    expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(400);
  });

  it('a key that is revoked there ends the socket here within two seconds', async () => {
    dataOf(await owner.del(`/api-keys/${keyId}`));
    const begun = Date.now();
    expect((await socket.end()).code).toBe(4401);
    expect(Date.now() - begun).toBeLessThan(2000);
    written = [];
  });

  it('a server that is told to stop closes its sockets with 1001 and ends with 0', async () => {
    const again = dataOf(await owner.post('/api-keys', { name: 'again', permission: 'read' }));
    socket = await Socket.open(await portOf(here), { init: { Authorization: `Bearer ${again.key}` } });
    socket.run(query);
    here.signal('SIGTERM');
    expect((await socket.end()).code).toBe(1001);
    expect(await here.ended()).toBe(0);
  });
});
