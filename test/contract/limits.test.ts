import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  expectRefusal,
  type Options,
  password,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';
import { readme } from '../support/readme.js';

const from = (client: Client, ip: string) => client.with({ 'x-forwarded-for': ip });
const limited = (limits: Options['limits']) => server({ limits, config: { trustProxy: ['loopback'] } });

/** The 429 of the contract: both headers, and the seconds in the body. A window has hardly begun when a test has spent it. */
function expectLimited(reply: Reply, within: number) {
  expectRefusal(reply, 429);
  const seconds = Number(reply.headers['retry-after']);
  expect(reply.body.retryAfter).toBe(seconds);
  expect(seconds).toBeGreaterThan(within / 2);
  expect(seconds).toBeLessThanOrEqual(within);
  expect(reply.headers['x-ratelimit-remaining']).toBe('0');
}

let api: TestServer;
let acme: Account;
let small: TestServer;
let tiny: Account;
beforeAll(async () => {
  api = await limited(true);
  acme = await api.seed.account();
  small = await limited({ general: 20, login: 3, register: 100, security: 100, create: 1000 });
  tiny = await small.seed.account();
});
afterAll(() => Promise.all([api.close(), small.close()]));

let nth = 0;
const nextIp = () => `198.51.100.${++nth}`;

async function statuses(times: number, work: () => Promise<Reply>) {
  const replies: Reply[] = [];
  for (let i = 0; i < times; i++) replies.push(await work());
  return { counts: replies.map((reply) => reply.status), last: replies.at(-1)! };
}

describe('named endpoints', () => {
  it('five logins in a quarter of an hour from one address', async () => {
    const client = from(api.anybody(), nextIp());
    const { counts, last } = await statuses(6, () => client.post('/auth/login', { email: 'nobody@example.com', password: 'x' }));
    expect(counts).toEqual([401, 401, 401, 401, 401, 429]);
    expectLimited(last, 900);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(60);
    expect((await from(api.anybody(), nextIp()).post('/auth/login', { email: acme.ownerEmail, password })).status).toBe(200);
  });

  it('the same five logins through GraphQL, each alias for itself', async () => {
    const client = from(api.anybody(), nextIp());
    const login = 'login(input: { email: "nobody@example.com", password: "x" }) { role }';
    const one = () => client.gql(`mutation { ${login} }`);
    for (let i = 0; i < 5; i++) expect((await one()).errors?.[0].extensions.code).toBe('unauthenticated');
    const refused = await one();
    expect([refused.status, refused.errors?.[0].extensions.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBe(refused.errors?.[0].extensions.retryAfter);
    const aliased = await from(api.anybody(), nextIp()).gql(`mutation { a: ${login} b: ${login} }`);
    expect(aliased.errors?.[0].extensions.code).toBe('invalid_request');
  });

  it('five of each security-critical operation a minute from one address, through both APIs together', async () => {
    const client = from(api.anybody(), nextIp());
    const reset = { token: 'x', password };
    const document = 'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { success } }';
    const throughRest = async () => (await client.post('/auth/reset-password', reset)).status;
    const throughGraphQL = async () => (await client.gql(document, { input: reset })).errors?.[0].extensions.status;
    const codes: number[] = [];
    for (let i = 0; i < 3; i++) codes.push(await throughRest(), await throughGraphQL());
    expect(codes).toEqual([400, 400, 400, 400, 400, 429]);
    expectLimited(await client.post('/auth/reset-password', reset), 60);
    expect((await client.post('/auth/forgot-password', { email: 'nobody@example.com' })).status).toBe(200);
  });

  it('three registrations an hour from one address', async () => {
    const client = from(api.anybody(), nextIp());
    const body = () => ({ email: `r${Math.random()}@example.com`, password, accountName: 'New' });
    const { counts, last } = await statuses(4, () => client.post('/auth/register', body()));
    expect(counts).toEqual([200, 200, 200, 429]);
    expectLimited(last, 3600);
  });

  it('thirty contacts a minute from one address, through either API', async () => {
    const client = from(acme.owner, nextIp());
    const { counts } = await statuses(28, () => client.post('/contacts', { firstName: 'Ada' }));
    expect(new Set(counts)).toEqual(new Set([201]));
    const create = 'createContact(input: { firstName: "Ada" }) { id }';
    const both = await client.gql(`mutation { a: ${create} b: ${create} }`);
    expect(both.errors).toBeUndefined();
    expectLimited(await client.post('/contacts', { firstName: 'Ada' }), 60);
    expect((await client.gql(`mutation { ${create} }`)).errors?.[0].extensions.code).toBe('rate_limited');
    expect((await client.get('/contacts')).status).toBe(200);
    // The contract names the two that make one.
    const email = 'again@example.com';
    expect((await statuses(2, () => client.post('/contact', { email }))).counts).toEqual([201, 200]);
  });
});

describe('a limit of 0', () => {
  it('lets nobody register, as the README says, and lets in who is invited', async () => {
    expect(readme).toContain('`RATE_LIMIT_REGISTER=0`');
    const closed = await limited(true);
    const { owner } = await closed.seed.account();
    Object.assign(closed.app.limiter.limits, { register: 0 });
    const client = from(closed.anybody(), nextIp());
    const input = { email: 'stranger@example.com', password, accountName: 'New' };
    expectLimited(await client.post('/auth/register', input), 3600);
    const document = 'mutation ($input: RegisterInput!) { register(input: $input) { role } }';
    const refused = await from(closed.anybody(), nextIp()).gql(document, { input });
    expect([refused.status, refused.errors?.[0].extensions.code]).toEqual([429, 'rate_limited']);
    const email = 'invited@example.com';
    dataOf(await owner.post('/users/invite', { email }));
    const token = await tokenMailed(closed, email, 'accept-invite');
    expect((await client.post('/auth/accept-invite', { token, password })).status).toBe(200);
    await closed.close();
  });
});

describe('an address', () => {
  it('is the same whatever the port that a proxy writes behind it', async () => {
    const addresses = ['203.0.113.7:1000', '203.0.113.7', '[2001:db8::7]:1000', '2001:db8::8'];
    const login = (ip: string) => from(small.anybody(), ip).post('/auth/login', { email: 'nobody@example.com', password: 'x' });
    const counts: number[] = [];
    for (const ip of [...addresses, ...addresses]) counts.push((await login(ip)).status);
    expect(counts).toEqual([401, 401, 401, 401, 401, 429, 401, 429]);
  });
});

describe('callers', () => {
  it('a hundred requests a minute with a key, wherever it calls from', async () => {
    const key = await acme.key();
    const reply = await from(key, nextIp()).get('/tags');
    expect(reply.headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99' });
    const { counts } = await statuses(99, () => from(key, nextIp()).get('/tags'));
    expect(new Set(counts)).toEqual(new Set([200]));
    expectLimited(await key.get('/tags'), 60);
  });

  it('as many requests a minute as a key was given', async () => {
    const key = await acme.key({ rateLimit: 2 });
    const { counts, last } = await statuses(3, () => key.get('/contacts'));
    expect(counts).toEqual([200, 200, 429]);
    expectLimited(last, 60);
    expect(last.headers['x-ratelimit-limit']).toBe('2');
  });

  it('a hundred requests in a quarter of an hour from one address without a key', async () => {
    const client = from(acme.owner, nextIp());
    const { headers } = await client.get('/auth/me');
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99' });
    const reset = Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
    expect(reset).toBeGreaterThan(800);
    expect(reset).toBeLessThanOrEqual(901);
  });

  it('the same hundred where only we have a limit of an operation’s own, and not where the contract has one', async () => {
    const client = from(small.anybody(), nextIp());
    const { counts } = await statuses(12, () => client.post('/forms/nowhere/submit', { data: {} }));
    const others = await statuses(9, () => client.post('/auth/forgot-password', { email: 'nobody@example.com' }));
    expect([...new Set(counts), ...others.counts]).toEqual([404, 200, 200, 200, 200, 200, 200, 200, 200, 429]);
    expect((await client.post('/auth/login', { email: 'somebody@example.com', password: 'x' })).status).toBe(401);
  });

  it('six hundred GraphQL requests a minute of a session, which leave the general limit alone', async () => {
    const client = from(acme.owner, nextIp());
    const { headers } = await client.gql('{ me { user { id } } }');
    expect(headers['x-ratelimit-limit']).toBe('600');
    expect((await client.get('/auth/me')).headers['x-ratelimit-remaining']).toBe('99');
  });
});

describe('what is refused before GraphQL looks at it', () => {
  const refusalOf = (reply: Reply) => {
    const [{ message, extensions }, ...others] = reply.body.errors;
    expect([typeof message, others, Object.keys(reply.body)]).toEqual(['string', [], ['errors']]);
    expect(extensions.requestId).toBe(reply.headers['x-request-id']);
    return [reply.status, extensions.status, extensions.code];
  };
  const send = (caller: Client, path: string, payload: string) =>
    caller.raw({ method: 'POST', path, payload, headers: { 'content-type': 'application/json' } });

  it.each(['/graphql', '/graphql/stream'])('has its body: %s', async (path) => {
    const key = await acme.key({ rateLimit: 2 });
    expect(refusalOf(await send(key, path, '{"query":'))).toEqual([400, 400, 'invalid_request']);
    expect(refusalOf(await send(key, path, `{"query":"${'x'.repeat(1_100_000)}"}`))).toEqual([413, 413, 'payload_too_large']);
    const limited = await send(key, path, '{"query":"{ tags { totalCount } }"}');
    expect(refusalOf(limited)).toEqual([429, 429, 'rate_limited']);
    expect(limited.body.errors[0].extensions.retryAfter).toBe(Number(limited.headers['retry-after']));
  });
});

describe('every reply', () => {
  it.each([
    ['an answer', 200, (c: Client) => c.get('/auth/me')],
    ['a creation', 201, (c: Client) => c.post('/contacts', { firstName: 'Ada' })],
    ['invalid input', 400, (c: Client) => c.post('/contacts', {})],
    [
      'malformed JSON',
      400,
      (c: Client) => c.raw({ method: 'POST', path: '/api/v1/tags', payload: '{', headers: { 'content-type': 'application/json' } }),
    ],
    ['a record that is not there', 404, (c: Client) => c.get(`/contacts/${crypto.randomUUID()}`)],
    ['an endpoint that is not there', 404, (c: Client) => c.get('/nothing')],
    ['a body over a megabyte', 413, (c: Client) => c.post('/tags', { name: 'x'.repeat(1_100_000) })],
    [
      'a GraphQL request',
      200,
      (c: Client) =>
        c.raw({
          method: 'POST',
          path: '/graphql',
          payload: '{"query":"{ me { user { id } } }"}',
          headers: { 'content-type': 'application/json' },
        }),
    ],
  ])('shows on the headers of %s', async (_what, status, call) => {
    const reply = await call(from(tiny.owner, `203.0.113.${Math.ceil(Math.random() * 250)}`));
    expect(reply.status).toBe(status);
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) expect(reply.headers[name]).toMatch(/^\d+$/);
    expect(reply.headers['retry-after']).toBeUndefined();
  });
});

describe('counting', () => {
  it('shows on the headers of refused credentials, which count as well', async () => {
    const client = from(small.anybody(), '192.0.2.1');
    const replies = [await client.get('/contacts'), await client.get('/contacts')];
    expect(replies.map((reply) => [reply.status, reply.headers['x-ratelimit-remaining']])).toEqual([
      [401, '19'],
      [401, '18'],
    ]);
  });

  it('lets exactly as many through as the limit says when they come at once', async () => {
    const client = from(tiny.owner, '192.0.2.2');
    const replies = await Promise.all(Array.from({ length: 60 }, () => client.get('/auth/me')));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(20);
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(40);
  });

  it('takes the addresses of one /64 for one, and IPv4-mapped IPv6 for IPv4', async () => {
    const remaining = async (ip: string) => (await from(tiny.owner, ip).get('/auth/me')).headers['x-ratelimit-remaining'];
    expect(await remaining('2001:db8:1:2::1')).toBe('19');
    expect(await remaining('2001:db8:1:2:ffff::9')).toBe('18');
    expect(await remaining('2001:db8:1:3::1')).toBe('19');
    expect(await remaining('192.0.2.77')).toBe('19');
    expect(await remaining('::ffff:192.0.2.77')).toBe('18');
  });

  it('counts the failed logins of one e-mail address wherever they come from, and locks out nobody who comes from a known place', async () => {
    const attempt = (i: number, pass: string) =>
      from(small.anybody(), `10.0.0.${i}`).post('/auth/login', { email: tiny.ownerEmail, password: pass });
    for (let i = 1; i <= 6; i++) expect((await attempt(i, 'wrong password')).status).toBe(401);
    expectLimited(await attempt(7, 'wrong password'), 900);
    expectLimited(await attempt(8, password), 900);
    expect((await small.anybody().post('/auth/login', { email: tiny.ownerEmail, password })).status).toBe(200);
  });

  it('does not believe X-Forwarded-For unless a proxy is trusted', async () => {
    const open = await server({ limits: { general: 2 } });
    const calls = ['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((ip) => from(open.anybody(), ip).get('/contacts'));
    const codes = (await Promise.all(calls)).map((reply) => reply.status).sort();
    expect(codes).toEqual([401, 401, 429]);
    await open.close();
  });

  it('leaves the probes alone', async () => {
    const reply = await small.anybody().raw({ path: '/healthz' });
    expect([reply.status, reply.headers['x-ratelimit-limit']]).toEqual([200, undefined]);
  });
});
