import type { Context } from '../../src/kernel/context/context.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { bodyOf, type Queued, queueDelivery } from '../../src/modules/webhooks/webhook.queue.js';
import type { Account, Loose, TestServer } from './index.js';
import { eventually } from './live.js';

/** The account as what acts for it where nobody calls. */
export const actingFor = async (api: TestServer, account: Account): Promise<Context> => (await actingForAccount(api.app, account.id))!;

/** Has something sent for an account, without a registration; the delivery's id. */
export async function queued(api: TestServer, account: Account, given: Partial<Queued> & { url: string }): Promise<string> {
  const ctx = await actingFor(api, account);
  const source = { kind: 'workflow', id: api.app.clock.id() } as const;
  const payload = { id: api.app.clock.id(), event: 'contact.created', createdAt: ctx.now(), data: { firstName: 'Ada' } };
  const whole = { event: payload.event, eventId: payload.id, body: bodyOf(ctx, payload), source, ...given };
  return ctx.transaction(async (inside) => queueDelivery(inside, whole));
}

/** A delivery as it is kept. */
export const kept = async (api: TestServer, id: string): Promise<Loose> =>
  (await api.app.database.prisma.webhookDelivery.findFirst({ where: { id } })) as Loose;

/** Waits until so many attempts at a delivery have ended. */
export const attempted = (api: TestServer, id: string, count: number): Promise<Loose> =>
  eventually(async () => {
    const delivery = await kept(api, id);
    return delivery.attemptCount >= count && delivery;
  });

/** Goes on in time from attempt to attempt at a delivery until so many have ended. */
export async function failing(api: TestServer, id: string, attempts: number): Promise<void> {
  let delivery = await attempted(api, id, 1);
  while (delivery.attemptCount < attempts) {
    api.clock.set(new Date(delivery.dueAt.getTime() + 1));
    delivery = await attempted(api, id, delivery.attemptCount + 1);
  }
}

/** A delivery to a webhook, as an event would make it. */
export async function deliveryTo({ app }: TestServer, account: Account, webhook: string, fields: object = {}): Promise<string> {
  const made = { id: app.clock.id(), createdAt: app.clock.now(), updatedAt: app.clock.now(), dueAt: app.clock.now() };
  const [eventId, event] = [app.clock.id(), 'contact.created'];
  const body = JSON.stringify({ id: eventId, event, data: { firstName: 'Ada' } });
  const data = { accountId: account.id, ...made, webhookId: webhook, sourceId: webhook, eventId, event, body, ...fields };
  await app.database.prisma.webhookDelivery.create({ data });
  app.jobs.wake('deliveries');
  return made.id;
}
