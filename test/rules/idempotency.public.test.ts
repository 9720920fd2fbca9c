import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweep } from '../../src/workers/sweeps.js';
import {
  type Account,
  type Client,
  dataOf,
  expectRefusal,
  hour,
  password,
  type Reply,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { mailsTo, tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { trustProxy: ['loopback'] } });
  acme = await api.seed.account();
});
afterAll(() => api.close());

let nth = 0;
const fresh = () => `request-${++nth}`;
const next = (name: string) => `${name}${++nth}@example.com`;
const send = (path: string, body: object, key: string, client: Client = api.anybody()) =>
  client.post(path, body, { 'idempotency-key': key });
const isReplay = ({ headers }: Pick<Reply, 'headers'>) => headers['idempotent-replayed'] === 'true';
const cookieOf = ({ headers }: Reply) => headers['set-cookie']?.[0]?.split(';')[0];
const meWith = async (reply: Reply) => api.anybody().get('/auth/me', { cookie: cookieOf(reply)! });

const count = async (query: string, ...values: unknown[]) => (await api.app.database.execute(query, values)).rows.length;
const sessionsOf = (email: string) => count('select 1 from sessions s join users u on u.id = s.user_id where u.email_lower = $1', email);
const accountsOf = (email: string) => count('select 1 from memberships m join users u on u.id = m.user_id where u.email_lower = $1', email);

/** Sends it twice under one key: the second answer is the first once more, its session included. */
async function twice(path: string, body: object): Promise<[Reply, Reply]> {
  const key = fresh();
  const first = await send(path, body, key);
  const again = await send(path, body, key);
  expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([200, false, 200, true]);
  expect([again.body, cookieOf(again)]).toEqual([first.body, cookieOf(first)]);
  return [first, again];
}

async function invited(): Promise<{ email: string; token: string }> {
  const email = next('guest');
  dataOf(await acme.owner.post('/users/invite', { email }));
  return { email, token: await tokenMailed(api, email, 'accept-invite') };
}

async function resetLink(email: string): Promise<string> {
  dataOf(await api.anybody().post('/auth/forgot-password', { email }));
  return tokenMailed(api, email, 'reset-password');
}

describe('under one Idempotency-Key, without credentials,', () => {
  it('an account is registered once, and its session handed out again', async () => {
    const email = next('new');
    const [, again] = await twice('/auth/register', { email, password, accountName: 'Once' });
    expect((await meWith(again)).body.data.user.email).toBe(email);
    expect([await accountsOf(email), await sessionsOf(email)]).toEqual([1, 1]);
  });

  it('a login opens one session', async () => {
    const { ownerEmail: email } = await api.seed.account();
    const [, again] = await twice('/auth/login', { email, password });
    expect((await meWith(again)).status).toBe(200);
    expect(await sessionsOf(email)).toBe(2);
  });

  it('one reset link is mailed, and it is used once', async () => {
    const { ownerEmail: email } = await api.seed.account();
    await twice('/auth/forgot-password', { email });
    expect((await mailsTo(api, email)).filter(({ subject }) => subject === 'Reset your password')).toHaveLength(1);
    await twice('/auth/reset-password', { token: await resetLink(email), password: 'another long password' });
  });

  it('an invitation is accepted once, and its session handed out again', async () => {
    const { email, token } = await invited();
    const [, again] = await twice('/auth/accept-invite', { token, password });
    expect((await meWith(again)).body.data.user.email).toBe(email);
    expect(await sessionsOf(email)).toBe(1);
  });

  it('an address is verified by one answer', async () => {
    const { ownerEmail } = await api.seed.account();
    await twice('/auth/verify-email', { token: await tokenMailed(api, ownerEmail, 'verify-email') });
  });

  it('GraphQL does the same', async () => {
    const { ownerEmail: email } = await api.seed.account();
    const key = fresh();
    const login = () =>
      api
        .anybody()
        .gql('mutation ($i: LoginInput!) { login(input: $i) { user { id } } }', { i: { email, password } }, { 'idempotency-key': key });
    const [first, again] = [await login(), await login()];
    expect(first.errors).toBeUndefined();
    expect([isReplay(first), isReplay(again), again.data]).toEqual([false, true, first.data]);
    expect(again.headers['set-cookie']).toEqual(first.headers['set-cookie']);
    expect(await sessionsOf(email)).toBe(2);
  });

  it.each([
    ['registration', (email: string) => send('/auth/register', { email, password, accountName: 'Crowd' }, 'crowd of new ones')],
    ['login', () => send('/auth/login', { email: acme.ownerEmail, password }, 'crowd of known ones')],
  ])('ten times at once, a %s takes effect once', async (_what, request) => {
    const email = next('crowd');
    const before = await count('select 1 from sessions');
    const replies = await Promise.all(Array.from({ length: 10 }, () => request(email)));
    const done = replies.filter(({ status }) => status === 200);
    for (const { status, body } of replies) expect([200, 'send_in_progress']).toContain(status === 200 ? 200 : body.code);
    expect(done.filter((reply) => !isReplay(reply))).toHaveLength(1);
    expect(new Set(done.map(cookieOf)).size).toBe(1);
    expect((await count('select 1 from sessions')) - before).toBe(1);
  });
});

describe('an Idempotency-Key without credentials', () => {
  it('is of one request, of one operation, and of one address', async () => {
    const key = fresh();
    const email = acme.ownerEmail;
    expect(isReplay(await send('/auth/login', { email, password }, key))).toBe(false);
    const other = await send('/auth/login', { email, password: 'wrong horse battery' }, key);
    expect([other.status, other.body.code]).toEqual([409, 'operation_key_conflict']);
    expect(isReplay(await send('/auth/forgot-password', { email }, key))).toBe(false);
    const elsewhere = api.anybody().with({ 'x-forwarded-for': '198.51.100.7' });
    const reply = await send('/auth/login', { email, password }, key, elsewhere);
    expect([reply.status, isReplay(reply)]).toEqual([200, false]);
  });

  it('counts whether or not a cookie comes along by then', async () => {
    const { ownerEmail: email } = await api.seed.account();
    const key = fresh();
    const browser = api.anybody();
    expect(isReplay(await send('/auth/login', { email, password }, key, browser))).toBe(false);
    expect(isReplay(await send('/auth/login', { email, password }, key, browser))).toBe(true);
  });

  it('is free to be put right when it failed', async () => {
    const email = next('late');
    const key = fresh();
    expectRefusal(await send('/auth/login', { email, password }, key), 401);
    expectRefusal(await send('/auth/register', { email, password: 'short', accountName: 'Late' }, key), 400, 'password');
    expect((await send('/auth/register', { email, password, accountName: 'Late' }, key)).status).toBe(200);
    expect((await send('/auth/login', { email, password }, key)).status).toBe(200);
  });

  it('has 8 to 200 characters', async () => {
    for (const length of [7, 201])
      expectRefusal(await send('/auth/login', { email: acme.ownerEmail, password }, 'k'.repeat(length)), 400, 'Idempotency-Key');
  });

  it('opens nothing that has ended since', async () => {
    const { ownerEmail: email } = await api.seed.account();
    const key = fresh();
    const browser = api.anybody();
    await send('/auth/login', { email, password }, key, browser);
    dataOf(await browser.post('/auth/logout'));
    const again = await send('/auth/login', { email, password }, key);
    expect([again.status, isReplay(again), (await meWith(again)).status]).toEqual([200, true, 401]);
  });
});

describe('what is kept under an Idempotency-Key without credentials', () => {
  it('is neither a password nor a token that could be read or tried', async () => {
    const email = next('secret');
    const reply = await send('/auth/register', { email, password, accountName: 'Secret' }, fresh());
    const { rows } = await api.app.database.execute('select to_jsonb(o)::text as text from public_outcomes o');
    const kept = JSON.stringify(rows);
    for (const secret of [password, email, cookieOf(reply)!.split('=')[1]!]) expect(kept).not.toContain(secret);
  });

  it('is in progress for two minutes after its process died, and is swept after a day', async () => {
    const key = fresh();
    const request = () => send('/auth/login', { email: acme.ownerEmail, password }, key);
    await request();
    const died = 'update public_outcomes set outcome = null, created_at = now() - make_interval(secs => $1::int) where key = $2';
    await api.app.database.execute(died, [110, key]);
    expect((await request()).body.code).toBe('send_in_progress');
    await api.app.database.execute(died, [121, key]);
    expect(isReplay(await request())).toBe(false);
    expect(isReplay(await request())).toBe(true);
    api.clock.advance(24 * hour);
    expect(isReplay(await request())).toBe(false);
    api.clock.advance(24 * hour + second);
    await sweep(api.app);
    expect(await count('select 1 from public_outcomes')).toBe(0);
  });
});
