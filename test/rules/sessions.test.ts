import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { forgetCallers } from '../../src/modules/auth/auth.identify.js';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  minute,
  onPostgres,
  password,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('a mutation that was rolled back', () => {
  const nobody = '00000000-0000-7000-8000-000000000000';
  const endings = [
    ['switchAccount', `switchAccount(input: { accountId: $account }) { role }`],
    ['logout', `logout { success }`],
  ];

  it.each(endings)('changes neither the session nor the cookie: %s', async (name, field) => {
    const client = await acme.login();
    const { cookie } = client;
    const variables = name === 'logout' ? '' : '($account: ID!)';
    const document = `mutation ${variables} { ${field} deleteContact(id: "${nobody}") { deletedId } }`;
    const reply = await client.gql(document, name === 'logout' ? {} : { account: acme.id });
    expect(reply.errors?.map(({ extensions }) => extensions.code)).toEqual(['not_found']);
    expect([reply.headers['set-cookie'], client.cookie]).toEqual([undefined, cookie]);
    expect((await client.get('/auth/me')).status).toBe(200);
  });

  it('is undone alone: the same without the fault opens and ends sessions', async () => {
    const client = await acme.login();
    const { cookie } = client;
    dataOf(await client.post('/auth/switch-account', { accountId: acme.id }));
    expect(client.cookie).not.toBe(cookie);
    expect((await client.get('/auth/me')).status).toBe(200);
    dataOf(await client.post('/auth/logout'));
    expect(client.cookie).toBeUndefined();
    expect((await api.anybody().post('/auth/login', { email: acme.ownerEmail, password })).status).toBe(200);
  });
});

describe('under an Idempotency-Key that another session of the person used', () => {
  const named = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });
  const switchTo = 'mutation ($input: SwitchAccountInput!) { switchAccount(input: $input) { account { id } } }';

  it.each(['REST', 'GraphQL'])('the account is switched again: %s', async (through) => {
    const [other, { userId, email }] = [await api.seed.account(), await acme.member()];
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.membership.create({ data: { accountId: other.id, userId, role: 'member', name: 'Guest', ...times } });
    for (let i = 0; i < 2; i++) {
      const client = await acme.login(email);
      const key = named(`one switch through ${through}`);
      if (through === 'REST') dataOf(await client.post('/auth/switch-account', { accountId: other.id }, key));
      else expect((await client.gql(switchTo, { input: { accountId: other.id } }, key)).errors).toBeUndefined();
      expect(dataOf(await client.get('/auth/me')).workspace.id).toBe(other.id);
    }
  });

  it('the session ends, as the first one did', async () => {
    for (let i = 0; i < 2; i++) {
      const client = await acme.login();
      const { cookie } = client;
      dataOf(await client.post('/auth/logout', undefined, named('one logout')));
      expect(client.cookie).toBeUndefined();
      client.cookie = cookie;
      expectRefusal(await client.get('/auth/me'), 401);
    }
  });
});

describe('a session that slides on', () => {
  afterEach(() => api.clock.reset());

  it('renews its cookie with no answer that took long: the browser may have that of a newer session by then', async () => {
    const client = await acme.login();
    const { id: templateId } = dataOf(await client.post('/emails/templates', { name: 'Slow', channel: 'email', body: 'Hello' }));
    const { email } = api.app.vendors;
    const { send } = email;
    let letGo = () => {};
    const answered = new Promise<void>((resume) => {
      letGo = resume;
    });
    let isAsked = false;
    email.send = async (mail) => {
      email.send = send;
      isAsked = true;
      await answered;
      return send.call(email, mail);
    };
    api.clock.advance(2 * minute);
    const slow = client.post('/emails/templates/test-send', { templateId, toEmail: 'slow@tests.example' });
    await eventually(() => isAsked);
    dataOf(await client.post('/auth/switch-account', { accountId: acme.id }));
    const { cookie } = client;
    await new Promise((resume) => setTimeout(resume, 2100));
    letGo();
    const reply = await slow;
    expect([reply.status, reply.headers['set-cookie'], client.cookie]).toEqual([200, undefined, cookie]);
    expect((await client.get('/auth/me')).status).toBe(200);
  });
});

describe('a session whose account is suspended', () => {
  const suspend = (id: string, suspendedAt: Date | null) =>
    api.app.database.prisma.account.update({ where: { id }, data: { suspendedAt } });
  /** A session of an account that the operator suspends, of a person who is a member of another account as well. */
  async function shutOut() {
    const closed = await api.seed.account();
    const { userId, email } = await closed.member('admin');
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.membership.create({ data: { accountId: acme.id, userId, role: 'member', name: 'Guest', ...times } });
    const client = await closed.login(email);
    await suspend(closed.id, api.clock.now());
    forgetCallers(api.app);
    return { closed, client };
  }

  it('goes on in another account, and does nothing else there', async () => {
    const { closed, client } = await shutOut();
    for (const path of ['/auth/me', '/contacts']) expectRefusal(await client.get(path), 403);
    expectRefusal(await client.post('/contacts', { firstName: 'Ada' }), 403);
    expectGraphQLRefusal(await client.gql('{ contacts { nodes { id } } }'), 403);
    expectGraphQLRefusal(await client.gql('mutation { logout { success } createTag(input: { name: "T" }) { id } }'), 403);
    expectRefusal(await client.post('/auth/switch-account', { accountId: closed.id }), 403);
    dataOf(await client.post('/auth/switch-account', { accountId: acme.id }));
    expect(dataOf(await client.get('/auth/me')).workspace.id).toBe(acme.id);
  });

  it('is logged out for good', async () => {
    const { closed, client } = await shutOut();
    const { cookie } = client;
    dataOf(await client.post('/auth/logout'));
    expect(client.cookie).toBeUndefined();
    await suspend(closed.id, null);
    forgetCallers(api.app);
    client.cookie = cookie;
    expectRefusal(await client.get('/auth/me'), 401);
  });
});

describe('a session that has ended', () => {
  const living = (userId: string) => api.app.database.prisma.session.count({ where: { userId, revokedAt: null } });
  const switchTo = 'mutation ($input: SwitchAccountInput!) { switchAccount(input: $input) { role } }';

  it('opens no other one, not even in the second in which it is still known here', async () => {
    const member = await acme.member();
    const { userId } = member;
    expect((await member.get('/auth/me')).status).toBe(200);
    // As another process ends it, of which this one has not heard.
    await api.app.database.prisma.session.updateMany({ where: { userId }, data: { revokedAt: api.clock.now() } });
    const { cookie } = member;
    expectRefusal(await member.post('/auth/switch-account', { accountId: acme.id }), 401);
    expectGraphQLRefusal(await member.gql(switchTo, { input: { accountId: acme.id } }), 401);
    expect([await living(userId), member.cookie]).toEqual([0, cookie]);
  });

  it('opens one new one, of many that are asked for at once', async () => {
    const member = await acme.member();
    const replies = await Promise.all(Array.from({ length: 5 }, () => member.post('/auth/switch-account', { accountId: acme.id })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    expect(await living(member.userId)).toBe(1);
    const twice =
      'mutation ($input: SwitchAccountInput!) { a: switchAccount(input: $input) { role } b: switchAccount(input: $input) { role } }';
    expectGraphQLRefusal(await acme.member().then((other) => other.gql(twice, { input: { accountId: acme.id } })), 401);
  });

  const endings = [
    ['the password is reset', (id: string) => `update users set password_hash = 'x' where id = '${id}'`],
    ['all of them end', () => 'select 1'],
  ] as const;
  onPostgres(describe)('while', () => {
    it.each(endings)('%s: the switch waits, and is refused', async (_what, first) => {
      const member = await acme.member();
      const { userId } = member;
      const other = new pg.Client(api.place.databaseUrl);
      await other.connect();
      try {
        await other.query('begin');
        await other.query(first(userId));
        await other.query(`update sessions set revoked_at = now() where user_id = '${userId}' and revoked_at is null`);
        const switching = member.post('/auth/switch-account', { accountId: acme.id });
        const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        await eventually(async () => (await other.query(waiting)).rows.length > 0);
        await other.query('commit');
        expectRefusal(await switching, 401);
      } finally {
        await other.end();
      }
      expect(await living(userId)).toBe(0);
    });
  });
});
