import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { forgetCallers } from '../../src/modules/auth/auth.identify.js';
import {
  type Account,
  dataOf,
  day,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { trustProxy: ['loopback'] } });
  acme = await api.seed.account({ name: 'Acme' });
});
afterAll(() => api.close());
afterEach(() => api.clock.reset());

const make = (body: object) => acme.owner.post('/api-keys', { name: 'key', permission: 'read', ...body });
const bearer = (secret: string) => api.anybody().with({ authorization: `Bearer ${secret}` });
const soon = () => new Date(api.clock.now().getTime() + day).toISOString();

describe('POST /api-keys', () => {
  it('shows the whole key once, and never again', async () => {
    const reply = await make({ name: 'Import', permission: 'admin', scopes: ['contacts'], ipAllowlist: ['127.0.0.0/8'], rateLimit: 500 });
    expect(reply.status).toBe(201);
    const { key, ...record } = reply.body.data;
    expect(key).toMatch(/^svc_\w{60,}$/);
    expect(record).toEqual({
      id: expect.any(String),
      name: 'Import',
      prefix: key.slice(0, 12),
      permission: 'admin',
      scopes: ['contacts'],
      ipAllowlist: ['127.0.0.0/8'],
      rateLimit: 500,
      expiresAt: null,
      lastUsedAt: null,
      createdAt: expect.any(String),
    });
    const later = [
      await acme.owner.get('/api-keys'),
      await acme.owner.get(`/api-keys/${record.id}`),
      await acme.owner.patch(`/api-keys/${record.id}`, { name: 'Renamed' }),
      await bearer(key).get('/api-keys/check'),
    ];
    for (const { status, text } of later) expect([status, text.includes(key.slice(12))]).toEqual([200, false]);
  });

  it('keeps the hash of the key and not the key', async () => {
    const { key } = dataOf(await make({}));
    const { rows } = await api.app.database.execute('select to_jsonb(k)::text as kept from api_keys k');
    expect(JSON.stringify(rows)).not.toContain(key.slice(12, -4));
  });

  it('takes write as another word for read-write', async () => {
    expect(dataOf(await make({ permission: 'write' })).permission).toBe('read-write');
  });

  it('takes an address as the range of this one address', async () => {
    const made = dataOf(await make({ ipAllowlist: ['203.0.113.7', '2001:db8::1', '10.0.0.0/8'] }));
    expect(made.ipAllowlist).toEqual(['203.0.113.7/32', '2001:db8::1/128', '10.0.0.0/8']);
    const from = (ip: string) => bearer(made.key).get('/contacts', { 'x-forwarded-for': ip });
    expect((await from('203.0.113.7')).status).toBe(200);
    expect((await from('203.0.113.8')).status).toBe(403);
  });

  it('takes a day as the last one of the key, in the time zone of the workspace', async () => {
    const tokyo = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: tokyo.id }, data: { timezone: 'Asia/Tokyo' } });
    forgetCallers(api.app);
    const made = await tokyo.key({ expiresAt: '2099-12-31' });
    expect(made.record.expiresAt).toBe('2099-12-31T14:59:59.999Z');
    const { data } = await tokyo.owner.gql(
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { expiresAt } } }',
      {
        input: { name: 'a', permission: 'read', expiresAt: '2099-12-31' },
      },
    );
    expect(data.createApiKey.apiKey.expiresAt).toBe(made.record.expiresAt);
  });

  it('shows null where nothing restricts the key', async () => {
    const plain = dataOf(await make({ scopes: null, ipAllowlist: null }));
    expect(plain).toMatchObject({ scopes: null, ipAllowlist: null, rateLimit: null, expiresAt: null });
  });
});

describe('a new key', () => {
  it.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['no permission', { permission: undefined }, 'permission'],
    ['an unknown permission', { permission: 'owner' }, 'permission'],
    ['an empty list of scopes, which is not all of them', { scopes: [] }, 'scopes'],
    ['an empty list of addresses, which is not all of them', { ipAllowlist: [] }, 'ipAllowlist'],
    ['an unknown scope', { scopes: ['contacts', 'everything'] }, 'scopes.1'],
    ['an address that is none', { ipAllowlist: ['10.0.0.256'] }, 'ipAllowlist.0'],
    ['an address that is cut short', { ipAllowlist: ['10.1'] }, 'ipAllowlist.0'],
    ['an address of an interface', { ipAllowlist: ['fe80::1%eth0'] }, 'ipAllowlist.0'],
    ['a range that is cut short', { ipAllowlist: ['10.1/16'] }, 'ipAllowlist.0'],
    ['a range that is none', { ipAllowlist: ['10.0.0.0/8', '10.0.0.0/33'] }, 'ipAllowlist.1'],
    ['no request a minute', { rateLimit: 0 }, 'rateLimit'],
    ['more than ten thousand requests a minute', { rateLimit: 10_001 }, 'rateLimit'],
    ['an end that has passed', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a last day that has passed', { expiresAt: '2020-01-01' }, 'expiresAt'],
    ['an end without an offset', { expiresAt: '2099-01-01T00:00:00' }, 'expiresAt'],
  ])('is refused with %s', async (_what, body, field) => {
    await expectNothingWritten(api, async () => expectRefusal(await make(body), 400, field));
  });

  it('needs an owner or admin', async () => {
    const body = { name: 'key', permission: 'read' };
    expect((await (await acme.member('admin')).post('/api-keys', body)).status).toBe(201);
    const member = await acme.member('member');
    await expectNothingWritten(api, async () => expectRefusal(await member.post('/api-keys', body), 403));
    expectRefusal(await member.get('/api-keys'), 403);
  });
});

describe('an endpoint for sessions only', () => {
  it('refuses a key, even an admin one', async () => {
    const key = await acme.key();
    await expectNothingWritten(api, async () => {
      for (const method of ['GET', 'POST']) expectRefusal(await key.send(method, '/api-keys', undefined), 403);
      for (const method of ['GET', 'PATCH', 'DELETE']) expectRefusal(await key.send(method, `/api-keys/${key.record.id}`), 403);
      expectRefusal(await key.post('/auth/logout'), 403);
    });
  });
});

describe('GET /api-keys/check', () => {
  it('tells a key its own permissions', async () => {
    const key = await acme.key({ name: 'Checked', permission: 'read', scopes: ['tags'], rateLimit: 7, expiresAt: soon() });
    expect(dataOf(await key.get('/api-keys/check'))).toEqual({
      id: key.record.id,
      name: 'Checked',
      permission: 'read',
      scopes: ['tags'],
      ipAllowlist: null,
      rateLimit: 7,
      expiresAt: key.record.expiresAt,
      workspace: { id: acme.id, name: 'Acme' },
    });
  });

  it('shows the limit that holds where the key has none of its own', async () => {
    expect(dataOf(await (await acme.key()).get('/api-keys/check')).rateLimit).toBe(100);
  });

  it('is nothing for a session', async () => {
    expectRefusal(await acme.owner.get('/api-keys/check'), 400);
  });
});

describe('GET /api-keys', () => {
  it('lists the keys that are not revoked, newest first', async () => {
    const other = await api.seed.account();
    for (const name of ['first', 'second', 'third']) await other.key({ name });
    const { data, meta } = dataOf(await other.owner.get('/api-keys'));
    expect(data.map((k: { name: string }) => k.name)).toEqual(['third', 'second', 'first']);
    expect(meta).toMatchObject({ page: 1, per_page: 50, total: 3 });
    await other.owner.del(`/api-keys/${data[0].id}`);
    const after = dataOf(await other.owner.get('/api-keys?search=R&sort=name&order=asc'));
    expect(after.data.map((k: { name: string }) => k.name)).toEqual(['first']);
    expect(after.meta.total).toBe(1);
    expect(dataOf(await other.owner.get('/api-keys')).meta.total).toBe(2);
  });
});

describe('PATCH /api-keys/{id}', () => {
  it('changes what is given, keeps the rest, and holds within a second', async () => {
    const key = await acme.key({ scopes: ['contacts'], rateLimit: 50 });
    const changed = dataOf(await acme.owner.patch(`/api-keys/${key.record.id}`, { permission: 'read', scopes: ['tags'] }));
    expect(changed).toMatchObject({ name: 'key', permission: 'read', scopes: ['tags'], rateLimit: 50 });
    expectRefusal(await key.get('/contacts'), 403);
    expect((await key.get('/tags')).status).toBe(200);
    const cleared = dataOf(await acme.owner.patch(`/api-keys/${key.record.id}`, { scopes: null, rateLimit: null }));
    expect(cleared).toMatchObject({ permission: 'read', scopes: null, rateLimit: null });
  });
});

describe('a change of a key', () => {
  it('does not open it by an empty list, through either API', async () => {
    const { record } = await acme.key({ scopes: ['contacts'], ipAllowlist: ['127.0.0.0/8'] });
    for (const field of ['scopes', 'ipAllowlist']) {
      await expectNothingWritten(api, async () => {
        expectRefusal(await acme.owner.patch(`/api-keys/${record.id}`, { [field]: [] }), 400, field);
        const document = 'mutation ($id: ID!, $input: UpdateApiKeyInput!) { updateApiKey(id: $id, input: $input) { id } }';
        expectGraphQLRefusal(await acme.owner.gql(document, { id: record.id, input: { [field]: [] } }), 400, field);
      });
    }
  });
});

describe('DELETE /api-keys/{id}', () => {
  it('revokes the key at once', async () => {
    const key = await acme.key();
    expect((await key.get('/contacts')).status).toBe(200);
    expect(dataOf(await acme.owner.del(`/api-keys/${key.record.id}`))).toEqual({ id: key.record.id, deleted: true });
    expectRefusal(await key.get('/contacts'), 401);
    expectRefusal(await acme.owner.get(`/api-keys/${key.record.id}`), 404);
    expectRefusal(await acme.owner.del(`/api-keys/${key.record.id}`), 404);
  });
});
