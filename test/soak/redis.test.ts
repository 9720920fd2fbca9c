import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type Client, onRedis, server, type TestServer } from '../support/index.js';
import { TcpProxy } from '../support/proxy.js';

/** SOAK_CUTS: how often Redis is lost under load: cut off, gone, silent. */
const cuts = Number(process.env.SOAK_CUTS ?? 30);
const callers = 8;
const perPhase = 400;
/** What a request may cost more while Redis is away, in milliseconds. */
const penaltyMs = 5;
const recoveryMs = 2000;

jest.setTimeout(60_000 + cuts * 30_000);

let direct: TestServer;
let api: TestServer;
let proxy: TcpProxy;
let key: Client;
beforeAll(async () => {
  const limits = { key: limit, general: limit, create: limit };
  const config = { trustProxy: ['loopback'] };
  direct = await server({ limits, config });
  const { redisUrl } = direct.place;
  if (!redisUrl) return;
  proxy = await TcpProxy.before(redisUrl);
  api = await server({ limits, config: { ...config, redisUrl: proxy.through(redisUrl) } });
  key = await (await api.seed.account()).key();
});
afterAll(async () => {
  await api?.close();
  await proxy?.close();
  await direct.close();
});

/** The median of so many requests, reads and writes, which all succeed. */
async function load(): Promise<number> {
  const times: number[] = [];
  const work = async () => {
    while (times.length < perPhase) {
      const begun = performance.now();
      const reply = times.length % 4 ? await key.get('/tags') : await key.post('/contacts', { lastName: 'Load' });
      times.push(performance.now() - begun);
      expect([200, 201]).toContain(reply.status);
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

const limit = 1_000_000;
let nth = 0;
const left = async (from: TestServer, ip: string) =>
  Number((await from.anybody().with({ 'x-forwarded-for': ip }).get('/tags')).headers['x-ratelimit-remaining']);

/** Until it counts in Redis again, as the other server does, which never lost it. */
async function reunion(): Promise<number> {
  const ip = `198.51.100.${++nth % 250}`;
  for (let n = 0; n < 10; n++) await left(direct, ip);
  const begun = Date.now();
  while ((await left(api, ip)) > limit - 11) expect(Date.now() - begun).toBeLessThan(recoveryMs);
  return Date.now() - begun;
}

onRedis(it)(`loses Redis ${cuts} times under load, and nobody else notices`, async () => {
  const [penalties, returns] = [[] as number[], [] as number[]];
  await load();
  for (let cut = 0; cut < cuts; cut++) {
    const usual = await load();
    const isSilent = cut % 2 === 1;
    if (isSilent) proxy.hang();
    else proxy.refuse();
    penalties.push((await load()) - usual);
    if (isSilent) proxy.cut();
    proxy.heal();
    returns.push(await reunion());
  }
  const sorted = penalties.sort((a, b) => a - b);
  console.log(
    `penalty: median ${sorted[cuts >> 1]!.toFixed(1)} ms, most ${sorted.at(-1)!.toFixed(1)} ms; back after at most ${Math.max(...returns)} ms`,
  );
  expect(sorted[cuts >> 1]).toBeLessThan(penaltyMs);
  expect(api.logs.filter((line) => line.includes('"level":50'))).toEqual([]);
});
