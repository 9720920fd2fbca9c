import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DueWorkers } from '../../src/workers/dueWork.js';
import { Alone } from '../support/alone.js';
import { kept, queued } from '../support/deliveries.js';
import { type Account, dataOf, type Loose, onPostgres, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';

jest.setTimeout(120_000);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.open();
});
afterEach(() => receiver.close());

describe('SIGTERM, in the middle of a delivery,', () => {
  let alone: Alone;
  afterEach(() => alone.end());

  it('waits for a receiver that takes seven seconds, and keeps that it arrived', async () => {
    const answering: Receiver['answer'] = (_request, response) => void setTimeout(() => response.end('ok'), 7000);
    receiver.answer = answering;
    alone = await Alone.begin({ WEBHOOK_ALLOW_PRIVATE: '1' });
    dataOf(await alone.caller.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
    dataOf(await alone.caller.post('/contacts', { firstName: 'Ada' }));
    await receiver.until(1);
    const begun = Date.now();
    alone.process.signal('SIGTERM');
    expect(await alone.process.ended()).toBe(0);
    expect(Date.now() - begun).toBeLessThan(14_000);
    const deliveries = await alone.onceStopped(({ prisma }) => prisma.webhookDelivery.findMany());
    expect(deliveries).toMatchObject([{ status: 'delivered', attemptCount: 1, error: null, leasedUntil: null }]);
    expect(receiver.received).toHaveLength(1);
  });
});

// A process that only takes requests leaves the work to others: with the embedded database there are none.
onPostgres(describe)('work that a stop cuts', () => {
  let api: TestServer;
  let acme: Account;
  beforeAll(async () => {
    api = await server({ config: { role: 'api' } });
    acme = await api.seed.account();
  });
  afterAll(() => api.close());

  /** A process beside that works on rows of one kind and stops in the middle of them. */
  async function cut(name: string, begun: () => Promise<unknown>): Promise<void> {
    const workers = new DueWorkers();
    const due = new Map([[name, api.app.registry.due.get(name)!]]);
    workers.start(Object.assign(Object.create(api.app), { registry: { ...api.app.registry, due } }));
    await begun();
    await workers.stop(50);
  }

  it('is given back: no attempt of a delivery is counted, and whoever takes it next has it at once', async () => {
    receiver.answer = () => {};
    const id = await queued(api, acme, { url: receiver.url });
    await cut('deliveries', () => receiver.until(1));
    const { status, attemptCount, leasedUntil, dueAt } = await kept(api, id);
    expect({ status, attemptCount, leasedUntil }).toEqual({ status: 'pending', attemptCount: 0, leasedUntil: null });
    expect(dueAt.getTime()).toBeLessThanOrEqual(api.app.clock.now().getTime());
    // What ends the connections of the process that stops: the receiver has done nothing wrong.
    await receiver.close();
    receiver = await Receiver.open();
    await api.app.database.execute('update webhook_deliveries set url = $1 where id = $2::uuid', [receiver.url, id]);
    await cut('deliveries', () => eventually(async () => (await kept(api, id)).status === 'delivered'));
    const delivery: Loose = await kept(api, id);
    expect(delivery).toMatchObject({ attemptCount: 1, error: null });
    expect(delivery.attempts).toHaveLength(1);
    expect(api.logs.filter((line) => line.includes('due work failed'))).toEqual([]);
  });
});
