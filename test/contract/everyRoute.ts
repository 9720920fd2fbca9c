import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { Scope } from '../../src/kernel/model/scopes.js';
import { successStatuses } from '../../src/rest/openapi.responses.js';
import type { MountedRow } from '../../src/rest/table.js';
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
import { expectPublished, published } from './published.js';
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
const unknown = (row: MountedRow['row']): Sample => ({
  params: Object.fromEntries([...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, v4()])),
});

function call({ row }: MountedRow, client: Client, sample: Sample, headers?: Record<string, string>): Promise<Reply> {
  const body = row.method === 'GET' ? undefined : sample.body;
  return client.send(row.method, pathOf(row.path, sample), body, headers);
}

function sendText({ row }: MountedRow, client: Client, sample: Sample, payload: string, type = 'application/json'): Promise<Reply> {
  const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(payload)) };
  return client.raw({ method: row.method, path: basePath + pathOf(row.path, sample), headers, payload });
}

/** Who calls where all should go well. */
const caller = ({ needs }: MountedRow, sample: Sample) =>
  sample.as ?? (needs.public ? running.anybody() : needs.session ? home.owner : anyKey);

function expectError(mounted: MountedRow, reply: Reply, status: number) {
  expectRefusal(reply, status);
  expectPublished(mounted.address, reply);
}

/** Every caller that a row refuses with 403, by what it lacks. */
async function deniedTo({ row, needs }: MountedRow): Promise<[string, Client][]> {
  if (needs.public) return [];
  const denied: [string, Client][] = [];
  if (row.method !== 'GET') denied.push(['a read-only key', readKey]);
  const foreign = Object.values(Scope).find((scope) => !needs.scopes.includes(scope))!;
  if (needs.scopes.length > 0) denied.push([`a key for ${foreign} only`, await keyFor(foreign)]);
  if (needs.session) denied.push(['a key', anyKey]);
  if (needs.admin) denied.push(['a key without the admin permission', writeKey]);
  if (needs.role !== 'member') denied.push(['a member', member]);
  if (needs.role === 'owner') denied.push(['an admin', admin]);
  return denied;
}

function itRefusesStrangers(mounted: MountedRow) {
  const { row, needs } = mounted;
  it('asks for credentials before it looks at anything else', async () => {
    await expectNothingWritten(running, async () => {
      expectError(mounted, await call(mounted, running.anybody(), unknown(row)), 401);
      expectError(mounted, await call(mounted, running.anybody().with({ authorization: 'Bearer svc_nonsense' }), unknown(row)), 401);
      if (row.method !== 'GET') expectError(mounted, await sendText(mounted, running.anybody(), unknown(row), '{"a":'), 401);
    });
  });

  it('refuses callers that lack a right, and leaves no trace', async () => {
    const sample = await sampleOf(mounted.address, home);
    const denied = await deniedTo(mounted);
    await expectNothingWritten(running, async () => {
      for (const [who, client] of denied) {
        const reply = await call(mounted, client, { ...sample, as: undefined });
        expect({ who, status: reply.status }).toEqual({ who, status: 403 });
        expectError(mounted, reply, 403);
      }
    });
  });
  if (needs.scopes.length === 1 && !needs.session && needs.role === 'member') {
    it('serves a key that has just its scope', async () => {
      const reply = await call(mounted, await keyFor(needs.scopes[0]!), await sampleOf(mounted.address, home));
      expect(successStatuses(mounted).concat(410)).toContain(reply.status);
    });
  }
}

function itHidesForeignRecords(mounted: MountedRow) {
  const { row, needs } = mounted;
  // What is public is everybody's by its id.
  if (!needs.public) itHidesThemAsUnknown(mounted);
  it('answers 404 for an unknown record whatever the body says of itself', async () => {
    const own = await sampleOf(mounted.address, home);
    const reply = await call(mounted, caller(mounted, own), { ...own, params: unknown(row).params });
    expectError(mounted, reply, 404);
  });
}

function itHidesThemAsUnknown(mounted: MountedRow) {
  it('answers a record of another account like one that does not exist', async () => {
    const own = await sampleOf(mounted.address, home);
    const foreign = await sampleOf(mounted.address, abroad);
    const client = caller(mounted, own);
    await expectNothingWritten(running, async () => {
      for (const name of Object.keys(own.params!)) {
        const reply = (value: string) => call(mounted, client, { ...own, params: { ...own.params, [name]: value } }, sameId);
        const theirs = await reply(foreign.params![name]!);
        const nobodys = await reply(v4());
        expectError(mounted, theirs, 404);
        expect(theirs.text).toBe(nobodys.text);
        expect(await reply('no-such-id')).toMatchObject({ status: 404, text: nobodys.text });
      }
    });
  });
}

/** How many records a list answered. */
const listed = (reply: Reply): number => (Array.isArray(reply.body.data) ? reply.body.data : reply.body.data.data).length;

function itSucceeds(mounted: MountedRow) {
  const { row } = mounted;
  it(`answers ${row.status} in the shape that is published`, async () => {
    const sample = await sampleOf(mounted.address, home);
    const reply = await call(mounted, caller(mounted, sample), sample, { 'x-request-id': 'mine-1' });
    if (![row.status, ...successStatuses(mounted)].includes(reply.status)) throw new Error(`${reply.status} ${reply.text}`);
    expectPublished(mounted.address, reply);
    expect(reply.headers['x-request-id']).toBe('mine-1');
    if (row.list) expect(listed(reply)).toBeGreaterThan(0);
  });
}

function itReadsJsonOnly(mounted: MountedRow) {
  const { row } = mounted;
  // A forgiving row answers whatever is sent as ever, a retired one that it is retired: neither reads a body.
  const status = row.forgiving || row.status === 410 ? row.status : 400;
  it(`answers ${status} for a body that is no JSON object`, async () => {
    const sample = await sampleOf(mounted.address, home);
    const client = caller(mounted, sample);
    const send = (payload: string, type: string) => sendText(mounted, client, sample, payload, type);
    await expectNothingWritten(running, async () => {
      const expected = (reply: Reply) => (status < 400 ? expect(reply.status).toBe(status) : expectError(mounted, reply, status));
      expected(await send('{"a":', 'application/json'));
      expected(await send('a=1', 'application/x-www-form-urlencoded'));
      if (row.operation) expected(await send('"text"', 'application/json'));
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

/** Proves what holds for every row, for one part of the rows. The parts are files, so that they run beside each other. */
export function itServesPart(part: number): void {
  const named = parts.flat();
  const isMine = ({ module }: MountedRow) => (part < parts.length ? parts[part]!.includes(module) : !named.includes(module));
  const rows = published.rows.filter(isMine);
  describe.each(rows.map((mounted) => [mounted.address, mounted] as const))('%s', (_address, mounted) => {
    if (!mounted.needs.public) itRefusesStrangers(mounted);
    if (mounted.row.path.includes('{')) itHidesForeignRecords(mounted);
    if (mounted.row.method !== 'GET') itReadsJsonOnly(mounted);
    itSucceeds(mounted);
  });
}
