import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { commonPasswords } from '../../src/modules/auth/auth.commonPasswords.js';
import { hashPassword } from '../../src/modules/auth/auth.secrets.js';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  onPostgres,
  password,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const fresh = 'a fresh password';
const forgot = (email: string) => api.anybody().post('/auth/forgot-password', { email });
const reset = (token: string) => api.anybody().post('/auth/reset-password', { token, password: 'a password by the link' });
const login = (email: string, guess: string) => api.anybody().post('/auth/login', { email, password: guess });

describe('a new password', () => {
  it('ends the reset links that were sent before', async () => {
    const member = await acme.member();
    dataOf({ ...(await forgot(member.email)) });
    const token = await tokenMailed(api, member.email, 'reset-password');
    dataOf(await member.post('/auth/change-password', { currentPassword: password, newPassword: fresh }));
    expectRefusal(await reset(token), 400);
    expect((await login(member.email, fresh)).status).toBe(200);
  });

  it.each(['changed', 'reset'])('ends a login that waits for its second step: %s', async (way) => {
    const member = await acme.member();
    const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() });
    dataOf(await member.post('/auth/mfa/enable', { code: code() }));
    const { mfaToken } = dataOf(await login(member.email, password));
    if (way === 'changed') dataOf(await member.post('/auth/change-password', { currentPassword: password, newPassword: fresh }));
    else {
      await forgot(member.email);
      dataOf(await reset(await tokenMailed(api, member.email, 'reset-password')));
    }
    api.clock.advance(30 * second);
    expectRefusal(await api.anybody().post('/auth/mfa/verify', { mfaToken, code: code() }), 401);
  });

  // A race, which the one connection of the embedded database does not have.
  onPostgres(it)('ends the logins that were proved by the old one, also those under way', async () => {
    for (let round = 0; round < 3; round++) {
      const member = await acme.member();
      const logins = Array.from({ length: 16 }, () => login(member.email, password));
      const changed = member.post('/auth/change-password', { currentPassword: password, newPassword: fresh });
      const [replies] = await Promise.all([Promise.all(logins), changed.then(dataOf)]);
      const sessions = await api.app.database.prisma.session.count({ where: { userId: member.userId, revokedAt: null } });
      expect([sessions, replies.length]).toEqual([1, 16]);
    }
  });
});

describe('a reset link', () => {
  it('lets in whose address it is, also where a stranger registered it and set up a second factor', async () => {
    const stranger = await api.seed.account();
    const email = stranger.ownerEmail;
    const { secret } = dataOf(await stranger.owner.post('/auth/mfa/setup', { password }));
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() });
    dataOf(await stranger.owner.post('/auth/mfa/enable', { code }));
    dataOf(await acme.owner.post('/users/invite', { email }));
    const invite = await tokenMailed(api, email, 'accept-invite');
    dataOf(await forgot(email));
    dataOf(await reset(await tokenMailed(api, email, 'reset-password')));
    const entered = dataOf(await login(email, 'a password by the link'));
    expect([entered.mfaRequired, entered.user.email]).toEqual([false, email]);
    const joined = dataOf(await api.anybody().post('/auth/accept-invite', { token: invite, password: 'a password by the link' }));
    expect([joined.mfaRequired, joined.account.id]).toEqual([false, acme.id]);
    expectRefusal(await stranger.owner.get('/auth/me'), 401);
  });
});

describe('what is under way with the old password while a reset link is used', () => {
  const link = async (email: string) => {
    await forgot(email);
    return tokenMailed(api, email, 'reset-password');
  };

  it('takes nothing of the reset back: another change', async () => {
    for (let round = 0; round < 4; round++) {
      const member = await acme.member();
      const token = await link(member.email);
      const change = member.post('/auth/change-password', { currentPassword: password, newPassword: 'the thief has it' });
      const [changed, done] = await Promise.all([change, reset(token)]);
      // Either came first; the reset's password is the one that counts, or its token was ended by the change.
      const [byLink, byThief] = [await login(member.email, 'a password by the link'), await login(member.email, 'the thief has it')];
      if (done.status === 200) expect([byLink.status, byThief.status]).toEqual([200, 401]);
      else expect([changed.status, byThief.status, byLink.status]).toEqual([200, 200, 401]);
    }
  });

  it('of two changes at once one is made', async () => {
    const member = await acme.member();
    const change = (newPassword: string) => member.post('/auth/change-password', { currentPassword: password, newPassword });
    const replies = await Promise.all([change('the first of two'), change('the second of two')]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expectRefusal(replies.find(({ status }) => status === 400)!, 400, 'currentPassword');
  });

  it('neither turns a second factor off nor begins another', async () => {
    const member = await acme.member();
    const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() });
    dataOf(await member.post('/auth/mfa/enable', { code }));
    const { prisma } = api.app.database;
    await prisma.user.update({ where: { id: member.userId }, data: { emailVerifiedAt: new Date() } });
    const token = await link(member.email);
    const [disabled, done] = await Promise.all([member.post('/auth/mfa/disable', { password }), reset(token)]);
    const { mfaEnabledAt } = await prisma.user.findUniqueOrThrow({ where: { id: member.userId } });
    expect([done.status, mfaEnabledAt === null]).toEqual([200, disabled.status === 200]);
  });
});

describe('PASSWORD_DENYLIST', () => {
  let strict: TestServer;
  let account: Account;
  beforeAll(async () => {
    strict = await server({ config: { passwordDenylist: true } });
    account = await strict.seed.account();
  });
  afterAll(() => strict.close());

  it('is a list of 3,000, each of eight characters at least, and off by default', async () => {
    expect([commonPasswords.size, [...commonPasswords].filter((word) => [...word].length < 8)]).toEqual([3000, []]);
    const body = { email: 'common@example.com', password: 'password', accountName: 'Common' };
    expect((await api.anybody().post('/auth/register', body)).status).toBe(200);
  });

  it.each(['password', 'Password', 'TRUSTNO1', '1qaz2wsx', ' sunshine ', 'ｐａｓｓｗｏｒｄ'])(
    'refuses %j to who registers',
    async (common) => {
      const input = { email: 'strict@example.com', password: common, accountName: 'Strict' };
      expectRefusal(await strict.anybody().post('/auth/register', input), 400, 'password');
      const document = 'mutation ($input: RegisterInput!) { register(input: $input) { role } }';
      expectGraphQLRefusal(await strict.anybody().gql(document, { input }), 400, 'password');
    },
  );

  it('refuses a common one wherever a password is chosen, and uses no link up for it', async () => {
    const common = 'iloveyou';
    const change = { currentPassword: password, newPassword: common };
    expectRefusal(await account.owner.post('/auth/change-password', change), 400, 'newPassword');
    await strict.anybody().post('/auth/forgot-password', { email: account.ownerEmail });
    const reset = await tokenMailed(strict, account.ownerEmail, 'reset-password');
    expectRefusal(await strict.anybody().post('/auth/reset-password', { token: reset, password: common }), 400, 'password');
    dataOf(await strict.anybody().post('/auth/reset-password', { token: reset, password }));
    const email = `new.${account.ownerEmail}`;
    dataOf(await (await account.login()).post('/users/invite', { email }));
    const invite = await tokenMailed(strict, email, 'accept-invite');
    expectRefusal(await strict.anybody().post('/auth/accept-invite', { token: invite, password: common }), 400, 'password');
    dataOf(await strict.anybody().post('/auth/accept-invite', { token: invite, password }));
  });

  it('lets in who has had such a password before', async () => {
    const { userId } = await account.member();
    const passwordHash = await hashPassword('password');
    const { email } = await strict.app.database.prisma.user.update({ where: { id: userId }, data: { passwordHash } });
    expect((await strict.anybody().post('/auth/login', { email, password: 'password' })).status).toBe(200);
  });
});
