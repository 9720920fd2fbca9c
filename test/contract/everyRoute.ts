import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { Scope } from '../../src/kernel/model/scopes.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { successStatuses } from '../../src/rest/openapi.responses.js';
import {
  type Account,
  basePath,
  type Client,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type KeyClient,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { expectPublished, operationAt, published } from './published.js';
import { pathOf, type Sample, sampleOf } from './samples.js';

let running: TestServer;
let home: Account;
let abroad: Account;
let anyKey: KeyClient;
let readKey: KeyClient;
let writeKey: KeyClient;
let member: Client;
let admin: Client;

beforeAll(async () => {
  running = await server();
  home = await running.seed.account({ name: 'Home' });
  abroad = await running.seed.account({ name: 'Abroad' });
  anyKey = await used(home.key());
  readKey = await used(home.key({ permission: 'read' }));
  writeKey = await used(home.key({ permission: 'read-write' }));
  member = await home.member('member');
  admin = await home.member('admin');
});
// The server notes about once a minute when a caller was last seen: that minute never passes here.
const begin = new Date();
beforeEach(() => running.clock.set(begin));
afterAll(() => running.close());

/** A key after its first use, which the server notes. */
async function used(made: Promise<KeyClient>): Promise<KeyClient> {
  const key = await made;
  dataOf(await key.get('/auth/me'));
  return key;
}

const scopedKeys = new Map<string, Promise<KeyClient>>();

/** A key for one domain only. */
function keyFor(scope: string): Promise<KeyClient> {
  const key = scopedKeys.get(scope) ?? used(home.key({ scopes: [scope] }));
  scopedKeys.set(scope, key);
  return key;
}

const sameId = { 'x-request-id': 'the-same' };
const unknown = (endpoint: BoundEndpoint['endpoint']): Sample => ({
  params: Object.fromEntries([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, v4()])),
});

function call({ endpoint }: BoundEndpoint, client: Client, sample: Sample, headers?: Record<string, string>): Promise<Reply> {
  const body = endpoint.method === 'GET' ? undefined : sample.body;
  return client.send(endpoint.method, pathOf(endpoint.path, sample), body, headers);
}

function sendText({ endpoint }: BoundEndpoint, client: Client, sample: Sample, payload: string, type = 'application/json'): Promise<Reply> {
  const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(payload)) };
  return client.raw({ method: endpoint.method, path: basePath + pathOf(endpoint.path, sample), headers, payload });
}

/** Who calls where all should go well. */
const caller = ({ needs }: BoundEndpoint, sample: Sample) =>
  sample.as ?? (needs.public ? running.anybody() : needs.session ? home.owner : anyKey);

function expectError(bound: BoundEndpoint, reply: Reply, status: number) {
  expectRefusal(reply, status);
  expectPublished(bound.address, reply);
}

/** Every caller that an endpoint refuses with 403, by what it lacks. */
async function deniedTo({ endpoint, needs }: BoundEndpoint): Promise<[string, Client][]> {
  if (needs.public) return [];
  const denied: [string, Client][] = [];
  if (endpoint.method !== 'GET') denied.push(['a read-only key', readKey]);
  const foreign = Object.values(Scope).find((scope) => !needs.scopes.includes(scope))!;
  if (needs.scopes.length > 0) denied.push([`a key for ${foreign} only`, await keyFor(foreign)]);
  if (needs.session) denied.push(['a key', anyKey]);
  if (needs.admin) denied.push(['a key without the admin permission', writeKey]);
  if (needs.role !== 'member') denied.push(['a member', member]);
  if (needs.role === 'owner') denied.push(['an admin', admin]);
  return denied;
}

function itRefusesStrangers(bound: BoundEndpoint) {
  const { endpoint, needs } = bound;
  it('asks for credentials before it looks at anything else', async () => {
    await expectNothingWritten(running, async () => {
      expectError(bound, await call(bound, running.anybody(), unknown(endpoint)), 401);
      expectError(bound, await call(bound, running.anybody().with({ authorization: 'Bearer svc_nonsense' }), unknown(endpoint)), 401);
      if (endpoint.method !== 'GET') expectError(bound, await sendText(bound, running.anybody(), unknown(endpoint), '{"a":'), 401);
    });
  });

  it('refuses callers that lack a right, and leaves no trace', async () => {
    const sample = await sampleOf(bound.address, home);
    const denied = await deniedTo(bound);
    await expectNothingWritten(running, async () => {
      for (const [who, client] of denied) {
        const reply = await call(bound, client, { ...sample, as: undefined });
        expect({ who, status: reply.status }).toEqual({ who, status: 403 });
        expectError(bound, reply, 403);
      }
    });
  });
  if (needs.scopes.length === 1 && !needs.session && needs.role === 'member') {
    it('serves a key that has just its scope', async () => {
      const reply = await call(bound, await keyFor(needs.scopes[0]!), await sampleOf(bound.address, home));
      expect(successStatuses(bound).concat(410)).toContain(reply.status);
    });
  }
}

function itHidesForeignRecords(bound: BoundEndpoint) {
  const { endpoint, needs } = bound;
  // What is public is everybody's by its id.
  if (!needs.public) itHidesThemAsUnknown(bound);
  it('answers 404 for an unknown record whatever the body says of itself', async () => {
    const own = await sampleOf(bound.address, home);
    const reply = await call(bound, caller(bound, own), { ...own, params: unknown(endpoint).params });
    expectError(bound, reply, 404);
  });
}

function itHidesThemAsUnknown(bound: BoundEndpoint) {
  it('answers a record of another account like one that does not exist', async () => {
    const own = await sampleOf(bound.address, home);
    const foreign = await sampleOf(bound.address, abroad);
    const client = caller(bound, own);
    await expectNothingWritten(running, async () => {
      for (const name of Object.keys(own.params!)) {
        const reply = (value: string) => call(bound, client, { ...own, params: { ...own.params, [name]: value } }, sameId);
        const theirs = await reply(foreign.params![name]!);
        const nobodys = await reply(v4());
        expectError(bound, theirs, 404);
        expect(theirs.text).toBe(nobodys.text);
        expect(await reply('no-such-id')).toMatchObject({ status: 404, text: nobodys.text });
      }
    });
  });
}

/** How many records a list answered. */
const listed = (reply: Reply): number => (Array.isArray(reply.body.data) ? reply.body.data : reply.body.data.data).length;

function itSucceeds(bound: BoundEndpoint) {
  const { endpoint } = bound;
  it(`answers ${endpoint.status} in the shape that is published`, async () => {
    const sample = await sampleOf(bound.address, home);
    const reply = await call(bound, caller(bound, sample), sample, { 'x-request-id': 'mine-1' });
    if (![endpoint.status, ...successStatuses(bound)].includes(reply.status)) throw new Error(`${reply.status} ${reply.text}`);
    expectPublished(bound.address, reply);
    expect(reply.headers['x-request-id']).toBe('mine-1');
    if (reply.status < 400)
      expect('set-cookie' in reply.headers).toBe('Set-Cookie' in operationAt(bound.address).responses[reply.status]!.headers!);
    if (endpoint.list) expect(listed(reply)).toBeGreaterThan(0);
  });
}

function itReadsJsonOnly(bound: BoundEndpoint) {
  const { endpoint } = bound;
  // A forgiving endpoint answers whatever is sent as ever, a retired one that it is retired: neither reads a body.
  const status = endpoint.forgiving || endpoint.status === 410 ? endpoint.status : 400;
  it(`answers ${status} for a body that is no JSON object`, async () => {
    const sample = await sampleOf(bound.address, home);
    const client = caller(bound, sample);
    const send = (payload: string, type: string) => sendText(bound, client, sample, payload, type);
    await expectNothingWritten(running, async () => {
      const expected = (reply: Reply) => (status < 400 ? expect(reply.status).toBe(status) : expectError(bound, reply, status));
      expected(await send('{"a":', 'application/json'));
      expected(await send('a=1', 'application/x-www-form-urlencoded'));
      if (endpoint.operation) expected(await send('"text"', 'application/json'));
    });
  });
}

/** The modules of each part. What stands in none of them is in the last. */
const parts = [
  [
    'auth',
    'users',
    'apiKeys',
    'tags',
    'customFields',
    'smartLists',
    'contacts',
    'events',
    'companies',
    'products',
    'webhooks',
    'tasks',
    'notes',
  ],
  ['forms', 'pipelines', 'deals', 'calendars', 'invoices', 'billing', 'templates', 'numbers', 'bulk', 'dashboard', 'schema'],
];

/** Proves what holds for every endpoint, for one part of the endpoints. The parts are files, so that they run beside each other. */
export function itServesPart(part: number): void {
  const named = parts.flat();
  const isMine = ({ module }: BoundEndpoint) => (part < parts.length ? parts[part]!.includes(module) : !named.includes(module));
  const endpoints = published.endpoints.filter(isMine);
  describe.each(endpoints.map((bound) => [bound.address, bound] as const))('%s', (_address, bound) => {
    if (!bound.needs.public) itRefusesStrangers(bound);
    if (bound.endpoint.path.includes('{')) itHidesForeignRecords(bound);
    if (bound.endpoint.method !== 'GET') itReadsJsonOnly(bound);
    itSucceeds(bound);
  });
}
