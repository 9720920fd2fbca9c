import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chapters } from '../../src/front/guide.js';
import { tabs } from '../../src/front/tabs.js';
import { type Account, type KeyClient, type Loose, type Reply, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';
import { curlCalls } from '../support/readme.js';

let crm: TestServer;
let account: Account;
let key: KeyClient;
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  await account.deal({});
  key = await account.key({ permission: 'admin' });
});
afterAll(() => crm.close());

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const visit = (path: string, headers: Record<string, string> = browser) => crm.anybody().raw({ path, headers });
const pages = ['/', '/docs', '/graphql', '/guide', ...chapters.map((name) => `/guide/${name}`)];

const policyOf = ({ headers }: Reply) =>
  new Map(
    String(headers['content-security-policy'])
      .split('; ')
      .map((part) => [part.split(' ')[0]!, part.split(' ').slice(1)]),
  );
const loadedBy = ({ text }: Reply) => [...text.matchAll(/<(?:script src|link rel="stylesheet" href)="([^"]+)"/g)].map(([, url]) => url!);

describe('a page', () => {
  it.each(pages)('%s loads our own files alone, and runs no script that stands in it', async (path) => {
    const reply = await visit(path);
    expect([reply.status, reply.headers['content-type'], reply.headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    const policy = policyOf(reply);
    expect([policy.get('default-src'), policy.get('script-src'), policy.get('connect-src')]).toEqual([["'none'"], ["'self'"], ["'self'"]]);
    expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
    expect(reply.text).not.toMatch(/<script(?! src=)|<style| on\w+="|javascript:/);
    expect(loadedBy(reply).length).toBeGreaterThan(1);
    for (const url of loadedBy(reply)) expect(url).toMatch(/^\/assets\//);
  });

  it.each(pages)('%s has no form that is sent before its script runs: a password would stand in the address', async (path) => {
    const reply = await visit(path);
    const isTool = path === '/docs' || path === '/graphql';
    expect(policyOf(reply).get('form-action')).toEqual([isTool ? "'self'" : "'none'"]);
    const forms = reply.text.match(/<form\b[^>]*>/g) ?? [];
    expect(forms).toEqual(path === '/' ? ['<form data-login method="post">'] : []);
  });

  it('loads files that browsers keep for good, compressed, and only those of this version', async () => {
    const urls = new Set((await Promise.all(pages.map((path) => visit(path)))).flatMap(loadedBy));
    const workers = [...(await visit('/graphql')).text.matchAll(/data-\w+="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
    expect(workers).toHaveLength(3);
    for (const url of [...urls, ...workers]) {
      const reply = await visit(url, { 'accept-encoding': 'br' });
      expect([url, reply.status, reply.headers['content-encoding']]).toEqual([url, 200, 'br']);
      expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(reply.headers['content-type']).toMatch(url.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    }
    const old = [...urls][0]!.replace(/^\/assets\/[^/]+/, '/assets/0.0.0');
    for (const path of [old, '/assets/x/__proto__', '/assets/x/constructor', '/assets/x/..%2f..%2fpackage.json']) {
      expect((await visit(path)).status).toBe(404);
    }
  });
});

describe('/graphql', () => {
  it('is a page only to a browser that asks nothing', async () => {
    const { text } = await visit('/graphql');
    expect(text).toContain('<title>GraphiQL</title>');
    const asked = await key.raw({ path: '/graphql?query=%7B__typename%7D', headers: { ...browser, 'apollo-require-preflight': '1' } });
    expect(asked.text).not.toContain('<title>');
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json', 'text/html;q=0, */*']) {
      expect((await visit('/graphql', { accept })).text).not.toContain('<title>');
    }
  });

  it('opens with examples that all run', async () => {
    for (const { query, variables } of tabs) {
      const given = variables === undefined ? undefined : (JSON.parse(variables) as Record<string, unknown>);
      if (!query.includes('subscription')) {
        const { data, errors } = await key.gql(query, given);
        expect([errors, Object.values(data).length]).toEqual([undefined, Object.values(data).length]);
        continue;
      }
      const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
      expect((await socket.run(query).nth(1))[0].kind).toBe('ready');
      socket.cut();
    }
  });
});

describe('what is to download', () => {
  it('is the published schema, for whoever may ask for it', async () => {
    const { status, text, headers } = await key.raw({ path: '/schema.graphql' });
    expect([status, headers['content-type']]).toEqual([200, 'application/graphql; charset=utf-8']);
    expect(text).toBe(readFileSync('schema/schema.graphql', 'utf8'));
    const strict = await server({ config: { production: true } });
    expect((await strict.anybody().raw({ path: '/schema.graphql' })).status).toBe(401);
    await strict.close();
  });
});

describe("the demo's login", () => {
  it('is shown to this machine alone, and only where there is a demo', async () => {
    const password = 'a demo password';
    expect((await visit('/')).text).not.toContain('demo@example.com');
    crm.app.demo = { email: 'demo@example.com', password };
    expect((await visit('/')).text).toContain(password);
    expect((await visit('/', { ...browser, 'x-forwarded-for': '203.0.113.9' })).text).not.toContain(password);
    // A page of the internet whose name leads to this machine.
    for (const host of ['evil.example:4000', '127.0.0.1.evil.example', '203.0.113.9:4000'])
      expect([host, (await visit('/', { ...browser, host })).text.includes(password)]).toEqual([host, false]);
    for (const host of ['localhost:4000', 'LOCALHOST', '[::1]:4000', new URL(crm.app.config.publicUrl).host])
      expect([host, (await visit('/', { ...browser, host })).text.includes(password)]).toEqual([host, true]);
    crm.app.demo = undefined;
  });
});

describe('PAGES=0', () => {
  it('serves none of them', async () => {
    const bare = await server({ config: { pages: false } });
    for (const path of ['/', '/docs', '/guide', '/schema.graphql']) {
      expect((await bare.anybody().raw({ path, headers: browser })).status).toBe(404);
    }
    expect((await bare.anybody().raw({ path: '/graphql', headers: browser })).text).not.toContain('<title>');
    await bare.close();
  });
});

describe('the guide', () => {
  it('has every chapter of its folder, and its links lead somewhere', async () => {
    expect(readdirSync('docs/guide').sort()).toEqual(chapters.map((name) => `${name}.md`).sort());
    const text = (await Promise.all(chapters.map((name) => visit(`/guide/${name}`)))).map((reply) => reply.text).join();
    for (const [, path] of text.matchAll(/href="(\/[^"#]*)"/g))
      if (!path!.startsWith('/assets')) expect([path, (await visit(path!)).status]).toEqual([path, 200]);
    expect((await visit('/guide/nothing')).status).toBe(404);
  });

  it.each(chapters)('%s: every example does what it says', async (name) => {
    const text = readFileSync(`docs/guide/${name}.md`, 'utf8');
    const calls = curlCalls(() => key.secret, text);
    expect(calls.length).toBeGreaterThan(0);
    for (const { url, headers, body, stream } of calls) {
      const path = url.replace('http://127.0.0.1:4000', '');
      if (stream) {
        const live = await Stream.open(key, (JSON.parse(body!) as { query: string }).query);
        expect((await live.nth(1))[0].kind).toBe('ready');
        live.cut();
        continue;
      }
      const reply = await crm.anybody().raw({ method: body === undefined ? 'GET' : 'POST', path, headers, payload: body });
      if (name === 'errors') expectAsWritten(reply, text);
      else expect([path, reply.status < 300, (reply.body as Loose).errors]).toEqual([path, true, undefined]);
    }
  });

  function expectAsWritten({ body }: Reply, text: string) {
    const [, block] = /```json\n([\s\S]+?)```/.exec(text)!;
    const { requestId: _id, ...written } = JSON.parse(block!);
    if (body.errors)
      expect(body.errors[0].extensions).toMatchObject({ code: written.code, status: 400, field: 'email', details: written.details });
    else expect(body).toMatchObject(written);
  }

  it('idempotency: the second answer is the first one', async () => {
    const [call, again] = curlCalls(() => key.secret, readFileSync('docs/guide/idempotency.md', 'utf8'));
    const path = '/api/v1/contacts';
    const first = await crm.anybody().raw({ method: 'POST', path, headers: call!.headers, payload: call!.body });
    const second = await crm.anybody().raw({ method: 'POST', path, headers: again!.headers, payload: again!.body });
    expect([second.headers['idempotent-replayed'], second.body.data.id]).toEqual(['true', first.body.data.id]);
  });
});

describe('the recipe for pollers', () => {
  it('tells each event once, and the one that it stopped at a second time, by the same id', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-poll-'));
    const [, recipe] = /```js\n([\s\S]+?)```/.exec(readFileSync('docs/guide/polling.md', 'utf8'))!;
    const here = recipe!.replace('http://127.0.0.1:4000', `http://127.0.0.1:${crm.wire.port}`).replace("'100'", "'2'");
    writeFileSync(join(folder, 'poll.mjs'), here);
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/demo.key'), `${key.secret}\n`);
    const poll = async () => {
      const { stdout } = await promisify(execFile)(process.execPath, ['poll.mjs'], { cwd: folder });
      return stdout.split('\n').filter(Boolean);
    };
    expect(await poll()).toEqual([]);
    const made: string[] = [];
    for (const firstName of ['One', 'Two', 'Three']) made.push((await account.contact({ firstName })).id as string);
    await account.tag('Not asked for');
    const position = join(folder, 'position.txt');
    const before = readFileSync(position);
    const told: string[] = [];
    await eventually(async () => told.push(...(await poll())) >= 3);
    expect(told.map((line) => line.split(' ').slice(1))).toEqual(made.map((id) => ['contact.created', id]));
    expect(await poll()).toEqual([]);
    writeFileSync(position, before);
    expect(await poll()).toEqual(told);
    rmSync(folder, { recursive: true });
  });
});
