import type { Context, FeedReader } from '../../kernel/context/context.js';
import { bigint, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { webhookActor } from './webhook.due.js';
import { bodyOf } from './webhook.queue.js';

const listening = (account: Sql) => sql`from webhooks w where w.account_id = ${account} and w.is_active and w.archived_at is null`;

const listeners = statement({
  name: 'listeningWebhooks',
  row: { id: uuid, events: listOf(text), activeAfter: bigint },
  text: ({ account }) => sql`select w.id, w.events, w.active_after as "activeAfter" ${listening(account)} order by w.id`,
});

type Wanting = Pick<FeedEvent, 'id' | 'name'>;

/** The webhooks that want an event, by its name, and were active when it happened. */
async function wantedBy(ctx: Context): Promise<(event: Wanting) => string[]> {
  const byName = new Map<string, { id: string; after: bigint }[]>();
  for (const { id, events, activeAfter } of await ctx.rows(listeners)) {
    const own = { id, after: BigInt(activeAfter) };
    for (const name of events.includes('*') ? ['*'] : events) byName.set(name, [...(byName.get(name) ?? []), own]);
  }
  return ({ id: position, name }) =>
    [...(byName.get(name) ?? []), ...(byName.get('*') ?? [])].flatMap(({ id, after }) => (BigInt(position) > after ? [id] : []));
}

/** Makes a delivery of each event to each webhook that wants it. */
export async function makeDeliveries(ctx: Context, events: readonly FeedEvent[]): Promise<void> {
  const wanted = await wantedBy(ctx);
  const dueAt = ctx.now();
  for (const each of events) {
    const { eventId, name: event, createdAt, data, changes } = each;
    const webhooks = wanted(each);
    if (webhooks.length === 0) continue;
    const body = bodyOf(ctx, { id: eventId, event, createdAt, data, changes });
    for (const id of webhooks) ctx.insert('WebhookDelivery', { webhookId: id, sourceId: id, eventId, event, body, dueAt });
  }
  ctx.wake('deliveries');
}

/** Makes deliveries of the feed. */
export const webhookReader: FeedReader = {
  actor: webhookActor,
  wanted: (account) => sql`select distinct unnest(w.events) ${listening(account)}`,
  make: makeDeliveries,
};
