import { afterAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Limiter, type Spent } from '../../src/kernel/access/rateLimits.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { onRedis } from '../support/index.js';

const limits = { ...readConfig({ NODE_ENV: 'test' }).limits, enabled: true, vendorLine: 2 };
const minuteMs = 60_000;

const redis = process.env.REDIS_URL ? new Redis(process.env.REDIS_URL, { keyPrefix: `crm_test_limits_${process.pid}:` }) : undefined;
const keys = ['given back', 'never spent', 'spent anew', 'looked at'];
afterAll(async () => {
  for (const key of keys) await redis?.del(`crm:60:vendorLine:${key}`);
  await redis?.quit();
});

/** How many of five points are let through. */
async function passed(limiter: Limiter, key: string): Promise<number> {
  const spent: Spent[] = [];
  for (let i = 0; i < 5; i++) spent.push(await limiter.spend('vendorLine', key));
  return spent.filter(({ refused }) => !refused).length;
}

/** A point as if it had been spent in the window before. */
const aMinuteAgo = ({ resetAt, ...spent }: Spent): Spent => ({ ...spent, resetAt: new Date(resetAt.getTime() - minuteMs) });

const counted = (limiterOf: () => Limiter) => () => {
  it('may be spent again in its window', async () => {
    const limiter = limiterOf();
    await limiter.giveBack(await limiter.spend('vendorLine', 'given back'));
    expect(await passed(limiter, 'given back')).toBe(2);
  });

  it('makes the next window no larger, whether that has begun or not', async () => {
    const limiter = limiterOf();
    const spent = await limiter.spend('vendorLine', 'spent anew');
    await limiter.giveBack({ ...aMinuteAgo(spent), key: 'never spent' });
    expect(await passed(limiter, 'never spent')).toBe(2);
    await limiter.giveBack(aMinuteAgo(spent));
    expect(await passed(limiter, 'spent anew')).toBe(1);
  });
};

const looked = (limiterOf: () => Limiter) => () => {
  it('says whether a point was refused, and spends none', async () => {
    const limiter = limiterOf();
    const look = () => limiter.look('vendorLine', 'looked at');
    expect(await look()).toMatchObject({ limit: 2, remaining: 2, refused: false });
    for (const [remaining, refused] of [
      [1, false],
      [0, false],
      [0, true],
    ]) {
      await limiter.spend('vendorLine', 'looked at');
      for (let i = 0; i < 3; i++) expect(await look()).toMatchObject({ remaining, refused });
    }
    expect((await look()).resetAt.getTime()).toBeGreaterThan(Date.now());
  });
};

describe(
  'a bucket that is looked at in process',
  looked(() => new Limiter(limits)),
);
onRedis(describe)(
  'a bucket that is looked at in Redis',
  looked(() => new Limiter(limits, redis)),
);

describe(
  'a point that is given back in process',
  counted(() => new Limiter(limits)),
);
onRedis(describe)(
  'a point that is given back in Redis',
  counted(() => new Limiter(limits, redis)),
);
