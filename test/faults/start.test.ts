import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { pause } from '../../src/kernel/base/eventLoop.js';
import { embeddedIn } from '../support/database.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';
import { type Call, curlCalls } from '../support/readme.js';
import { freePort } from '../support/simulators.js';

const dataDir = mkdtempSync(join(tmpdir(), 'crm-start-'));
const file = (name: string) => join(dataDir, name);
const secret = (name: string) => readFileSync(file(name), 'utf8').trim();
const running: ServerProcess[] = [];

function start(): ServerProcess {
  const made = new ServerProcess({ DATA_DIR: dataDir });
  running.push(made);
  return made;
}

afterAll(async () => {
  for (const one of running) await one.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

async function get(url: string, key?: string): Promise<{ status: number; body: string }> {
  const outgoing = request(url, { headers: key ? { authorization: `Bearer ${key}` } : {} });
  outgoing.end();
  return reply(outgoing);
}

async function reply(outgoing: ClientRequest) {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of incoming) body += chunk;
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
}

/** A request that the server is busy with: its body is not complete before `finish` is called. */
async function begun(url: string, key: string) {
  const body = JSON.stringify({ firstName: 'Last', lastName: 'Minute' });
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  };
  const outgoing = request(url, { method: 'POST', headers });
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  const answered = reply(outgoing);
  return { finish: () => outgoing.end(body), answered };
}

jest.setTimeout(180_000);

/** What readiness says once it no longer says yes. */
async function readinessAfter(address: string): Promise<number> {
  for (;;) {
    const { status } = await get(`${address}/healthz`);
    if (status !== 200) return status;
  }
}

/** Calls as the README does: a record, or the beginning of a stream. */
async function expectAnswer({ url, headers, body, stream }: Call, address: string): Promise<void> {
  const cut = new AbortController();
  const init = { method: body ? 'POST' : 'GET', headers, body, signal: cut.signal };
  const answer = await fetch(url.replace('http://127.0.0.1:4000', address), init);
  expect(answer.status).toBe(
    /\/(contacts|settings\/numbers|submit|messages|sms\/send|calls|call-flows|calendars|appointments|workflows|automations|webhooks\/manage)$/.test(
      url,
    )
      ? 201
      : 200,
  );
  if (stream) expect(answer.headers.get('content-type')).toContain('text/event-stream');
  else expect(await answer.json()).toMatchObject({ data: expect.anything() });
  cut.abort();
}

/** What the demo account has besides contacts. */
async function expectFilled(address: string): Promise<void> {
  const ask = async (path: string) => JSON.parse((await get(`${address}/api/v1${path}`, secret('demo.key'))).body).data;
  const { data: flows } = await ask('/call-flows');
  expect(flows).toMatchObject([{ name: 'Main line', publishedVersion: 1 }]);
  expect(await ask(`/call-flows/${flows[0].id}/validate`)).toEqual({ blockers: [] });
  const { data: members } = await ask('/call-flows/roster?presence=on');
  expect(members.map(({ did }: { did: string }) => did)).toEqual(['+14155550170', '+14155550171']);
  expect((await ask('/call-flows/numbers')).data).toMatchObject([{ claimedBy: { type: 'call_flow', id: flows[0].id }, wired: false }]);
  const { data: calls } = await ask('/calls?per_page=50');
  const statuses = calls.map(({ status }: { status: string }) => status);
  expect([calls.length, [...new Set(statuses)].sort()]).toEqual([13, ['completed', 'missed', 'no_answer', 'voicemail']]);
  expect(Date.now() - Date.parse(calls[0].startedAt)).toBeLessThan(60 * 60 * 1000);
  expect((await ask('/custom-fields?entity_type=deal')).map(({ fieldKey }: { fieldKey: string }) => fieldKey)).toEqual(['competitor']);
  expect((await ask('/imports')).data).toMatchObject([{ name: 'Fair in Berlin', totalRows: 6 }]);
}

describe('the server as a process', () => {
  let server: ServerProcess;
  let address: string;

  it('fills a demo account on its first start and tells how to call it', async () => {
    server = start();
    address = await server.address();
    const { body } = await get(`${address}/api/v1/contacts?per_page=1`, secret('demo.key'));
    expect(JSON.parse(body).data.meta.total).toBe(60);
    expect(server.output).toContain(`demo@example.com, password ${secret('demo.password')}`);
    expect(server.output).toContain(`$(cat ${file('demo.key')})`);
    expect(server.output).toContain(`${address}/f/${secret('demo.form')}`);
    expect((await get(`${address}/f/${secret('demo.form')}`)).body).toContain('<h1>Contact us</h1>');
  });

  it('shows in it how calls are answered, and what came in from a file', () => expectFilled(address));

  it('answers the first calls of the README as they stand there', async () => {
    const calls = curlCalls((name) => secret(name.replace(/^data\//, '')));
    expect(calls.length).toBeGreaterThanOrEqual(3);
    for (const call of calls) await expectAnswer(call, address);
  });

  it('keeps its secrets for its own eyes', () => {
    for (const name of ['demo.key', 'demo.password', 'secret.key']) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    expect(server.output).not.toContain(secret('secret.key'));
    expect(server.output).not.toContain(secret('demo.key'));
  });

  it('says at SIGTERM that it is not ready, ends what it has begun and exits with 0', async () => {
    const { finish, answered } = await begun(`${address}/api/v1/contacts`, secret('demo.key'));
    server.signal('SIGTERM');
    expect(await readinessAfter(address)).toBe(503);
    finish();
    const { status, headers } = await answered;
    expect(status).toBe(201);
    expect(headers.connection).toBe('close');
    expect(await server.ended()).toBe(0);
    expect(existsSync(file('database.lock'))).toBe(false);
  });

  it('finds the demo account again on the next start, with what was written last', async () => {
    const before = [secret('demo.key'), secret('demo.password'), secret('secret.key')];
    server = start();
    address = await server.address();
    expect([secret('demo.key'), secret('demo.password'), secret('secret.key')]).toEqual(before);
    expect(server.output).toContain(secret('demo.password'));
    const { body } = await get(`${address}/api/v1/contacts?search=Minute`, secret('demo.key'));
    expect(JSON.parse(body).data.meta.total).toBe(1);
  });

  it('refuses to share the embedded database, in words', async () => {
    const second = start();
    expect(await second.ended()).toBe(1);
    expect(second.output).toMatch(/^The server cannot start\. The embedded database in .+ is in use by another process/m);
  });

  it('ends at once at a second signal', async () => {
    const { answered } = await begun(`${address}/api/v1/contacts`, secret('demo.key'));
    server.signal('SIGTERM');
    expect(await readinessAfter(address)).toBe(503);
    server.signal('SIGTERM');
    await expect(answered).rejects.toThrow();
    expect(await server.ended()).toBe(1);
  });
});

/** Ends what is left of a group of processes. */
function endAll(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nothing is.
  }
}

describe('npm start', () => {
  const folders: string[] = [];
  const withDatabase = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-npm-'));
    folders.push(folder);
    await embeddedIn(folder);
    return folder;
  };
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('is the server, and ends in good order with it where npm is told to stop', async () => {
    const port = await freePort();
    const folder = await withDatabase();
    const env = { PATH: process.env.PATH, PORT: `${port}`, DATA_DIR: folder, SEED_DEMO: '0' };
    const npm = spawn('npm', ['start'], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    npm.stdout.on('data', (text: Buffer) => {
      said += text.toString();
    });
    try {
      await eventually(() => said.includes('"listening"'));
      npm.kill('SIGTERM');
      await eventually(() => said.includes('"stopped"'));
      await eventually(() => !existsSync(join(folder, 'database.lock')));
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    } finally {
      endAll(npm.pid!);
    }
  });

  it('takes a Ctrl-C that npm hands on for the one that the terminal has sent', async () => {
    const server = new ServerProcess({ DATA_DIR: await withDatabase(), SEED_DEMO: '0' });
    running.push(server);
    await server.address();
    for (const wait of [20, 0]) {
      server.signal('SIGINT');
      await pause(wait);
    }
    expect(await server.ended()).toBe(0);
  });
});

describe('a first start that was killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crm-killed-'));
  const kept = (name: string) => join(folder, name);
  const begin = () => {
    const made = new ServerProcess({ DATA_DIR: folder });
    running.push(made);
    return made;
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('while it made the demo account is made up for by the next one', async () => {
    const killed = begin();
    while (!existsSync(kept('demo.key'))) await pause(5);
    await killed.kill();
    expect([existsSync(kept('demo.form')), existsSync(kept('demo.unfinished'))]).toEqual([false, true]);
    const server = begin();
    const address = await server.address();
    expect(existsSync(kept('demo.unfinished'))).toBe(false);
    const [key, password, form] = ['demo.key', 'demo.password', 'demo.form'].map((name) => readFileSync(kept(name), 'utf8').trim());
    expect(JSON.parse((await get(`${address}/api/v1/contacts?per_page=1`, key)).body).data.meta.total).toBe(60);
    expect((await get(`${address}/f/${form}`)).status).toBe(200);
    const body = JSON.stringify({ email: 'demo@example.com', password });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${address}/api/v1/auth/login`, { method: 'POST', headers, body })).status).toBe(200);
    // A version that knows nothing of this may have served it in between.
    const [aside] = readdirSync(folder).filter((name) => name.startsWith('database.aside-'));
    expect(existsSync(kept(`${aside}/PG_VERSION`))).toBe(true);
  });

  it('leaves the database that is put in its place as it is', async () => {
    await running.at(-1)!.kill();
    const key = readFileSync(kept('demo.key'), 'utf8').trim();
    writeFileSync(kept('demo.unfinished'), 'the name of another database\n');
    const address = await begin().address();
    expect(existsSync(kept('demo.unfinished'))).toBe(false);
    expect(JSON.parse((await get(`${address}/api/v1/contacts?per_page=1`, key)).body).data.meta.total).toBe(60);
  });
});
