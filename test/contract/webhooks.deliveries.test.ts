import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { attempted, kept } from '../support/deliveries.js';
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

const read = async ({ id }: Loose): Promise<Loose> => dataOf(await key.get(`/webhooks/manage/${id}`));

describe('what came of deliveries', () => {
  it('stands in the history of the webhook, with each attempt', async () => {
    receiver.answer = (_, response, nth) => void response.writeHead(nth === 1 ? 503 : 200).end();
    const made = await webhook();
    const id = await delivery(made);
    await attempted(api, id, 1);
    expect(await read(made)).toMatchObject({ failCount: 1, failingSince: expect.any(String), lastFiredAt: expect.any(String) });
    const [listed] = dataOf(await key.get(`/webhooks/manage/${made.id}/deliveries`)).data;
    expect(listed).toMatchObject({
      ...{
        id,
        webhookId: made.id,
        event: 'contact.created',
        status: 'pending',
        attemptCount: 1,
        responseStatus: 503,
        error: 'response_status',
      },
      ...{ url: receiver.url, payload: { data: { firstName: 'Ada' } }, nextAttemptAt: expect.any(String) },
      attempts: [{ at: expect.any(String), responseStatus: 503, responseTimeMs: expect.any(Number), error: 'response_status' }],
    });
    api.clock.advance(2 * minute);
    await attempted(api, id, 2);
    api.clock.reset();
    const { deliveries, ...whole } = await read(made);
    expect(whole).toMatchObject({ failCount: 0, failingSince: null });
    expect(deliveries).toMatchObject([{ id, status: 'delivered', attemptCount: 2, nextAttemptAt: null, deliveredAt: expect.any(String) }]);
  });

  it('says nothing of people to a key without the scope contacts', async () => {
    const made = await webhook();
    await delivery(made, { dueAt: null, status: 'failed' });
    const narrow = await acme.key({ scopes: ['webhooks'] });
    const path = `/webhooks/manage/${made.id}/deliveries`;
    const [seen] = dataOf(await narrow.get(path)).data;
    expect(seen.payload.data).toEqual({ firstName: '[redacted]', masterStatus: 'lead' });
    expect((await narrow.get(`/webhooks/manage/${made.id}`)).text).not.toContain('Ada');
    const document = `{ webhook(id: "${made.id}") { deliveries { nodes { payload } } deliveryHistory { payload } } }`;
    expect(JSON.stringify((await narrow.gql(document)).data)).not.toContain('Ada');
    expect(JSON.stringify((await key.gql(document)).data)).toContain('Ada');
    expect((await (await acme.key({ scopes: ['webhooks', 'contacts'] })).get(path)).text).toContain('Ada');
  });
});

describe('what a message or a call says of people besides the contact', () => {
  it('is hidden from a key without the scope contacts: copies, the address for answers, the voice', async () => {
    const made = await webhook();
    const ofPeople = {
      toEmail: 'ada@client.example',
      cc: ['boss@client.example'],
      bcc: ['aide@client.example'],
      replyTo: 'me@client.example',
    };
    const data = { ...ofPeople, recordingUrl: 'https://client.example/voice', status: 'sent' };
    await delivery(made, { dueAt: null, status: 'failed', event: 'message.sent', body: JSON.stringify({ event: 'message.sent', data }) });
    const narrow = await acme.key({ scopes: ['webhooks', 'messages', 'calls'] });
    const path = `/webhooks/manage/${made.id}/deliveries`;
    const names = [...Object.keys(ofPeople), 'recordingUrl'];
    const hidden = Object.fromEntries(names.map((name) => [name, '[redacted]']));
    expect(dataOf(await narrow.get(path)).data[0].payload.data).toEqual({ ...hidden, status: 'sent' });
    expect(dataOf(await key.get(path)).data[0].payload.data).toEqual(data);
  });
});

describe('POST /webhooks/manage/{id}/test', () => {
  it('sends test.ping, signed, and moves neither failCount nor lastFiredAt', async () => {
    const made = await webhook();
    const tested = dataOf(await key.post(`/webhooks/manage/${made.id}/test`));
    expect(tested).toEqual({ success: true, statusCode: 200, responseTime: expect.any(Number), event: 'test.ping' });
    const [{ headers, body }] = receiver.received as [Loose];
    expect(new Webhook(made.secret).verify(body, headers)).toMatchObject({ event: 'test.ping', workspaceId: acme.id });
    expect(headers['x-service-event']).toBe('test.ping');
    receiver.answer = (_, response) => void response.writeHead(404).end('not here');
    const reply = await key.post(`/webhooks/manage/${made.id}/test`);
    expectRefusal(reply, 502);
    expect(reply.body).toMatchObject({ code: 'vendor_unavailable', success: false, statusCode: 404, event: 'test.ping' });
    expect(reply.text).not.toContain('not here');
    expect(await read(made)).toMatchObject({ failCount: 0, lastFiredAt: null, deliveries: [] });
  });
});

describe('POST /webhooks/manage/{id}/rotate-secret', () => {
  it('signs with both secrets for a day, then with the new one', async () => {
    const made = await webhook();
    const { secret, previousSecretUntil } = dataOf(await key.post(`/webhooks/manage/${made.id}/rotate-secret`));
    expect(secret).not.toBe(made.secret);
    expect(new Date(previousSecretUntil).getTime() - api.clock.now().getTime()).toBeGreaterThan(23 * hour);
    await attempted(api, await delivery(made), 1);
    const [{ headers, body }] = receiver.received as [Loose];
    for (const one of [secret, made.secret]) expect(() => new Webhook(one).verify(body, headers)).not.toThrow();
    expect(headers['x-service-signature-previous']).toMatch(/^[0-9a-f]{64}$/);
    await api.app.database.prisma.webhook.updateMany({ where: { id: made.id }, data: { previousSecretUntil: api.clock.now() } });
    await attempted(api, await delivery(made), 1);
    const later = receiver.received[1] as Loose;
    expect(() => new Webhook(secret).verify(later.body, later.headers)).not.toThrow();
    expect(() => new Webhook(made.secret).verify(later.body, later.headers)).toThrow();
    expect(later.headers['x-service-signature-previous']).toBeUndefined();
  });

  it('has a test signed with both secrets as well', async () => {
    const made = await webhook();
    const { secret } = dataOf(await key.post(`/webhooks/manage/${made.id}/rotate-secret`));
    dataOf(await key.post(`/webhooks/manage/${made.id}/test`));
    const [{ headers, body }] = receiver.received as [Loose];
    for (const one of [secret, made.secret]) expect(() => new Webhook(one).verify(body, headers)).not.toThrow();
    expect(headers['x-service-signature-previous']).toMatch(/^[0-9a-f]{64}$/);
  });
});

const failed = (made: Loose, fields: object = {}) => delivery(made, { status: 'failed', dueAt: null, ...fields });

describe('POST /webhooks/replay', () => {
  it('sends deliveries again by their ids: new ones, of the same event and bytes', async () => {
    const made = await webhook();
    const off = await webhook({ isActive: false });
    const ids = [await failed(made), await failed(made), await failed(off), crypto.randomUUID()];
    const answer = dataOf(await key.post('/webhooks/replay', { deliveryIds: ids }));
    expect(answer).toMatchObject({ replayed: 2, skipped: 2, hasMore: false });
    expect(answer.deliveries.map(({ replayOf }: Loose) => replayOf).sort()).toEqual(ids.slice(0, 2).sort());
    await receiver.until(2);
    for (const again of answer.deliveries) {
      const [original, sent] = [
        await kept(api, again.replayOf),
        receiver.received.find(({ headers }) => headers['x-service-delivery'] === again.id)!,
      ];
      expect(sent).toMatchObject({ body: original.body, headers: { 'webhook-id': original.eventId } });
    }
  });
});

describe('POST /webhooks/replay of a window', () => {
  it('sends those that stand as is asked', async () => {
    const made = await webhook();
    const at = (hours: number) => new Date(api.clock.now().getTime() - hours * hour);
    for (const hours of [5, 3, 1]) await failed(made, { createdAt: at(hours) });
    await failed(made, { createdAt: at(3), event: 'deal.won' });
    await delivery(made, { createdAt: at(3), status: 'delivered', dueAt: null });
    const window = { webhookId: made.id, status: 'failed', event: 'contact.created', since: at(4), until: at(2) };
    expect(dataOf(await key.post('/webhooks/replay', window))).toMatchObject({ replayed: 1, skipped: 0 });
    expect(dataOf(await key.post('/webhooks/replay', { status: 'failed', since: at(100), webhookId: made.id })).replayed).toBe(3);
  });

  it('sends of large ones as many as make 8 MB', async () => {
    const made = await webhook();
    const since = api.clock.now();
    const body = JSON.stringify({ text: 'x'.repeat(1_500_000) });
    const large: string[] = [];
    for (let n = 0; n < 8; n++) large.push(await failed(made, { body, createdAt: new Date(since.getTime() + n) }));
    const window = { webhookId: made.id, status: 'failed', since };
    const answer = dataOf(await key.post('/webhooks/replay', window));
    expect(answer).toMatchObject({ replayed: 6, skipped: 0, hasMore: true });
    expect(answer.deliveries.map(({ replayOf }: Loose) => replayOf).sort()).toEqual(large.slice(0, 6).sort());
    const rest = dataOf(await key.post('/webhooks/replay', window));
    expect(rest).toMatchObject({ replayed: 2, skipped: 0, hasMore: false });
    expect(rest.deliveries.map(({ replayOf }: Loose) => replayOf).sort()).toEqual(large.slice(6).sort());
  });
});

describe('POST /webhooks/replay of a window that is asked for again, or holds what nobody wants', () => {
  it('passes over what nobody wants, however much of it there is', async () => {
    const off = await webhook({ isActive: false });
    const made = await webhook();
    const since = api.clock.now();
    const gone = await failed(off, { createdAt: since });
    await api.app.database.execute(
      `insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, status, created_at, updated_at)
      select account_id, gen_random_uuid(), webhook_id, source_id, gen_random_uuid(), event, body, status, created_at, updated_at
      from webhook_deliveries cross join generate_series(1, 1000) where id = '${gone}'`,
    );
    const last = await failed(made, { createdAt: new Date(since.getTime() + minute) });
    const answer = dataOf(await key.post('/webhooks/replay', { status: 'failed', since }));
    expect(answer).toMatchObject({ replayed: 1, skipped: 1001, hasMore: false, deliveries: [{ replayOf: last }] });
  });

  it('comes to an end where what it sends fails again', async () => {
    const made = await webhook();
    const since = api.clock.now();
    const body = JSON.stringify({ text: 'x'.repeat(3_000_000) });
    const large: string[] = [];
    for (let n = 0; n < 5; n++) large.push(await failed(made, { body, createdAt: new Date(since.getTime() + n) }));
    const window = { webhookId: made.id, status: 'failed', since };
    const replayed = async (more: boolean): Promise<string[]> => {
      const answer = dataOf(await key.post('/webhooks/replay', window));
      await api.app.database.execute(`update webhook_deliveries set status = 'failed', due_at = null where webhook_id = '${made.id}'`);
      expect(answer.hasMore).toBe(more);
      return answer.deliveries.map(({ replayOf }: Loose) => replayOf);
    };
    expect(await replayed(true)).toEqual(large.slice(0, 3));
    expect(await replayed(false)).toEqual([large[3], large[4], large[0]]);
    expect(await replayed(false)).toEqual(large.slice(0, 3));
  });

  it('sends nothing of a window twice: not what arrived or is on its way by now, and once what failed again', async () => {
    const made = await webhook();
    const since = new Date(api.clock.now().getTime() - hour);
    const at = (minutes: number) => ({ createdAt: new Date(since.getTime() + minutes * minute) });
    const again = async (original: string, fields: object) => {
      const { eventId } = await kept(api, original);
      return failed(made, { eventId, replayOf: original, ...fields });
    };
    const [arrived, twice] = [await failed(made, at(1)), await failed(made, at(2))];
    await again(arrived, { ...at(3), status: 'delivered' });
    await again(twice, at(4));
    const window = { webhookId: made.id, status: 'failed', since };
    const answer = dataOf(await key.post('/webhooks/replay', window));
    expect(answer).toMatchObject({ replayed: 1, skipped: 0, hasMore: false, deliveries: [{ replayOf: twice }] });
    await attempted(api, answer.deliveries[0].id, 1);
    expect(dataOf(await key.post('/webhooks/replay', window))).toMatchObject({ replayed: 0, hasMore: false });
    const delivered = { ...window, status: 'delivered' };
    expect(dataOf(await key.post('/webhooks/replay', delivered)).replayed).toBe(2);
    expect(dataOf(await key.post('/webhooks/replay', delivered)).replayed).toBe(0);
  });
});

describe('POST /webhooks/replay of nothing that it could be of', () => {
  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ deliveryIds: [] }, 'deliveryIds'],
    [{ deliveryIds: ['x'] }, 'deliveryIds.0'],
    [{ deliveryIds: Array.from({ length: 101 }, () => crypto.randomUUID()) }, 'deliveryIds'],
    [{ deliveryIds: [crypto.randomUUID()], status: 'failed' }, 'deliveryIds'],
    [{ status: 'failed' }, 'since'],
    [{ since: '2026-01-01T00:00:00Z' }, 'status'],
    [{ since: '2026-01-01T00:00:00Z', status: 'pending' }, 'status'],
    [{ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z', status: 'failed' }, 'until'],
    [{ since: '2026-01-01T00:00:00Z', status: 'failed', event: 'moon.rises' }, 'event'],
  ])('answers 400 to %j', async (body, field) => {
    await expectNothingWritten(api, async () => expectRefusal(await key.post('/webhooks/replay', body), 400, field));
  });
});

describe('an account that is not paid for', () => {
  it('is refused tests and replays with 402, and makes no webhook', async () => {
    const made = await webhook();
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { billingStatus: 'cancelled' } });
    api.clock.advance(2000);
    expectRefusal(await key.post(`/webhooks/manage/${made.id}/test`), 402);
    expectRefusal(await key.post('/webhooks/replay', { deliveryIds: [crypto.randomUUID()] }), 402);
    expectRefusal(await key.post('/webhooks/manage', { url: receiver.url, events: ['*'] }), 402);
    // What the contract has in the place of a 400 is said before.
    expectRefusal(await key.post('/webhooks/manage', { url: receiver.url, events: ['nope'] }), 422, 'events.0');
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { billingStatus: 'active' } });
    api.clock.reset();
    expect(receiver.connections).toBe(0);
  });
});
