import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { ladder } from '../../src/modules/webhooks/webhook.due.js';
import { newSecret, signingSecretOf } from '../../src/modules/webhooks/webhook.queue.js';
import { settleAttempt } from '../../src/modules/webhooks/webhook.settle.js';
import { actingFor, attempted, kept, queued } from '../support/deliveries.js';
import { type Account, dataOf, day, type Loose, minute, onPostgres, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());
beforeEach(async () => {
  api.clock.reset();
  receiver = await Receiver.open();
});
afterEach(() => receiver.close());

const status =
  (code: number): Receiver['answer'] =>
  (_, response) =>
    void response.writeHead(code).end();

describe('a delivery', () => {
  it('arrives once, and is verified by a library of Standard Webhooks and by the hex of its bytes', async () => {
    const secret = newSecret(api.app);
    const id = await queued(api, acme, { url: receiver.url, secret });
    const [{ headers, body }] = (await receiver.until(1)) as [Loose];
    const payload = new Webhook(secret).verify(body, headers);
    expect(payload).toMatchObject({
      id: (await kept(api, id)).eventId,
      event: 'contact.created',
      workspaceId: acme.id,
      data: { firstName: 'Ada' },
    });
    expect(headers).toMatchObject({
      'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
      'x-service-delivery': id,
      // What an action sends is a message of its own, of which one event may lead to several.
      'webhook-id': id,
      'x-service-event': 'contact.created',
      'x-service-timestamp': headers['webhook-timestamp'],
      'content-type': 'application/json',
    });
    expect(() => new Webhook(newSecret(api.app)).verify(body, headers)).toThrow();
    const delivery = await attempted(api, id, 1);
    expect(delivery).toMatchObject({ status: 'delivered', dueAt: null, leasedUntil: null, responseStatus: 200, error: null });
    expect(JSON.stringify(delivery)).not.toContain(secret);
  });

  it('is signed by a secret of what asks for it where it has none of its own', async () => {
    const source = { kind: 'workflow', id: api.app.clock.id() } as const;
    await queued(api, acme, { url: receiver.url, source });
    const [{ headers, body }] = (await receiver.until(1)) as [Loose];
    const ctx = await actingFor(api, acme);
    expect(() => new Webhook(signingSecretOf(ctx, source)).verify(body, headers)).not.toThrow();
    expect(signingSecretOf(ctx, { ...source, kind: 'automation' })).not.toBe(signingSecretOf(ctx, source));
  });

  it.each([199 + 2, 204, 299])('has succeeded by a %i', async (code) => {
    receiver.answer = status(code);
    expect(await attempted(api, await queued(api, acme, { url: receiver.url }), 1)).toMatchObject({ status: 'delivered' });
  });

  it.each([300, 301, 302, 307, 400, 404, 429, 500, 503])('has failed by a %i, and is tried again', async (code) => {
    receiver.answer = status(code);
    const delivery = await attempted(api, await queued(api, acme, { url: receiver.url }), 1);
    expect(delivery).toMatchObject({ status: 'pending', responseStatus: code, error: 'response_status', attemptCount: 1 });
    expect(delivery.dueAt.getTime() - delivery.firstAttemptAt.getTime()).toBe(minute);
  });

  it('ends by a 410', async () => {
    receiver.answer = status(410);
    const delivery = await attempted(api, await queued(api, acme, { url: receiver.url }), 1);
    expect(delivery).toMatchObject({ status: 'failed', dueAt: null, responseStatus: 410 });
  });

  it('fails without a call where the address may not be called', async () => {
    const delivery = await attempted(api, await queued(api, acme, { url: 'ftp://127.0.0.1/' }), 1);
    expect(delivery).toMatchObject({ status: 'pending', error: 'url_not_allowed', responseStatus: null });
  });
});

describe('the ladder', () => {
  it('goes through eight attempts, each at its offset from the first, with the same bytes and id', async () => {
    const other = await Receiver.open();
    receiver.answer = status(500);
    const id = await queued(api, acme, { url: receiver.url });
    let delivery = await attempted(api, id, 1);
    const first = delivery.firstAttemptAt.getTime();
    for (const [nth, offset] of ladder.entries()) {
      const due = delivery.dueAt.getTime() - first;
      expect(due).toBeGreaterThanOrEqual(offset);
      expect(due).toBeLessThanOrEqual(offset * 1.02);
      api.clock.set(new Date(first + offset - second));
      await attempted(api, await queued(api, acme, { url: other.url }), 1);
      expect((await kept(api, id)).attemptCount).toBe(nth + 1);
      api.clock.set(new Date(first + due));
      delivery = await attempted(api, id, nth + 2);
      expect(Date.parse(delivery.attempts[nth + 1].at)).toBeGreaterThanOrEqual(first + due);
    }
    expect(delivery).toMatchObject({ status: 'failed', dueAt: null, attemptCount: 8, responseStatus: 500 });
    expect(delivery.attempts).toHaveLength(8);
    expect(delivery.attempts[7]).toEqual({
      at: expect.any(String),
      responseStatus: 500,
      responseTimeMs: expect.any(Number),
      error: 'response_status',
      url: receiver.url,
    });
    const requests = receiver.received;
    expect(requests).toHaveLength(8);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(8);
    api.clock.advance(30 * day);
    await queued(api, acme, { url: receiver.url });
    await receiver.until(9);
    expect((await kept(api, id)).attemptCount).toBe(8);
    await other.close();
  });

  it('ends with the attempt that succeeds', async () => {
    receiver.answer = (_, response, nth) => void response.writeHead(nth < 3 ? 500 : 200).end();
    const id = await queued(api, acme, { url: receiver.url });
    await attempted(api, id, 1);
    api.clock.advance(minute + second);
    await attempted(api, id, 2);
    api.clock.advance(5 * minute);
    expect(await attempted(api, id, 3)).toMatchObject({ status: 'delivered', error: null, responseStatus: 200 });
    expect(receiver.received).toHaveLength(3);
  });
});

describe('turns', () => {
  it('are taken: four at a time to an address, in all processes, and a silent one holds up no other', async () => {
    receiver.answer = () => {};
    const source = { kind: 'workflow', id: api.app.clock.id() } as const;
    const silent = await Promise.all(Array.from({ length: 12 }, () => queued(api, acme, { url: receiver.url, source })));
    const good = await Receiver.open();
    await receiver.until(4);
    const begun = Date.now();
    const others = await Promise.all(Array.from({ length: 30 }, () => queued(api, acme, { url: good.url })));
    await good.until(30);
    expect(Date.now() - begun).toBeLessThan(4000);
    expect(receiver.received).toHaveLength(4);
    for (const id of others) await attempted(api, id, 1);
    const held = await Promise.all(silent.map((id) => kept(api, id)));
    expect(held.filter(({ leasedUntil }) => leasedUntil !== null)).toHaveLength(4);
    await api.app.database.execute(`update webhook_deliveries set status = 'cancelled', due_at = null where source_id = $1::uuid`, [
      source.id,
    ]);
    await good.close();
  });
});

onPostgres(describe)('a delivery that comes while a worker waits for its turn to take', () => {
  it('is made at once', async () => {
    const client = new pg.Client(api.place.databaseUrl);
    await client.connect();
    await client.query('begin');
    await client.query("select pg_advisory_xact_lock(hashtextextended('take_deliveries', 0))");
    const isWaiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
    await eventually(async () => (await client.query(isWaiting)).rows.length > 0);
    // Due before the worker looked, and committed after.
    api.clock.advance(-5 * second);
    const id = await queued(api, acme, { url: receiver.url });
    await client.query('commit');
    await client.end();
    await receiver.until(1, 4000);
    expect(await attempted(api, id, 1)).toMatchObject({ status: 'delivered', attempt: 1 });
  });
});

describe('a worker that lost its lease', () => {
  it('settles nothing', async () => {
    let answer = () => {};
    receiver.answer = (_, response, nth) => {
      if (nth > 1) response.end();
      else answer = () => void response.writeHead(500).end();
    };
    const id = await queued(api, acme, { url: receiver.url });
    await receiver.until(1);
    // As if it had been frozen for longer than its lease.
    await api.app.database.execute(`update webhook_deliveries set leased_until = now() - interval '1 second' where id = $1::uuid`, [id]);
    await receiver.until(2);
    const delivery = await attempted(api, id, 1);
    expect(delivery).toMatchObject({ status: 'delivered', attempt: 2, attemptCount: 1 });
    answer();
    const next = await queued(api, acme, { url: receiver.url });
    await receiver.until(3);
    // What the late one settles was begun before this is settled.
    await attempted(api, next, 1);
    expect(await kept(api, id)).toEqual(delivery);
  });
});

describe('attempts of one webhook that end together', () => {
  const figures = async (outcomes: boolean[], before: object = {}): Promise<Loose> => {
    const { prisma } = api.app.database;
    const { id: webhookId } = dataOf(await acme.owner.post('/webhooks/manage', { url: receiver.url, events: ['deal.won'] }));
    const where = { key: { accountId: acme.id, id: webhookId } };
    await prisma.webhook.update({ where, data: before });
    const ctx = await actingFor(api, acme);
    const settling = outcomes.map(async (delivered, nth) => {
      const [id, begun] = [api.app.clock.id(), new Date(Date.UTC(2026, 5, 1, 0, 0, nth))];
      const about = { accountId: acme.id, id, webhookId, sourceId: webhookId, eventId: id, event: 'deal.won', body: '{}', dueAt: begun };
      const taken = { attempt: 1, leasedUntil: new Date(Date.now() + day), createdAt: begun, updatedAt: begun };
      await prisma.webhookDelivery.create({ data: { ...about, ...taken } });
      const outcome = { delivered, status: delivered ? 200 : 500, ms: 1, error: null };
      return { id, attempt: 1, begun, ended: begun, url: receiver.url, next: null, ...outcome };
    });
    const after = await Promise.all((await Promise.all(settling)).map((given) => settleAttempt(ctx, given)));
    const { failCount, failingSince, lastFiredAt } = await prisma.webhook.findUniqueOrThrow({ where });
    expect(after.at(-1)).toEqual({ webhookId, failingSince });
    return { failCount, since: failingSince?.getUTCSeconds() ?? null, fired: lastFiredAt?.getUTCSeconds() };
  };
  const failing = { failCount: 3, failingSince: new Date(Date.UTC(2026, 5, 1, 0, 0, 59)) };

  it('count as if they had ended one after the other', async () => {
    expect(await figures([true, true])).toEqual({ failCount: 0, since: null, fired: 1 });
    expect(await figures([false, false])).toEqual({ failCount: 2, since: 0, fired: 1 });
    expect(await figures([false, true, false, false])).toEqual({ failCount: 2, since: 2, fired: 3 });
    expect(await figures([false, false], failing)).toEqual({ failCount: 5, since: 59, fired: 1 });
    expect(await figures([false, true], failing)).toEqual({ failCount: 0, since: null, fired: 1 });
    expect(await figures([true, false, true])).toEqual({ failCount: 0, since: null, fired: 2 });
    expect(await figures([true, true, false])).toEqual({ failCount: 1, since: 2, fired: 2 });
    expect(await figures([true, false, false], failing)).toEqual({ failCount: 2, since: 1, fired: 2 });
  });
});
