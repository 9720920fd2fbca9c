import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newKey } from '../../src/modules/auth/auth.secrets.js';
import { type Account, type Client, dataOf, day, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

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

  it('shows null where nothing restricts the key', async () => {
    const plain = dataOf(await make({ scopes: [], ipAllowlist: null }));
    expect(plain).toMatchObject({ scopes: null, ipAllowlist: null, rateLimit: null, expiresAt: null });
  });
});

describe('a new key', () => {
  it.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['no permission', { permission: undefined }, 'permission'],
    ['an unknown permission', { permission: 'owner' }, 'permission'],
    ['an unknown scope', { scopes: ['contacts', 'everything'] }, 'scopes.1'],
    ['an address that is no range', { ipAllowlist: ['10.0.0.1'] }, 'ipAllowlist.0'],
    ['a range that is none', { ipAllowlist: ['10.0.0.0/8', '10.0.0.0/33'] }, 'ipAllowlist.1'],
    ['no request a minute', { rateLimit: 0 }, 'rateLimit'],
    ['more than ten thousand requests a minute', { rateLimit: 10_001 }, 'rateLimit'],
    ['an end that has passed', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
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

describe('a key', () => {
  it('is told from a mistyped one without a look-up', async () => {
    const { secret } = await acme.key();
    const typo = secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await api.statements(async () => expectRefusal(await bearer(typo).get('/contacts'), 401))).toBe(0);
    expectRefusal(await bearer(newKey(api.clock)).get('/contacts'), 401);
  });

  it('counts only in the Authorization header', async () => {
    const { secret } = await acme.key();
    const attempts = [
      api.anybody().get(`/contacts?api_key=${secret}&key=${secret}&access_token=${secret}`),
      api.anybody().get('/contacts', { cookie: `service_session=${secret}` }),
      api.anybody().get('/contacts', { 'x-api-key': secret }),
    ];
    for (const reply of await Promise.all(attempts)) expectRefusal(reply, 401);
  });

  it('ends when it expires', async () => {
    const key = await acme.key({ expiresAt: soon() });
    expect((await key.get('/contacts')).status).toBe(200);
    api.clock.advance(day - 1000);
    expect((await key.get('/contacts')).status).toBe(200);
    api.clock.advance(2000);
    expectRefusal(await key.get('/contacts'), 401);
  });

  it('is bound to its account', async () => {
    const contact = await (await api.seed.account()).contact();
    expectRefusal(await (await acme.key()).get(`/contacts/${contact.id}`), 404);
  });

  it('ends with the membership of who made it', async () => {
    const admin = await acme.member('admin');
    const { key } = dataOf(await admin.post('/api-keys', { name: 'theirs', permission: 'read' }));
    expect((await bearer(key).get('/contacts')).status).toBe(200);
    const at = { accountId: acme.id, userId: admin.userId };
    await api.app.database.prisma.membership.update({ where: { key: at }, data: { status: 'removed' } });
    api.clock.advance(1000);
    expectRefusal(await bearer(key).get('/contacts'), 401);
  });
});

describe('an IP allowlist', () => {
  const from = (client: Client, ip: string) => client.with({ 'x-forwarded-for': ip }).get('/contacts');

  it.each([
    ['203.0.113.0/24', '203.0.113.255', 200],
    ['203.0.113.0/24', '203.0.114.0', 403],
    ['203.0.113.7/32', '203.0.113.7', 200],
    ['203.0.113.7/32', '203.0.113.8', 403],
    ['203.0.113.7/32', '::ffff:203.0.113.7', 200],
    ['203.0.113.7/32', '::ffff:203.0.113.8', 403],
    ['0.0.0.0/0', '198.51.100.1', 200],
    ['0.0.0.0/0', '2001:db8::1', 403],
    ['2001:db8::/32', '2001:db8:ffff::1', 200],
    ['2001:db8::1/128', '2001:db8::2', 403],
    ['::/0', '2001:db8::2', 200],
  ])('of %s answers %s with %i', async (range, ip, status) => {
    const reply = await from(await acme.key({ ipAllowlist: [range] }), ip);
    expect(reply.status).toBe(status);
    if (status === 403) expectRefusal(reply, 403);
  });

  it('lets no one in whose address cannot be read', async () => {
    expectRefusal(await from(await acme.key({ ipAllowlist: ['0.0.0.0/0'] }), 'unknown'), 403);
  });

  it('takes an IPv4 range written in IPv6 clothes', async () => {
    expect((await from(await acme.key({ ipAllowlist: ['::ffff:203.0.113.0/120'] }), '203.0.113.9')).status).toBe(200);
  });
});

describe('a key in steady use', () => {
  it('is looked for once by all who come with it at the same moment', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, async () => bearer(dataOf(await make({})).key)));
    const cost = await api.statements(async () => {
      const client = keys.pop()!;
      await Promise.all(Array.from({ length: 20 }, () => client.get('/openapi.json')));
    });
    // The key, its owner, his account, and that it was used.
    expect(cost).toBeLessThanOrEqual(4);
  });

  it('is refused within a second of its revocation by another process', async () => {
    const { key, id } = dataOf(await make({}));
    const client = bearer(key);
    for (let i = 0; i < 40; i++) {
      expect((await client.get('/tags')).status).toBe(200);
      await new Promise((resume) => setTimeout(resume, 20));
    }
    await api.app.database.prisma.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
    const revoked = performance.now();
    let begun: number;
    let status: number;
    do {
      begun = performance.now();
      status = (await client.get('/tags')).status;
      await new Promise((resume) => setTimeout(resume, 20));
    } while (status === 200 && begun - revoked < 3000);
    expect(status).toBe(401);
    expect(begun - revoked).toBeLessThan(1100);
  });
});
