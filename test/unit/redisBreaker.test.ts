import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { Breaker } from '../../src/kernel/access/redisBreaker.js';
import { eventually } from '../support/live.js';

const full = Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), { name: 'ReplyError' });

/** A Redis that answers what only reads, and takes writes once it is told to. */
class FullRedis {
  readonly status = 'ready';
  isFull = true;
  asked = 0;
  probed = 0;
  cut = 0;
  readonly ping = async () => 'PONG';
  readonly disconnect = () => void this.cut++;

  async count(): Promise<string> {
    this.asked++;
    if (this.isFull) throw full;
    return 'shared';
  }

  async set(): Promise<string> {
    this.probed++;
    if (this.isFull) throw full;
    return 'OK';
  }
}

describe('a Redis that answers and takes no writes', () => {
  it('is left alone until it does, by a line that is kept, and the log has its words', async () => {
    const redis = new FullRedis();
    const warned: unknown[][] = [];
    const log = { warn: (...line: unknown[]) => void warned.push(line) } as unknown as Logger;
    const breaker = new Breaker(redis as unknown as Redis, log);
    const ask = () =>
      breaker.ask(
        () => redis.count(),
        () => Promise.resolve('own'),
      );
    for (const probes of [1, 2, 3]) {
      expect(await ask()).toBe('own');
      await eventually(() => redis.probed >= probes);
    }
    expect([redis.asked, redis.cut]).toEqual([1, 0]);
    expect(warned).toEqual([[{ err: full.message }, expect.stringContaining('counted in this process alone')]]);
    redis.isFull = false;
    await eventually(async () => (await ask()) === 'shared');
  });
});
