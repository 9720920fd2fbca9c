import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  password,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account({ name: 'Acme' });
});
afterAll(() => api.close());

const newcomer = (more: object = {}) => ({ email: `new${Math.random()}@example.com`, password, accountName: 'New', ...more });
const register = (body: object) => api.anybody().post('/auth/register', body);
const login = (body: object) => api.anybody().post('/auth/login', body);
const withoutId = ({ body: { requestId, ...rest } }: { body: { requestId: string } }) => rest;

describe('POST /auth/register', () => {
  it('makes an account with its owner and logs in', async () => {
    const client = api.anybody();
    const reply = await client.post('/auth/register', newcomer({ email: 'Grace@Example.com', accountName: 'Navy', firstName: 'Grace' }));
    expect(reply.status).toBe(200);
    const { user, account, role, accounts, mfaSetupRequired } = reply.body.data;
    expect(user).toMatchObject({ email: 'Grace@Example.com', firstName: 'Grace', lastName: null });
    expect(account).toEqual({ id: expect.any(String), name: 'Navy' });
    expect({ role, accounts, mfaSetupRequired }).toEqual({
      role: 'owner',
      accounts: [{ id: account.id, name: 'Navy', role: 'owner' }],
      mfaSetupRequired: false,
    });
    const me = dataOf(await client.get('/auth/me'));
    expect(me.workspace).toEqual({ id: account.id, name: 'Navy', plan: 'trial', memberCount: 1 });
  });

  it('hands the session over in an HttpOnly cookie and nowhere else', async () => {
    const client = api.anybody();
    const reply = await client.post('/auth/register', newcomer());
    const [cookie] = reply.headers['set-cookie']!;
    expect(cookie).toMatch(/^service_session=[\w-]{43}; /);
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).toMatch(/; Expires=/);
    expect(cookie).not.toMatch(/; Secure/);
    expect(reply.text).not.toContain(client.cookie);
  });

  it('refuses a known e-mail address, whatever its case, naming email', async () => {
    await expectNothingWritten(api, async () => {
      expectRefusal(await register(newcomer({ email: acme.ownerEmail.toUpperCase() })), 400, 'email');
    });
  });

  it.each([
    ['a password of seven characters', { password: '1234567' }, 'password'],
    ['no password', { password: undefined }, 'password'],
    ['an account name of one character', { accountName: 'x' }, 'accountName'],
    ['no account name', { accountName: undefined }, 'accountName'],
    ['no e-mail address', { email: undefined }, 'email'],
    ['two e-mail addresses', { email: 'a@example.com, b@example.com' }, 'email'],
    ['an e-mail address with a line break', { email: 'a@example.com\r\nBcc: b@example.com' }, 'email'],
  ])('refuses %s', async (_what, more, field) => {
    await expectNothingWritten(api, async () => expectRefusal(await register(newcomer(more)), 400, field));
  });

  it('takes a password of eight characters as it is, spaces included', async () => {
    const body = newcomer({ password: ' 123456 ' });
    expect((await register(body)).status).toBe(200);
    expect((await login({ email: body.email, password: '123456' })).status).toBe(401);
    expect((await login({ email: body.email, password: ' 123456 ' })).status).toBe(200);
  });

  it('tells long passwords apart to their last character', async () => {
    const long = 'x'.repeat(72);
    const body = newcomer({ password: `${long}a` });
    expect((await register(body)).status).toBe(200);
    expect((await login({ email: body.email, password: `${long}b` })).status).toBe(401);
  });
});

describe('POST /auth/login', () => {
  it('answers the person, the account, the role and all accounts, and no token', async () => {
    const reply = await login({ email: acme.ownerEmail, password });
    expect(reply.status).toBe(200);
    expect(reply.body.data).toEqual({
      user: { id: acme.ownerId, email: acme.ownerEmail, firstName: null, lastName: null },
      account: { id: acme.id, name: 'Acme' },
      role: 'owner',
      accounts: [{ id: acme.id, name: 'Acme', role: 'owner' }],
      mfaSetupRequired: false,
      mfaRequired: false,
      mfaToken: null,
    });
  });

  it('knows an e-mail address whatever its case', async () => {
    expect((await login({ email: acme.ownerEmail.toUpperCase(), password })).status).toBe(200);
  });

  it('says the same to an unknown address and to a wrong password', async () => {
    const unknown = await login({ email: 'nobody@example.com', password });
    const wrong = await login({ email: acme.ownerEmail, password: 'wrong password' });
    expectRefusal(unknown, 401);
    expectRefusal(wrong, 401);
    expect(withoutId(unknown)).toEqual(withoutId(wrong));
    expect(unknown.headers['set-cookie']).toBeUndefined();
  });

  it('enters the first account by default, and the one that accountId names', async () => {
    const other = await api.seed.account({ name: 'Other' });
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.membership.create({
      data: { accountId: other.id, userId: acme.ownerId, role: 'member', name: 'Guest', ...times },
    });
    const first = dataOf(await login({ email: acme.ownerEmail, password }));
    expect(first.account.name).toBe('Acme');
    expect(first.accounts.map((a: { name: string; role: string }) => [a.name, a.role])).toEqual([
      ['Acme', 'owner'],
      ['Other', 'member'],
    ]);
    const second = dataOf(await login({ email: acme.ownerEmail, password, accountId: other.id }));
    expect([second.account.name, second.role]).toEqual(['Other', 'member']);
  });

  it('does not enter an account that the person does not belong to', async () => {
    const foreign = await api.seed.account();
    expectRefusal(await login({ email: acme.ownerEmail, password, accountId: foreign.id }), 401);
    expectRefusal(await login({ email: acme.ownerEmail, password, accountId: 'x' }), 400, 'accountId');
  });

  it('makes a new session each time and takes none that the browser brings along', async () => {
    const client = api.anybody();
    client.cookie = 'A'.repeat(43);
    dataOf(await client.post('/auth/login', { email: acme.ownerEmail, password }));
    const first = client.cookie;
    expect(first).not.toBe('A'.repeat(43));
    dataOf(await client.post('/auth/login', { email: acme.ownerEmail, password }));
    expect(client.cookie).not.toBe(first);
  });
});

describe('a login', () => {
  afterEach(() => api.clock.reset());

  it('moves the moment at which the person was last active', async () => {
    const { userId, email } = await acme.member();
    api.clock.advance(day);
    await acme.login(email);
    const { lastActiveAt } = dataOf(await acme.owner.get(`/users/${userId}`));
    expect(api.clock.now().getTime() - Date.parse(lastActiveAt)).toBeLessThan(60_000);
  });
});

describe('POST /auth/logout', () => {
  it('ends the session, clears its cookie and leaves the other sessions alone', async () => {
    const [leaving, staying] = [await acme.login(), await acme.login()];
    const { cookie } = leaving;
    const reply = await leaving.post('/auth/logout');
    expect(reply.status).toBe(200);
    expect(reply.headers['set-cookie']![0]).toMatch(/^service_session=;/);
    expect(leaving.cookie).toBeUndefined();
    leaving.cookie = cookie;
    expectRefusal(await leaving.get('/auth/me'), 401);
    expect((await staying.get('/auth/me')).status).toBe(200);
  });

  it('is refused without a session', async () => {
    expectRefusal(await api.anybody().post('/auth/logout'), 401);
  });
});

describe('GET /auth/me', () => {
  it('tells who is calling and where', async () => {
    const member = await acme.member('admin');
    const { user, workspace, permissions } = dataOf(await member.get('/auth/me'));
    expect(user).toEqual({ id: member.userId, name: 'Mem Ber', email: member.email, emailVerified: false, role: 'admin' });
    expect(workspace).toMatchObject({ id: acme.id, name: 'Acme', plan: 'enterprise' });
    expect(workspace.memberCount).toBeGreaterThan(1);
    expect(permissions).toEqual([]);
  });

  it.each([
    ['no credentials', {}],
    ['an unknown session', { cookie: `service_session=${'A'.repeat(43)}` }],
    ['an empty session', { cookie: 'service_session=' }],
    ['a scheme that is not Bearer', { authorization: 'Basic YTpi' }],
    ['no key after Bearer', { authorization: 'Bearer' }],
  ])('is refused with %s', async (_what, headers) => {
    expectRefusal(await api.anybody().get('/auth/me', headers as Record<string, string>), 401);
  });
});

describe('a session', () => {
  afterEach(() => api.clock.reset());
  const later = async (client: Client, ms: number) => {
    api.clock.advance(ms);
    return client.get('/auth/me');
  };

  it('lives on while it is used and ends after seven days without a request', async () => {
    const client = await acme.login();
    expect((await later(client, 6 * day)).status).toBe(200);
    expect((await later(client, 6 * day)).status).toBe(200);
    expectRefusal(await later(client, 7 * day + 1000), 401);
  });

  it('renews the cookie as it slides, so that the browser keeps it as long', async () => {
    const client = await acme.login();
    const { headers } = await later(client, 3 * day);
    const expires = /Expires=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '')?.[1] ?? '';
    expect(Date.parse(expires) - api.clock.now().getTime()).toBeGreaterThan(7 * day - 60_000);
  });

  it('ends when its person leaves the account, within a second', async () => {
    const member = await acme.member();
    const at = { accountId: acme.id, userId: member.userId };
    await api.app.database.prisma.membership.update({ where: { key: at }, data: { status: 'removed' } });
    expectRefusal(await later(member, 1000), 401);
  });

  it('is refused while the account is suspended', async () => {
    const closed = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: closed.id }, data: { suspendedAt: api.clock.now() } });
    expectRefusal(await later(closed.owner, 1000), 403);
  });
});

describe('a request with a session cookie', () => {
  const create = (headers: Record<string, string>) => acme.owner.post('/contacts', { firstName: 'Ada' }, headers);
  const own = () => `http://127.0.0.1:${api.wire.port}`;

  it.each([
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['the Origin "null"', { origin: 'null' }],
    ['a foreign Origin of the same site', { origin: 'https://evil.localhost', 'sec-fetch-site': 'same-site' }],
    ['a cross-site Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ])('is refused with %s', async (_what, headers) => {
    await expectNothingWritten(api, async () => {
      expectRefusal(await create(headers as Record<string, string>), 403);
      const { status, errors } = await acme.owner.gql(
        'mutation { createContact(input: { firstName: "Ada" }) { id } }',
        {},
        headers as never,
      );
      expect([status, errors?.[0].extensions.code]).toEqual([200, 'permission_denied']);
    });
  });

  it('is taken from its own origin, and where no browser says anything', async () => {
    expect((await create({ origin: own(), 'sec-fetch-site': 'same-origin' })).status).toBe(201);
    expect((await create({})).status).toBe(201);
  });

  it('may read from anywhere, since no answer is shown to a foreign page', async () => {
    const reply = await acme.owner.get('/auth/me', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    expect(reply.status).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('is no concern of an API key', async () => {
    const key = await acme.key();
    expect((await key.post('/contacts', { firstName: 'Ada' }, { origin: 'https://evil.example' })).status).toBe(201);
  });

  it('that was refused leaves the same document to others', async () => {
    const query = '{ me { __typename } }';
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    await acme.owner.gql(query, {}, foreign as never);
    expect((await acme.owner.gql(query)).errors).toBeUndefined();
  });

  it('never mutates by GET through GraphQL', async () => {
    const query = encodeURIComponent('mutation { createContact(input: { firstName: "Ada" }) { id } }');
    await expectNothingWritten(api, async () => {
      const reply = await acme.owner.raw({ path: `/graphql?query=${query}`, headers: { 'apollo-require-preflight': '1' } });
      expect(reply.status).toBeGreaterThanOrEqual(400);
    });
  });
});

describe('behind https', () => {
  it('the cookie is Secure', async () => {
    const secure = await server({ config: { publicUrl: 'https://crm.example.com' } });
    const reply = await secure.anybody().post('/auth/register', newcomer());
    expect(reply.headers['set-cookie']![0]).toMatch(/; Secure/);
    await secure.close();
  });
});
