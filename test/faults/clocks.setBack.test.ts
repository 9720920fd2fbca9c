import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Limiter } from '../../src/kernel/access/rateLimits.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { ReaderPace } from '../../src/workers/readerPace.js';
import { type Account, dataOf, hour, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
const { now } = Date;
/** Sets the clock of the machine back, which no test clock is in between. */
const setBack = () => {
  Date.now = () => now() - hour;
};
afterEach(() => {
  Date.now = now;
});
afterAll(() => api.close());

it('subscribers hear what happens, where the clock of the machine is set back and nobody wakes its process', async () => {
  const key = await acme.key();
  // As without Redis, and events of another process.
  Object.defineProperties(api.app.channel, { connected: { value: false }, publish: { value: () => undefined } });
  const socket = await Socket.open(api.wire.port, { init: bearer(key) });
  const feed = socket.run('subscription { contactEvents { entityId } }');
  const subscribers = async () => (await api.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;
  await eventually(async () => (await subscribers()) === 1);
  const made = async () => dataOf(await key.post('/contacts', { firstName: 'Ada' })).id as string;
  const first = await made();
  expect((await feed.nth(1))[0]).toMatchObject({ entityId: first });
  setBack();
  const second = await made();
  expect((await feed.nth(2))[1]).toMatchObject({ entityId: second });
  socket.cut();
});

it('a reader of the feed rests no longer for it', async () => {
  const pace = new ReaderPace();
  pace.failed(2);
  setBack();
  expect(pace.isResting).toBe(true);
  await eventually(() => !pace.isResting, 2000);
});

it('a window of requests that had begun ends no later than it is long, and takes its points back', async () => {
  const limiter = new Limiter({ ...readConfig({ NODE_ENV: 'test' }).limits, enabled: true, vendorLine: 1 });
  const spend = () => limiter.spend('vendorLine', 'set back');
  const first = await spend();
  setBack();
  const spent = await spend();
  expect(spent.refused).toBe(true);
  expect(spent.resetAt.getTime() - Date.now()).toBeLessThanOrEqual(60_000);
  for (const [back, remaining] of [
    [spent, 0],
    [first, 1],
  ] as const) {
    await limiter.giveBack(back);
    expect(await limiter.look('vendorLine', 'set back')).toMatchObject({ remaining, refused: false });
  }
});

it('whether the server is ready is looked up again within seconds', async () => {
  const { database } = api.app;
  const answers = async () => (await api.anybody().raw({ path: '/readyz' })).status;
  expect(await answers()).toBe(200);
  setBack();
  const isCurrent = database.isCurrent.bind(database);
  database.isCurrent = () => Promise.resolve(false);
  await eventually(async () => (await answers()) === 503, 3000);
  database.isCurrent = isCurrent;
  await eventually(async () => (await answers()) === 200, 3000);
});
