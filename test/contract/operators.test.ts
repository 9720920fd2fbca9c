import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/kernel/base/config.js';
import { dataOf, day, expectRefusal, hour, isPostgres, server, type TestServer } from '../support/index.js';
import { mailsTo } from '../support/mail.js';

const metricsToken = 'a-token-for-prometheus';

let api: TestServer;
let behind: TestServer;
beforeAll(async () => {
  api = await server({ config: { metricsToken } });
  behind = await server({ config: { trustProxy: ['loopback'] } });
});
afterAll(() => Promise.all([api.close(), behind.close()]));

describe('GET /metrics', () => {
  const ask = (at: TestServer, headers: Record<string, string> = {}) => at.anybody().raw({ path: '/metrics', headers });

  it('answers programs on this machine', async () => {
    for (const at of [api, behind]) {
      const reply = await ask(at);
      expect([reply.status, reply.text.includes('http_request_duration_seconds')]).toEqual([200, true]);
    }
  });

  it('tells of requests by route, method and status', async () => {
    await api.anybody().get('/contacts/00000000-0000-0000-0000-000000000000');
    expect((await ask(api)).text).toMatch(
      /http_request_duration_seconds_count\{route="GET \/contacts\/\{id\}",method="GET",status="401"\} 1/,
    );
    await api.anybody().raw({ path: '/e/open/nonsense' });
    expect((await ask(api)).text).toContain('http_request_duration_seconds_count{route="GET /e/open/{token}",method="GET",');
  });

  it.each([
    ['a client of a proxy on this machine', { 'x-forwarded-for': '203.0.113.7' }],
    ['a client who says to be this machine', { 'x-forwarded-for': '127.0.0.1' }],
    ['another proxy', { forwarded: 'for=203.0.113.7' }],
    ['a page of the internet whose name leads to this machine', { host: 'evil.example:4000' }],
    ['a wrong token', { 'x-forwarded-for': '203.0.113.7', authorization: 'Bearer a-token-for-somebody' }],
    ['half of the token', { 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${metricsToken.slice(0, -1)}` }],
  ])('refuses %s', async (_what, headers) => {
    for (const at of [api, behind]) expectRefusal(await ask(at, headers as Record<string, string>), 403);
  });

  it('answers whoever has METRICS_TOKEN', async () => {
    const elsewhere = { 'x-forwarded-for': '203.0.113.7' };
    const authorization = `Bearer ${metricsToken}`;
    expect((await ask(api, { ...elsewhere, authorization })).status).toBe(200);
    expectRefusal(await ask(behind, { ...elsewhere, authorization }), 403);
    expect(() => readConfig({ METRICS_TOKEN: 'short' })).toThrow(/METRICS_TOKEN/);
  });
});

describe('simulated vendors', () => {
  it('are named by readiness and as a warning at the start, where there is a database of its own', async () => {
    const reply = await api.anybody().raw({ path: '/readyz' });
    const warning = api.logs.find((line) => line.includes('simulated'));
    expect([reply.status, reply.body]).toEqual([
      200,
      { status: 'ok', ...(isPostgres && { simulated: ['email', 'sms', 'line', 'payments'] }) },
    ]);
    expect(warning ? JSON.parse(warning).vendors : undefined).toEqual(isPostgres ? ['email', 'sms', 'line', 'payments'] : undefined);
  });

  const messages = {
    ...{ smtpUrl: 'smtp://127.0.0.1:1', vendorLineUrl: 'http://127.0.0.1:1' },
    twilio: { accountSid: 'AC1', authToken: 'token', apiBase: 'http://127.0.0.1:1' },
  };

  it('keep the server from starting with REQUIRE_LIVE_VENDORS, by the names of what is missing', async () => {
    const missing =
      /REQUIRE_LIVE_VENDORS: email .+ SMTP_URL .+; sms .+ TWILIO_ACCOUNT_SID .+; line .+ VENDOR_LINE_URL .+; payments .+ STRIPE_SECRET_KEY/;
    await expect(server({ config: { requireLiveVendors: true } })).rejects.toThrow(missing);
    const config = { requireLiveVendors: true, ...messages };
    await expect(server({ config })).rejects.toThrow(/REQUIRE_LIVE_VENDORS: payments/);
    expect(readConfig({ REQUIRE_LIVE_VENDORS: '1' }).requireLiveVendors).toBe(true);
  });

  it('are no concern where live ones are configured', async () => {
    const prices = Object.fromEntries(
      ['standard', 'premium', 'enterprise'].flatMap((p) => [
        [`${p}_monthly`, 'm'],
        [`${p}_yearly`, 'y'],
      ]),
    );
    const stripe = { secretKey: 'sk_test', webhookSecret: 'whsec_test', prices: prices as never, apiBase: 'http://127.0.0.1:1' };
    const live = await server({ config: { requireLiveVendors: true, ...messages, stripe } });
    expect((await live.anybody().raw({ path: '/readyz' })).body).toEqual({ status: 'ok' });
    await live.close();
  });
});

describe('a worker', () => {
  it('warns where nobody has said where links lead: it serves none of them', async () => {
    for (const isPublicUrlGiven of [false, true]) {
      const worker = await server({ config: { role: 'worker', isPublicUrlGiven } });
      expect(worker.logs.some((line) => line.includes('PUBLIC_URL is not set'))).toBe(!isPublicUrlGiven);
      await worker.close();
    }
    const given = (env: Record<string, string>) => readConfig({ ROLE: 'worker', ...env }).isPublicUrlGiven;
    expect([given({}), given({ PUBLIC_URL: 'https://crm.example.com' })]).toEqual([false, true]);
  });
});

describe('the files that the simulators leave', () => {
  it('go after a day, and nothing else in their directory', async () => {
    const own = await server();
    const account = await own.seed.account();
    const invite = async (name: string) => dataOf(await account.owner.post('/users/invite', { email: `${name}@example.com` }));
    const count = async (name: string) => (await mailsTo(own, `${name}@example.com`)).length;
    const foreign = join(own.outboxDir, 'notes.json');
    writeFileSync(foreign, '{}');
    await invite('first');
    expect(await count('first')).toBe(1);
    own.clock.advance(day - hour);
    await invite('second');
    expect([await count('first'), await count('second')]).toEqual([1, 1]);
    own.clock.advance(2 * hour);
    await invite('third');
    expect([await count('first'), await count('second'), await count('third')]).toEqual([0, 1, 1]);
    expect(existsSync(foreign)).toBe(true);
    expect(readdirSync(own.outboxDir).filter((name) => name.endsWith('.part'))).toEqual([]);
    await own.close();
  });
});

describe('the compose file', () => {
  it('knows no secret key: without one of their own nobody starts it', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8');
    expect(compose.match(/SECRET_KEY: .*/g)).toEqual([expect.stringMatching(/^SECRET_KEY: \$\{SECRET_KEY:\?[^}]+\}$/)]);
  });

  it('hands every setting in .env on to the api and to the worker, the key of before too, which may come from the shell as well', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8');
    const [, shared] = /^x-server: &server\n((?: .*\n)+)/m.exec(compose)!;
    const [, set] = /^x-environment: &environment\n((?: .*\n)+)/m.exec(compose)!;
    expect(shared).toMatch(/^ {2}env_file: \[\{ path: \.env, required: false \}\]$/m);
    expect(shared).toMatch(/^ {2}volumes: \["data:\/data"\]$/m);
    for (const service of ['api', 'worker']) {
      const [, own] = new RegExp(`^  ${service}:\\n((?: {4}.*\\n)+)`, 'm').exec(compose)!;
      expect(own).toContain('<<: *server');
      expect(own).toContain('<<: *environment');
      // One of its own would stand in the place of the shared one.
      expect(own).not.toMatch(/env_file|volumes/);
    }
    // What is written here wins over .env: nothing that an operator may want to set.
    const fixed = [...set!.matchAll(/^ {2}([A-Z_]+): (?!\$\{)/gm)].map(([, name]) => name);
    expect(fixed).toEqual(['DATABASE_URL', 'REDIS_URL', 'HOST', 'PORT', 'DATA_DIR']);
    for (const name of ['SMTP_URL', 'SECRET_KEY_PREVIOUS', 'PUBLIC_URL'])
      expect(set).toMatch(new RegExp(`^  ${name}: \\$\\{${name}:-`, 'm'));
  });
});
