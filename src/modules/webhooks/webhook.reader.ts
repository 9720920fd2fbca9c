import { YieldTimer } from '../../kernel/base/eventLoop.js';
import type { Context, FeedReader } from '../../kernel/context/context.js';
import { bigint, instant, json, jsonText, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { commitsUnawaited, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { type FeedEnd, isBehind, Portion, type ReadEvent } from '../../kernel/events/readers.js';
import { webhookActor } from './webhook.due.js';
import { bodyOf } from './webhook.queue.js';
import { type EventsAfter, placeOfName } from './webhook.subscription.js';

const listening = (account: Sql) => sql`from webhooks w where w.account_id = ${account} and w.is_active and w.archived_at is null`;

const listeners = statement({
  name: 'listeningWebhooks',
  row: { id: uuid, events: listOf(text), after: bigint, unplaced: listOf(uuid), eventsAfter: json<EventsAfter>() },
  text: ({ account }) => sql`
    select w.id, w.events, w.active_after as after, w.active_unplaced as unplaced, w.events_after as "eventsAfter" ${listening(account)} order by w.id`,
});

type Wanting = Pick<FeedEvent, 'id' | 'eventId' | 'name'>;
type Listener = FeedEnd & { id: string; eventsAfter: EventsAfter };

/** The webhooks that want an event, by its name, and were active and wanted that name when it happened. */
async function wantedBy(ctx: Context): Promise<(event: Wanting) => string[]> {
  const byName = new Map<string, Listener[]>();
  for (const listener of await ctx.rows(listeners)) {
    const { events } = listener;
    for (const name of events.includes('*') ? ['*'] : events) byName.set(name, [...(byName.get(name) ?? []), listener]);
  }
  return (event) => {
    const { id, name } = event;
    const naming = [...(byName.get(name) ?? []), ...(byName.get('*') ?? [])];
    return naming.filter((own) => isBehind(event, own) && BigInt(id) > BigInt(placeOfName(own, name))).map((own) => own.id);
  };
}

// The body of an event goes along once, for however many webhooks it is. With them moves the reader's place, in the same transaction: what
// is lost of both is made again.
const queued = statement({
  name: 'queueDeliveriesOfEvents',
  takes: { events: jsonText, now: instant },
  row: { unawaited: text },
  changes: true,
  text: ({ account, events, now }) => sql`
    with made as (
      insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, due_at, created_at, updated_at)
      select ${account}, d.id, d.webhook, d.webhook, e.id, e.name, e.body, ${now}, ${now}, ${now}
      from json_to_recordset(${events}::json) e (id uuid, name text, body text, deliveries json)
      cross join lateral json_to_recordset(e.deliveries) d (id uuid, webhook uuid))
    select ${commitsUnawaited} as unawaited`,
});

/** Makes a delivery of each event to each webhook that wants it. */
export async function makeDeliveries(ctx: Context, events: readonly ReadEvent[]): Promise<number> {
  const wanted = await wantedBy(ctx);
  const portion = new Portion();
  const timer = new YieldTimer();
  const sent: ReturnType<typeof queueOf>[] = [];
  let seen = 0;
  for (const event of events) {
    if (timer.isDue) await timer.take();
    const webhooks = wanted(event);
    if (!portion.takes(event, webhooks.length)) break;
    seen++;
    if (webhooks.length > 0) sent.push(queueOf(ctx, event, webhooks));
  }
  if (sent.length > 0) {
    await ctx.rows(queued, { events: JSON.stringify(sent), now: ctx.now() });
    ctx.wake('deliveries');
  }
  return seen;
}

function queueOf(ctx: Context, { eventId: id, name, createdAt, data, changes }: FeedEvent, webhooks: readonly string[]) {
  const body = bodyOf(ctx, { id, event: name, createdAt, data, changes });
  return { id, name, body, deliveries: webhooks.map((webhook) => ({ id: ctx.app.clock.id(), webhook })) };
}

/** Makes deliveries of the feed. */
export const webhookReader: FeedReader = {
  actor: webhookActor,
  wanted: (account) => sql`select distinct unnest(w.events) ${listening(account)}`,
  make: makeDeliveries,
};
