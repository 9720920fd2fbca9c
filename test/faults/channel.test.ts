import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { RedisChannel } from '../../src/kernel/events/channel.js';
import { onRedis } from '../support/index.js';
import { eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';

const url = process.env.REDIS_URL!;
const name = `test:${process.pid}`;
const log = pino({ level: 'silent' });

let proxy: TcpProxy;
let shaky: Redis;
let steady: Redis;
let channel: RedisChannel;
let there: RedisChannel;
let heard: string[];

const turn = () => new Promise((resume) => setImmediate(resume));
const connect = (address: string) =>
  new Redis(address, { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 1000, retryStrategy: () => 20 }).on(
    'error',
    () => {},
  );

/** Cuts the lines, and lets the new ones hang once they are made: what is asked first on them has no answer. */
async function hangAsItComesBack() {
  proxy.cut();
  await eventually(() => !channel.connected);
  while (!channel.connected) await turn();
  proxy.hang();
}

/** Publishes until it is heard here: the line may be a moment late, and then all that was said before is lost. */
async function hears(text: string) {
  await eventually(() => {
    there.publish(name, text);
    return heard.includes(text);
  });
}

onRedis(describe)('a channel through Redis', () => {
  beforeEach(async () => {
    proxy = await TcpProxy.before(url);
    [shaky, steady] = [connect(proxy.through(url)), connect(url)];
    [channel, there] = [new RedisChannel(shaky, log), new RedisChannel(steady, log)];
    heard = [];
    channel.subscribe(name, (text) => heard.push(text));
    await eventually(() => channel.connected && there.connected);
  });
  afterEach(async () => {
    for (const one of [channel, there]) one.close();
    for (const one of [shaky, steady]) one.disconnect();
    await proxy.close();
  });

  it('listens again after a cut, and has its listeners look for what was lost', async () => {
    await hears('before');
    heard = [];
    proxy.cut();
    await eventually(() => heard.includes(''));
    await hears('after');
  });

  it('goes on listening where the line by which it publishes is made anew, to the same server', async () => {
    await hears('before');
    heard = [];
    const closed = once(shaky, 'close');
    shaky.disconnect(true);
    await closed;
    await eventually(() => channel.connected);
    await hears('after');
    expect(heard).not.toContain('');
  });

  // A rejection that nobody handles would end the process, as it ends this test.
  it('is closed in silence while a new line has not answered yet', async () => {
    await hangAsItComesBack();
    channel.close();
    proxy.cut();
    await eventually(() => proxy.connections === 0);
    expect(channel.connected).toBe(false);
  });

  it('leaves a line that does not answer for another', async () => {
    await hangAsItComesBack();
    // New lines are carried from here on; the old ones stay dead.
    proxy.forget();
    await hears('by another line');
  });
});
