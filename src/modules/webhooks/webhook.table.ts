import type { RowOf } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { payloadAsSeenBy } from '../events/event.redaction.js';
import { WebhookDelivery, WebhookDeliveryConnection, WebhookDeliveryList } from './delivery.model.js';
import { Webhook, WebhookConnection, WebhookList } from './webhook.model.js';

/** Webhooks that are not deleted; their secrets are read by those who sign alone. */
export const webhookTable = table({
  row: modelRow('Webhook', Webhook),
  withoutEvents: ['lastFiredAt', 'failCount', 'failingSince'],
  toldAtTimes: ['failingSince'],
  list: WebhookList,
  page: WebhookConnection,
  live: sql`t.archived_at is null`,
  sorts: {
    ...{ createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), lastFiredAt: byTime('last_fired_at', true) },
    failCount: { by: 't.fail_count', type: 'integer' },
  },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (text) => sql`(${contains('t.url', text)} or ${contains("coalesce(t.description, '')", text)})`,
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
    event: (event) => sql`(${event} = any(t.events) or '*' = any(t.events))`,
  },
});
export type WebhookRow = RowOf<typeof webhookTable.shape>;

/** Deliveries, those of deleted webhooks as well; each is shown as its event may be seen. */
export const deliveryTable = table({
  row: modelRow('WebhookDelivery', WebhookDelivery),
  untold: true,
  list: WebhookDeliveryList,
  page: WebhookDeliveryConnection,
  what: 'Delivery',
  counted: false,
  renamed: { nextAttemptAt: 'due_at' },
  computed: {
    // Of what is over, the address of its last attempt: the webhook's may be another one since.
    url: sql`coalesce(t.url, case when t.status <> 'pending' then t.attempts -> -1 ->> 'url' end,
      (select w.url from webhooks w where w.account_id = t.account_id and w.id = t.webhook_id))`,
    payload: (ctx) => payloadAsSeenBy(ctx, { body: sql`t.body`, isOwn: sql`t.own_payload`, event: sql`t.event` }),
  },
  carried: ['url'],
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    webhookId: (id) => sql`t.webhook_id = ${id}::uuid`,
    status: (status) => sql`t.status = ${status}`,
    sourceKind: (kind) => sql`t.source_kind = ${kind}`,
    sourceId: (id) => sql`t.source_id = ${id}::uuid`,
    event: (event) => sql`t.event = ${event}`,
    eventId: (id) => sql`t.event_id = ${id}::uuid`,
    createdFrom: (moment, ctx) => since('t.created_at', moment, ctx),
    createdTo: (moment, ctx) => until('t.created_at', moment, ctx),
  },
});
export type DeliveryRow = RowOf<typeof deliveryTable.shape>;
