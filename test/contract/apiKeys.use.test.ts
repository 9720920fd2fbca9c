import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newKey } from '../../src/modules/auth/auth.secrets.js';
import { type Account, type Client, dataOf, day, expectRefusal, minute, server, type TestServer } from '../support/index.js';

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

describe('a key', () => {
  it('is told from a mistyped one without a look-up', async () => {
    const { secret } = await acme.key();
    const typo = secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await api.statements(async () => expectRefusal(await bearer(typo).get('/contacts'), 401))).toBe(0);
    expectRefusal(await bearer(newKey(api.clock)).get('/contacts'), 401);
  });

  it('counts only in the Authorization header, also right after it was used there', async () => {
    const { secret } = await acme.key();
    expect((await bearer(secret).get('/contacts')).status).toBe(200);
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

  it('is no session, and a session no key, also right after it was used as what it is', async () => {
    const session = await acme.login();
    expect((await session.get('/auth/me')).status).toBe(200);
    expectRefusal(await bearer(session.cookie!).get('/auth/me'), 401);
  });

  it('moves the moment at which its person was last active', async () => {
    const admin = await acme.member('admin');
    const { key } = dataOf(await admin.post('/api-keys', { name: 'theirs', permission: 'read' }));
    api.clock.advance(day);
    expect((await bearer(key).get('/tags')).status).toBe(200);
    const { lastActiveAt } = dataOf(await acme.owner.get(`/users/${admin.userId}`));
    expect(api.clock.now().getTime() - Date.parse(lastActiveAt)).toBeLessThan(minute);
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

describe('a call that is refused', () => {
  const lastUsed = async (id: string) => dataOf(await acme.owner.get(`/api-keys/${id}`)).lastUsedAt;

  it('for its address is no use of the key, and hides none by who is allowed a moment later', async () => {
    const admin = await acme.member('admin');
    const body = { name: 'theirs', permission: 'read', ipAllowlist: ['203.0.113.7'] };
    const { key, id } = dataOf(await admin.post('/api-keys', body));
    const lastActive = async () => dataOf(await acme.owner.get(`/users/${admin.userId}`)).lastActiveAt;
    const before = await lastActive();
    api.clock.advance(day);
    const from = (ip: string) => bearer(key).with({ 'x-forwarded-for': ip }).get('/tags');
    expectRefusal(await from('203.0.113.8'), 403);
    expect([await lastUsed(id), await lastActive()]).toEqual([null, before]);
    // As many at once, so that they are answered by one look.
    const statuses = await Promise.all(['203.0.113.8', '203.0.113.7', '203.0.113.8'].map(async (ip) => (await from(ip)).status));
    expect(statuses).toEqual([403, 200, 403]);
    for (const at of [await lastUsed(id), await lastActive()]) expect(api.clock.now().getTime() - Date.parse(at)).toBeLessThan(minute);
  });

  it('since the key has expired is no use of it', async () => {
    const { key, id } = dataOf(await make({ expiresAt: soon() }));
    api.clock.advance(2 * day);
    expectRefusal(await bearer(key).get('/tags'), 401);
    expect(await lastUsed(id)).toBeNull();
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
