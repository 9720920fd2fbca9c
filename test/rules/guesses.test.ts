import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { unavailable } from '../../src/kernel/base/errors.js';
import { actingForPerson } from '../../src/modules/auth/auth.acting.js';
import { checkGuess } from '../../src/modules/auth/auth.guesses.js';
import {
  type Account,
  type Client,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  type Options,
  password,
  type Reply,
  Seed,
  server,
  type TestServer,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

const behindProxy = (limits: Options['limits']) => server({ limits, config: { trustProxy: ['loopback'] } });

/** Three logins a quarter of an hour, and so six wrong guesses at one person's password. */
let api: TestServer;
/** The contract's limits. */
let strict: TestServer;
let people: Seed;
let acme: Account;
beforeAll(async () => {
  api = await behindProxy({ login: 3, register: 1000, security: 1000, general: 1000 });
  strict = await behindProxy(true);
  people = new Seed(api.app, () => elsewhere(api.anybody()));
  acme = await people.account();
});
afterAll(() => Promise.all([api.close(), strict.close()]));

let nth = 0;
/** The same caller from an address where nobody was before. */
const elsewhere = (client: Client) => client.with({ 'x-forwarded-for': `198.51.${nth >> 8}.${++nth & 255}` });
const wrong = 'a wrong password';
const login = (email: string, guess: string) => elsewhere(api.anybody()).post('/auth/login', { email, password: guess });
const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status);

async function inTurn(times: number, work: () => Promise<Reply>): Promise<number[]> {
  const replies: Reply[] = [];
  for (let i = 0; i < times; i++) replies.push(await work());
  return statuses(replies);
}

describe('guessing a password', () => {
  it('is over after as many wrong ones as the limit says, from however many addresses, for the right one too', async () => {
    const { email } = await acme.member();
    expect(await inTurn(7, () => login(email, wrong))).toEqual([401, 401, 401, 401, 401, 401, 429]);
    const reply = await login(email.toUpperCase(), password);
    expectRefusal(reply, 429);
    expect([reply.headers['set-cookie'], reply.body.retryAfter > 60]).toEqual([undefined, true]);
    const document = 'mutation ($input: LoginInput!) { login(input: $input) { role } }';
    expectGraphQLRefusal(await elsewhere(api.anybody()).gql(document, { input: { email, password } }), 429);
  });

  it('lets no more through when they come at once', async () => {
    const { email } = await acme.member();
    const replies = await Promise.all(Array.from({ length: 30 }, () => login(email, wrong)));
    expect(statuses(replies).sort()).toEqual([...Array(6).fill(401), ...Array(24).fill(429)]);
  });

  it('says the same of an address that nobody has', async () => {
    const email = 'nobody.at.all@example.com';
    expect(await inTurn(7, () => login(email, wrong))).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });

  it('counts no right one', async () => {
    const { email } = await acme.member();
    expect(await inTurn(8, () => login(email, password))).toEqual(Array(8).fill(200));
    expect(await inTurn(7, () => login(email, wrong))).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });

  it('by strangers keeps nobody out who comes from where they logged in before; there it is counted apart', async () => {
    const member = await acme.member();
    const { email } = member;
    await inTurn(8, () => login(email, wrong));
    const atHome = (guess: string) => member.post('/auth/login', { email, password: guess });
    expect(await inTurn(2, () => atHome(password))).toEqual([200, 200]);
    expectRefusal(await login(email, password), 429);
  });
});

const stolen = async () => {
  const member = await acme.member();
  return { member, email: member.email, thief: elsewhere(member) };
};
const codeOf = (secret: string, later = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() + later });

describe('a session that was stolen', () => {
  it('cannot be used to guess the password by changing it, through either API', async () => {
    const { thief, member, email } = await stolen();
    const change = (currentPassword: string) => thief.post('/auth/change-password', { currentPassword, newPassword: 'stolen password' });
    for (let i = 0; i < 3; i++) {
      expectRefusal(await change(wrong), 400, 'currentPassword');
      const document = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { success } }';
      const input = { currentPassword: wrong, newPassword: 'stolen password' };
      expectGraphQLRefusal(await thief.gql(document, { input }), 400, 'currentPassword');
    }
    expectRefusal(await change(password), 429);
    expectRefusal(await login(email, password), 429);
    const own = { currentPassword: password, newPassword: 'my own new password' };
    expect((await member.post('/auth/change-password', own)).status).toBe(200);
  });

  it('cannot be used to guess it by turning the second factor off or setting one up', async () => {
    const { thief, member } = await stolen();
    expect(await inTurn(3, () => thief.post('/auth/mfa/setup', { password: wrong }))).toEqual([400, 400, 400]);
    const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
    dataOf(await member.post('/auth/mfa/enable', { code: codeOf(secret) }));
    expect(await inTurn(4, () => thief.post('/auth/mfa/disable', { password: wrong }))).toEqual([400, 400, 400, 429]);
    expectRefusal(await thief.post('/auth/mfa/disable', { password }), 429);
    expect((await member.post('/auth/mfa/disable', { password })).status).toBe(200);
  });

  it.each([
    ['change-password', { currentPassword: wrong, newPassword: 'a new password' }],
    ['mfa/disable', { password: wrong }],
    ['mfa/setup', { password: wrong }],
  ])('has five tries a minute: %s', async (path, body) => {
    const { owner } = await strict.seed.account();
    const thief = elsewhere(owner);
    expect(await inTurn(6, () => thief.post(`/auth/${path}`, body))).toEqual([400, 400, 400, 400, 400, 429]);
  });

  it('cannot be made to stay by a second factor of the thief: that takes the password', async () => {
    const { thief } = await stolen();
    expectRefusal(await thief.post('/auth/mfa/setup', {}), 400, 'password');
    expectRefusal(await thief.post('/auth/mfa/setup', { password: wrong }), 400, 'password');
    const setUp = (input: string) => thief.gql(`mutation { setUpMfa(input: { ${input} }) { secret } }`);
    expectGraphQLRefusal(await setUp(`password: "${wrong}"`), 400, 'password');
    expectRefusal(await thief.post('/auth/mfa/enable', { code: '000000' }), 400);
  });

  it('ends when the person sets up a second factor, as every session but theirs', async () => {
    const { thief, member, email } = await stolen();
    const other = await acme.login(email);
    const { secret } = dataOf(await other.post('/auth/mfa/setup', { password }));
    expect((await thief.get('/auth/me')).status).toBe(200);
    dataOf(await other.post('/auth/mfa/enable', { code: codeOf(secret) }));
    expectRefusal(await thief.get('/auth/me'), 401);
    expectRefusal(await member.get('/auth/me'), 401);
    expect((await other.get('/auth/me')).status).toBe(200);
  });
});

describe('a second factor that is being set up', () => {
  it('is not turned on by whoever guesses its codes, from however many addresses', async () => {
    const { thief, member } = await stolen();
    const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
    const good = [-30_000, 0, 30_000].map((later) => codeOf(secret, later));
    const bad = ['000000', '111111', '222222', '333333'].find((code) => !good.includes(code))!;
    const enable = (code: string) => elsewhere(thief).post('/auth/mfa/enable', { code });
    expect(await inTurn(7, () => enable(bad))).toEqual([400, 400, 400, 400, 400, 400, 429]);
    expectRefusal(await enable(codeOf(secret)), 429);
    expect((await member.post('/auth/mfa/enable', { code: codeOf(secret) })).status).toBe(200);
  });
});

describe('a guess that nobody could look at', () => {
  it('is none: those who were told to come back have as many left as before', async () => {
    const { email, userId } = await acme.member();
    const ctx = await actingForPerson(api.app, acme.id, userId, 'guess');
    const busy = () => checkGuess(ctx!, email, null, () => Promise.reject(unavailable()));
    for (let i = 0; i < 8; i++) await expect(busy()).rejects.toMatchObject({ status: 503 });
    expect(await inTurn(7, () => login(email, wrong))).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });
});

describe('an invitation in wrong hands', () => {
  it('cannot be used to guess the password of the person whom it is for', async () => {
    const { email } = await acme.member();
    const other = await people.account();
    dataOf(await other.owner.post('/users/invite', { email }));
    const token = await tokenMailed(api, email, 'accept-invite');
    const accept = (guess: string) => elsewhere(api.anybody()).post('/auth/accept-invite', { token, password: guess });
    expect(await inTurn(7, () => accept(wrong))).toEqual([400, 400, 400, 400, 400, 400, 429]);
    expectRefusal(await accept(password), 429);
  });
});
