import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attempted, kept, queued } from '../support/deliveries.js';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  hour,
  type KeyClient,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());
beforeEach(async () => {
  receiver = await Receiver.open();
});
afterEach(() => receiver.close());

const webhook = async (fields: object = {}): Promise<Loose> =>
  dataOf(await key.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'], ...fields }));

/** A delivery to a webhook as an event would make it. */
async function delivery({ id }: Loose, fields: object = {}): Promise<string> {
  const app = api.app;
  const made = { id: app.clock.id(), createdAt: app.clock.now(), updatedAt: app.clock.now() };
  const body = JSON.stringify({ id: app.clock.id(), event: 'contact.created', data: { firstName: 'Ada', masterStatus: 'lead' } });
  const data = { accountId: acme.id, ...made, webhookId: id, sourceId: id, eventId: app.clock.id(), event: 'contact.created', body };
  await app.database.prisma.webhookDelivery.create({ data: { ...data, dueAt: app.clock.now(), ...fields } });
  app.jobs.wake('deliveries');
  return made.id;
}

describe('POST /webhooks/manage', () => {
  it('shows the signing secret once, and keeps it sealed', async () => {
    const made = await webhook({ description: 'Ours', events: ['deal.won', '*', 'deal.won'] });
    expect(made).toMatchObject({
      url: receiver.url,
      events: ['deal.won', '*'],
      isActive: true,
      description: 'Ours',
      failCount: 0,
      lastFiredAt: null,
    });
    expect(Buffer.from(made.secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
    const { text } = await key.get(`/webhooks/manage/${made.id}`);
    const row = await api.app.database.prisma.webhook.findFirst({ where: { id: made.id } });
    const events = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId: made.id } });
    expect(events).toHaveLength(1);
    for (const shown of [text, JSON.stringify([row, events], (_, value) => (typeof value === 'bigint' ? String(value) : value))])
      expect(shown).not.toContain(made.secret.slice(6));
  });

  it.each([
    [
      'contact.created',
      'contact.updated',
      'contact.deleted',
      'deal.created',
      'deal.updated',
      'deal.won',
      'deal.lost',
      'deal.stage_changed',
    ],
    ['task.created', 'task.completed', 'note.created', 'message.sent', 'message.received', 'pipeline.updated', 'form.submitted'],
    ['appointment.created', 'appointment.updated', 'invoice.paid', 'test.ping'],
  ])('takes the events of the contract: %s …', async (...events) => {
    expect((await webhook({ events })).events).toEqual(events);
  });

  it.each<[string, object, string]>([
    ['an event that there is not', { events: ['contact.created', 'contact.exploded'] }, 'events.1'],
    ['no event', { events: [] }, 'events'],
    ['no events', { events: null }, 'events'],
    ['events that are no list', { events: 'contact.created' }, 'events'],
    ['no address', { url: null }, 'url'],
    ['an address that is none', { url: 'not an address' }, 'url'],
    ['another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['a user name in the address', { url: 'https://user:word@example.com/' }, 'url'],
  ])('answers 422 and names the field: %s', async (_, fields, field) => {
    await expectNothingWritten(api, async () => {
      const reply = await key.post('/webhooks/manage', { url: receiver.url, events: ['deal.won'], ...fields });
      expectRefusal(reply, 422, field);
      if (field === 'events.1') expect(reply.body.error).toContain('contact.exploded');
    });
  });
});

describe('a webhook of a server that calls public addresses alone', () => {
  it('is refused with 422 where it leads elsewhere, when it is made and when it is changed', async () => {
    const strict = await server({ config: { webhookAllowPrivate: false } });
    try {
      const { owner } = await strict.seed.account();
      const { id } = dataOf(await owner.post('/webhooks/manage', { url: 'https://93.184.216.34/in', events: ['*'] }));
      for (const url of [
        receiver.url,
        'https://127.0.0.1/',
        'https://169.254.169.254/',
        'https://localhost/',
        'https://[::ffff:7f00:1]/',
      ]) {
        expectRefusal(await owner.post('/webhooks/manage', { url, events: ['*'] }), 422, 'url');
        expectRefusal(await owner.patch(`/webhooks/manage/${id}`, { url }), 422, 'url');
      }
      expect(receiver.connections).toBe(0);
    } finally {
      await strict.close();
    }
  });
});

describe('the deliveries of a webhook that was given another address', () => {
  it('say of each attempt where it went, and of what is over where it went last', async () => {
    const other = await Receiver.open();
    const made = await webhook();
    const arrived = await delivery(made);
    await attempted(api, arrived, 1);
    receiver.answer = (_, response) => void response.writeHead(500).end();
    const waiting = await delivery(made);
    await attempted(api, waiting, 1);
    dataOf(await key.patch(`/webhooks/manage/${made.id}`, { url: other.url }));
    const explained = async (id: string): Promise<Loose> => dataOf(await key.get(`/webhooks/deliveries/${id}/explain`));
    expect(await explained(waiting)).toMatchObject({ url: other.url, attempts: [{ url: receiver.url }] });
    api.clock.advance(2 * minute);
    await attempted(api, waiting, 2);
    api.clock.reset();
    dataOf(await key.patch(`/webhooks/manage/${made.id}`, { url: `${receiver.url}/again` }));
    const ways = { [arrived]: [receiver.url], [waiting]: [receiver.url, other.url] };
    const { data } = dataOf(await key.get(`/webhooks/manage/${made.id}/deliveries`));
    for (const listed of [...data, await explained(arrived), await explained(waiting)]) {
      const way = ways[listed.id ?? listed.deliveryId]!;
      expect([listed.url, listed.attempts.map(({ url }: Loose) => url)]).toEqual([way.at(-1), way]);
    }
    await other.close();
  });
});

describe('PATCH and DELETE /webhooks/manage/{id}', () => {
  it('answers 422 to what it cannot take', async () => {
    const { id } = await webhook();
    expectRefusal(await key.patch(`/webhooks/manage/${id}`, { events: ['nope'] }), 422, 'events.0');
    expectRefusal(await key.patch(`/webhooks/manage/${id}`, { url: 'ftp://a.example/' }), 422, 'url');
    expectRefusal(await key.patch(`/webhooks/manage/${id}`, { isActive: null }), 422, 'isActive');
    expectRefusal(await key.patch(`/webhooks/manage/${crypto.randomUUID()}`, { events: ['nope'] }), 404);
  });

  it('sends what waits to the new address', async () => {
    receiver.answer = (_, response) => void response.writeHead(500).end();
    const other = await Receiver.open();
    const made = await webhook();
    const id = await delivery(made);
    await attempted(api, id, 1);
    dataOf(await key.patch(`/webhooks/manage/${made.id}`, { url: other.url }));
    api.clock.advance(2 * minute);
    expect(await attempted(api, id, 2)).toMatchObject({ status: 'delivered' });
    api.clock.reset();
    await other.close();
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['becomes inactive', async (id) => dataOf(await key.patch(`/webhooks/manage/${id}`, { isActive: false }))],
    ['is deleted', async (id) => dataOf(await key.del(`/webhooks/manage/${id}`))],
  ])('cancels what waits where it %s, and lets what is under way end', async (_, end) => {
    let answer = () => {};
    receiver.answer = (_request, response, nth) => {
      if (nth === 1) response.writeHead(500).end();
      else answer = () => void response.end();
    };
    const made = await webhook();
    const waiting = await delivery(made);
    await attempted(api, waiting, 1);
    const underWay = await delivery(made);
    await receiver.until(2);
    await end(made.id);
    expect(await kept(api, waiting)).toMatchObject({ status: 'cancelled', dueAt: null });
    answer();
    expect(await attempted(api, underWay, 1)).toMatchObject({ status: 'delivered', dueAt: null });
    api.clock.advance(100 * hour);
    await attempted(api, await queued(api, acme, { url: receiver.url }), 1).catch(() => {});
    api.clock.reset();
    expect(receiver.received.filter(({ headers }) => headers['x-service-delivery'] === waiting)).toHaveLength(1);
  });

  it('cancels a delivery that was made while it was deleted', async () => {
    const made = await webhook();
    dataOf(await key.del(`/webhooks/manage/${made.id}`));
    const id = await delivery(made);
    await queued(api, acme, { url: receiver.url });
    await receiver.until(1);
    expect(await kept(api, id)).toMatchObject({ status: 'cancelled', dueAt: null, attemptCount: 0 });
  });

  it('is gone after DELETE', async () => {
    const { id } = await webhook();
    expect(dataOf(await key.del(`/webhooks/manage/${id}`))).toEqual({ id, archived: true, deleted: true });
    for (const path of [`/webhooks/manage/${id}`, `/webhooks/manage/${id}/deliveries`]) expectRefusal(await key.get(path), 404);
    expectRefusal(await key.del(`/webhooks/manage/${id}`), 404);
  });
});
