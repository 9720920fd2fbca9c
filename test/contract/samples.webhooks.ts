import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

let listening: Promise<string> | undefined;

/** An address on this machine that answers 200 for as long as the tests run. */
const receiver = () => {
  listening ??= new Promise((resolve) => {
    const server = createServer((request, response) => void request.resume().on('end', () => response.end()));
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/in`));
    server.unref().on('connection', (socket) => socket.unref());
  });
  return listening;
};

export const aWebhook = async (account: Account, n = 0): Promise<string> => {
  const body = { url: await receiver(), events: ['test.ping'], description: `Webhook ${n}` };
  return dataOf(await account.owner.post('/webhooks/manage', body)).id;
};
const onWebhook: MakeSample = async (account, n) => ({ params: { id: await aWebhook(account, n) } });

/** A delivery that failed, written without its module. */
async function aDelivery(account: Account, webhookId: string): Promise<string> {
  const { database, clock } = account.seed.app;
  const at = clock.now();
  const attempt = {
    at: at.toISOString(),
    responseStatus: 500,
    responseTimeMs: 12,
    error: 'response_status',
    url: 'https://example.com/in',
  };
  const body = JSON.stringify({ id: clock.id(), event: 'contact.created', createdAt: at, data: { id: clock.id(), firstName: 'Ada' } });
  const { id } = await database.prisma.webhookDelivery.create({
    data: {
      ...{ accountId: account.id, id: clock.id(), webhookId, sourceId: webhookId, eventId: clock.id(), event: 'contact.created', body },
      ...{ status: 'failed', attempt: 1, attemptCount: 1, attempts: [attempt], firstAttemptAt: at, lastAttemptAt: at },
      ...{ responseStatus: 500, responseTimeMs: 12, error: 'response_status', createdAt: at, updatedAt: at },
    },
  });
  return id;
}

const onDelivered: MakeSample = async (account, n) => {
  const { params } = await onWebhook(account, n);
  await aDelivery(account, params!.id!);
  return { params };
};

/** Samples of webhooks. */
export const webhookSamples: Record<string, MakeSample> = {
  'GET /webhooks/manage': async (account, n) => {
    await aWebhook(account, n);
    return { query: `search=Webhook ${n}&is_active=true&event=test.ping&sort=createdAt&order=asc` };
  },
  'POST /webhooks/manage': async (_account, n) => ({
    body: { url: await receiver(), events: ['test.ping'], isActive: true, description: `Made ${n}` },
  }),
  'GET /webhooks/manage/{id}': onDelivered,
  'PATCH /webhooks/manage/{id}': async (account, n) => ({ ...(await onWebhook(account, n)), body: { events: ['*'], isActive: false } }),
  'DELETE /webhooks/manage/{id}': onWebhook,
  'POST /webhooks/manage/{id}/test': onWebhook,
  'POST /webhooks/manage/{id}/rotate-secret': onWebhook,
  'GET /webhooks/manage/{id}/deliveries': async (account, n) => ({
    ...(await onDelivered(account, n)),
    query: 'status=failed&event=contact.created',
  }),
  'GET /webhooks/deliveries/{id}/explain': async (account, n) => ({
    params: { id: await aDelivery(account, await aWebhook(account, n)) },
  }),
  'POST /webhooks/replay': async (account, n) => {
    const webhookId = await aWebhook(account, n);
    await aDelivery(account, webhookId);
    return { body: { webhookId, status: 'failed', event: 'contact.created', since: '2020-01-01T00:00:00Z' } };
  },
};
