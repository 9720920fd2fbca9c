import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attempted, deliveryTo, failing } from '../support/deliveries.js';
import { type Account, dataOf, day, hour, type KeyClient, type Loose, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
beforeEach(async () => {
  acme = await api.seed.account();
  key = await acme.key();
  receiver = await Receiver.open();
});
afterEach(async () => {
  api.clock.reset();
  await receiver.close();
});

const webhook = async (): Promise<Loose> => dataOf(await key.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
const read = async ({ id }: Loose): Promise<Loose> => dataOf(await key.get(`/webhooks/manage/${id}`));
const answering = (status: number): Receiver['answer'] => {
  return (_, response) => void response.writeHead(status).end();
};
/** Has an event sent, by a key that lasts however far the clock is moved. */
const happen = async () => dataOf(await key.post('/contacts', { firstName: 'Ada' }));
/** Waits until so many deliveries of a webhook stand so. */
const until = ({ id }: Loose, count: number, status: string): Promise<Loose[]> =>
  eventually(async () => {
    const all: Loose[] = dataOf(await key.get(`/webhooks/manage/${id}/deliveries`)).data;
    return all.filter((one) => one.status === status).length === count && all;
  }) as Promise<Loose[]>;

describe('a webhook to which nothing arrived before a quiet time', () => {
  it('stays on where the first deliveries after it are ended by 410', async () => {
    receiver.answer = answering(500);
    const made = await webhook();
    await happen();
    const [first] = await until(made, 1, 'pending');
    await failing(api, first!.id, 8);
    api.clock.advance(7 * day);
    receiver.answer = answering(410);
    for (const failed of [2, 3]) {
      await happen();
      await until(made, failed, 'failed');
    }
    receiver.answer = answering(200);
    await happen();
    await until(made, 1, 'delivered');
    expect(await read(made)).toMatchObject({ isActive: true, disabledAt: null });
  });
});

describe('a webhook that is given another address', () => {
  let other: Receiver;
  beforeEach(async () => {
    other = await Receiver.open();
  });
  afterEach(() => other.close());

  /** A webhook to which nothing has arrived for six days, and which is moved then. */
  async function moved(): Promise<Loose> {
    const made = await webhook();
    const failingSince = new Date(api.clock.now().getTime() - 6 * day);
    await api.app.database.prisma.webhook.updateMany({ where: { id: made.id }, data: { failingSince, failCount: 9 } });
    return dataOf(await key.patch(`/webhooks/manage/${made.id}`, { url: other.url }));
  }

  it('has not failed yet, and tells of its address alone', async () => {
    const now = await moved();
    expect(now).toMatchObject({ url: other.url, failCount: 0, failingSince: null });
    expect(await read(now)).toMatchObject({ url: other.url, failCount: 0, failingSince: null });
    const told = (await eventually(async () => dataOf(await key.get('/events?names=webhook.updated')).data[0])) as Loose;
    expect(told.changes).toEqual({ url: { from: receiver.url, to: other.url } });
  });

  it('stays on where the last attempt of what waited fails there', async () => {
    other.answer = answering(500);
    const now = await moved();
    const firstAttemptAt = new Date(api.clock.now().getTime() - 72 * hour);
    const last = await deliveryTo(api, acme, now.id, { attemptCount: 7, firstAttemptAt });
    expect(await attempted(api, last, 8)).toMatchObject({ status: 'failed' });
    other.answer = answering(200);
    await happen();
    await until(now, 1, 'delivered');
    expect(await read(now)).toMatchObject({ isActive: true, disabledAt: null });
  });
});

describe('a webhook whose every delivery is ended by 410', () => {
  it('is switched off after five days of it', async () => {
    receiver.answer = answering(410);
    const made = await webhook();
    for (const failed of [1, 2, 3]) {
      await happen();
      await until(made, failed, 'failed');
      expect((await read(made)).isActive).toBe(true);
      api.clock.advance(2 * day);
    }
    await happen();
    await eventually(async () => !(await read(made)).isActive);
    expect((await read(made)).disabledAt).not.toBeNull();
  });
});

describe('a webhook that is given another address while the one before does not answer', () => {
  let other: Receiver;
  beforeEach(async () => {
    other = await Receiver.open();
  });
  afterEach(() => other.close());

  /** A webhook that was moved while the address before had not answered, which then answers so; and its delivery after that. */
  async function movedBefore(status: number): Promise<{ made: Loose; delivery: Loose }> {
    let answer = () => {};
    const asked = new Promise<void>((reached) => {
      receiver.answer = (_, response) => {
        answer = () => void response.writeHead(status).end();
        reached();
      };
    });
    const made = await webhook();
    await happen();
    await asked;
    dataOf(await key.patch(`/webhooks/manage/${made.id}`, { url: other.url }));
    answer();
    const [delivery] = (await eventually(async () => {
      const all: Loose[] = dataOf(await key.get(`/webhooks/manage/${made.id}/deliveries`)).data;
      return all[0]?.attemptCount === 1 && all;
    })) as Loose[];
    return { made, delivery: delivery! };
  }

  it('has no failures of the one before', async () => {
    const { made, delivery } = await movedBefore(500);
    expect(delivery.attempts).toMatchObject([{ responseStatus: 500, url: receiver.url }]);
    expect(await read(made)).toMatchObject({ url: other.url, failCount: 0, failingSince: null, lastFiredAt: null });
  });

  it('is sent there what the one before wants no more of, and ends by a 410 of its own', async () => {
    const { made, delivery } = await movedBefore(410);
    expect(delivery).toMatchObject({ status: 'pending', responseStatus: 410 });
    expect(await read(made)).toMatchObject({ isActive: true, failCount: 0, failingSince: null });
    api.clock.advance(61 * second);
    await other.until(1);
    const [arrived] = await until(made, 1, 'delivered');
    expect(arrived!.attempts).toMatchObject([
      { responseStatus: 410, url: receiver.url },
      { responseStatus: 200, url: other.url },
    ]);
    other.answer = answering(410);
    const last = await deliveryTo(api, acme, made.id);
    expect(await attempted(api, last, 1)).toMatchObject({ status: 'failed', dueAt: null });
  });
});
