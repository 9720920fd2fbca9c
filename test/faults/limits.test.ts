import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, expectRefusal, onRedis, type Reply, server, type TestServer } from '../support/index.js';
import { TcpProxy } from '../support/proxy.js';

/** CROWD_LIMIT: the limit that four times as many requests at once meet. */
const limit = Number(process.env.CROWD_LIMIT ?? 40);
const trusting = { trustProxy: ['loopback'] };
const from = (client: Client, ip: string) => client.with({ 'x-forwarded-for': ip });
const remaining = ({ headers }: Reply) => Number(headers['x-ratelimit-remaining']);
/** Anonymous calls spend the general bucket of their address, and need no database. */
const call = (api: TestServer, ip: string) => from(api.anybody(), ip).get('/tags');

const seconds = () => Date.now() / 1000;

/** The calls of one address: exactly so many are let through, and the headers tell the truth about all of them. */
async function expectExact(calls: () => Promise<Reply[]>, allowed: number) {
  const begun = seconds();
  const replies = await calls();
  const ended = seconds();
  const passed = replies.filter(({ status }) => status === 401);
  const refused = replies.filter(({ status }) => status === 429);
  expect([passed.length, refused.length]).toEqual([allowed, replies.length - allowed]);
  expect(replies.every((reply) => remaining(reply) >= 0)).toBe(true);
  expect(passed.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: allowed }, (_, i) => i));
  for (const reply of refused) {
    expectRefusal(reply, 429);
    const retryAfter = Number(reply.headers['retry-after']);
    // Both are whole seconds, rounded up.
    const counted = Number(reply.headers['x-ratelimit-reset']) - retryAfter;
    expect([counted > begun - 1, counted < ended + 1]).toEqual([true, true]);
    expect([remaining(reply), reply.body.retryAfter]).toEqual([0, retryAfter]);
  }
}

let one: TestServer;
let two: TestServer;
/** Reaches Redis through the proxy. */
let shaky: TestServer;
let proxy: TcpProxy;
let nth = 0;
const nextIp = () => `198.51.100.${++nth}`;

const crowd = (servers: TestServer[], ip: string) =>
  Promise.all(Array.from({ length: 4 * limit }, (_, i) => call(servers[i % servers.length]!, ip)));

/** Asks the shaky server until it counts with the others again. */
async function reunion() {
  const ip = nextIp();
  for (let i = 0; i < 10; i++) await call(one, ip);
  const begun = Date.now();
  while (remaining(await call(shaky, ip)) > limit - 11) expect(Date.now() - begun).toBeLessThan(2000);
}

/** How long a call takes, of so many one after the other. */
async function median(calls: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const begun = performance.now();
    await call(shaky, nextIp());
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[calls >> 1]!;
}

onRedis(describe)('two servers over one Redis', () => {
  beforeAll(async () => {
    one = await server({ limits: { general: limit }, config: trusting });
    const redisUrl = one.place.redisUrl!;
    two = await server({ limits: { general: limit }, config: { ...trusting, redisUrl } });
    proxy = await TcpProxy.before(redisUrl);
    shaky = await server({ limits: { general: limit }, config: { ...trusting, redisUrl: proxy.through(redisUrl) } });
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close(), shaky.close()]);
    await proxy.close();
  });

  it('let exactly as many through together as the limit says, of four times as many at once', async () => {
    await expectExact(() => crowd([one, two], nextIp()), limit);
  });

  it('count one /64, and IPv4-mapped IPv6, as one', async () => {
    const ips = ['2001:db8:7:7::1', '2001:db8:7:7:ffff:ffff:ffff:ffff', '2001:0db8:0007:0007:0:0:0:9'];
    const seen = [];
    for (const [i, ip] of ips.entries()) seen.push(remaining(await call(i % 2 ? one : two, ip)));
    expect(seen).toEqual([limit - 1, limit - 2, limit - 3]);
    const ip = nextIp();
    expect([remaining(await call(one, ip)), remaining(await call(two, `::ffff:${ip}`))]).toEqual([limit - 1, limit - 2]);
  });

  it('believe only what the trusted proxy itself has seen', async () => {
    const ip = nextIp();
    const spoofed = [`1.1.1.1, ${ip}`, `2.2.2.2, ${ip}`, `${Array.from({ length: 1000 }, (_, i) => `9.9.${i >> 8}.${i & 255}`)}, ${ip}`];
    const seen = [];
    for (const list of spoofed) seen.push(remaining(await call(one, list)));
    expect(seen).toEqual([limit - 1, limit - 2, limit - 3]);
  });

  it('are on their own when Redis is gone: each goes on, keeps the limit and says so', async () => {
    proxy.refuse();
    const ip = nextIp();
    expect((await call(shaky, ip)).status).toBe(401);
    await expectExact(() => crowd([shaky], nextIp()), limit);
    expect(shaky.logs.join('')).toContain('rate limits are counted in this process alone');
    proxy.heal();
    await reunion();
  });

  it('wait for a Redis that does not answer once, and not each', async () => {
    await reunion();
    const before = await median(30);
    proxy.hang();
    const begun = performance.now();
    await call(shaky, nextIp());
    expect(performance.now() - begun).toBeLessThan(500);
    // Counting in process is, if anything, quicker.
    expect(await median(30)).toBeLessThan(before + 5);
    await expectExact(() => crowd([shaky], nextIp()), limit);
    proxy.cut();
    proxy.heal();
    await reunion();
  });

  it('come back from a line that is dead and does not say so', async () => {
    proxy.hang();
    await call(shaky, nextIp());
    // New lines are carried from here on; the old ones stay dead.
    proxy.forget();
    await reunion();
  });
});

describe('without Redis', () => {
  let api: TestServer;
  beforeAll(async () => {
    api = await server({ limits: { general: limit }, config: { ...trusting, redisUrl: undefined } });
  });
  afterAll(() => api.close());

  it('the limit is exact as well', async () => {
    const ip = '203.0.113.5';
    await expectExact(() => Promise.all(Array.from({ length: 4 * limit }, () => call(api, ip))), limit);
  });

  it('a preflight, a probe and the metrics spend nothing', async () => {
    const ip = '203.0.113.6';
    for (const path of ['/healthz', '/readyz', '/metrics']) await from(api.anybody(), ip).raw({ path });
    expect(remaining(await call(api, ip))).toBe(limit - 1);
  });
});
