import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { connectRedis } from '../../src/kernel/base/redis.js';
import { RedisChannel } from '../../src/kernel/events/channel.js';
import { type Client, onRedis, type Reply, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { MovingRedis } from '../support/movingRedis.js';

jest.setTimeout(120_000);

const limit = 40;
const trusting = { trustProxy: ['loopback'] };
const remaining = ({ headers }: Reply) => Number(headers['x-ratelimit-remaining']);
let nth = 0;

/** Whether two servers count the calls of one address together. */
async function countTogether([one, other]: readonly [TestServer, TestServer]): Promise<boolean> {
  const ip = `198.51.${++nth >> 8}.${nth & 255}`;
  const call = (client: Client) => client.with({ 'x-forwarded-for': ip }).get('/tags');
  const first = remaining(await call(one.anybody()));
  return remaining(await call(other.anybody())) === first - 1;
}

onRedis(describe)('a Redis whose name leads to another server, while the lines of before stay open', () => {
  it('is counted in again, by a new line', async () => {
    const one = await server({ limits: { general: limit }, config: trusting });
    const redisUrl = one.place.redisUrl!;
    const moving = await MovingRedis.before(redisUrl);
    const other = await server({ limits: { general: limit }, config: { ...trusting, redisUrl: moving.through(redisUrl) } });
    try {
      await eventually(() => countTogether([one, other]));
      moving.move();
      await other.anybody().get('/tags');
      await eventually(() => countTogether([one, other]));
    } finally {
      await Promise.all([one.close(), other.close()]);
      await moving.close();
    }
  });

  describe('carries wakes', () => wakes(true));
  describe('carries wakes, though its servers do not say which ones they are,', () => wakes(false));
});

function wakes(tells: boolean) {
  const [name, log, url] = [`test:moves:${process.pid}`, pino({ level: 'silent' }), process.env.REDIS_URL!];
  let moving: MovingRedis;
  let [mine, theirs]: RedisChannel[] = [];
  let close: () => void;
  beforeAll(async () => {
    moving = await MovingRedis.before(url, { tells });
    const lines = [connectRedis(moving.through(url), log), connectRedis(url, log)];
    const channels = lines.map((line) => new RedisChannel(line, log));
    [mine, theirs] = channels;
    close = () => [...channels.map((each) => each.close()), ...lines.map((line) => line.disconnect())];
    await eventually(() => mine!.connected && theirs!.connected);
  });
  afterAll(async () => {
    close();
    await moving.close();
  });

  /** Publishes until it is heard: what is said while there is no line is lost. */
  async function expectHeard(from: RedisChannel, by: RedisChannel) {
    const heard: string[] = [];
    const leave = by.subscribe(name, (text) => heard.push(text));
    await eventually(() => {
      from.publish(name, 'here');
      return heard.includes('here');
    });
    leave();
  }

  it('of a process that writes nothing to it, and to it', async () => {
    await expectHeard(mine!, theirs!);
    moving.move();
    await expectHeard(mine!, theirs!);
    await expectHeard(theirs!, mine!);
    await eventually(() => moving.lines === 2);
  });
}
