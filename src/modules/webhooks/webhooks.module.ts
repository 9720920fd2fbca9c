import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { WebhookAttempt, WebhookDelivery } from './delivery.model.js';
import { oldDeliveries } from './delivery.sweeps.js';
import { tellOfSwitchedOff } from './webhook.disable.js';
import { deliveries } from './webhook.due.js';
import { Webhook, webhookEvents } from './webhook.model.js';
import { seals } from './webhook.queue.js';
import { webhookReader } from './webhook.reader.js';
import { webhookRelations } from './webhook.relations.js';
import { administration, WebhookDeliveryResolver, WebhookResolver } from './webhook.resolver.js';
import { findWebhook } from './webhook.service.js';
import { deliveryTable, webhookTable } from './webhook.table.js';

const attempts = `attempts { ${namesOf(WebhookAttempt).join(' ')} }`;
const delivery = `{ ${namesOf(WebhookDelivery)
  .map((name) => (name === 'attempts' ? attempts : name))
  .join(' ')} }`;

export default defineModule({
  name: 'webhooks',
  about: 'Addresses that events are sent to, and each delivery',
  tables: [webhookTable, deliveryTable],
  relations: webhookRelations,
  resolvers: [WebhookResolver, WebhookDeliveryResolver],
  references: { webhook: { of: webhookTable } },
  events: [recordFeed(webhookEvents, { record: () => Webhook, find: findWebhook, access: administration })],
  due: { deliveries },
  seals,
  sweeps: { oldDeliveries },
  readers: { webhooks: webhookReader },
  jobs: { tellOfSwitchedOff },
  routes: [
    list('GET /webhooks/manage', 'webhooks', { as: 'page' }),
    make('POST /webhooks/manage', 'createWebhook', { spread: 'webhook', also: [402] }),
    read('GET /webhooks/manage/{id}', 'webhook', { with: `deliveries: deliveryHistory ${delivery}` }),
    edit('PATCH /webhooks/manage/{id}', 'updateWebhook'),
    drop('DELETE /webhooks/manage/{id}', 'archiveWebhook'),
    act('POST /webhooks/manage/{id}/test', 'testWebhook', {
      also: [402, 502],
      tells: { 502: { success: 'Boolean!', statusCode: 'Int', responseTime: 'Int!', event: 'String!' } },
    }),
    act('POST /webhooks/manage/{id}/rotate-secret', 'rotateWebhookSecret', { spread: 'webhook' }),
    list('GET /webhooks/manage/{id}/deliveries', 'deliveriesOfWebhook', { as: 'page' }),
    read('GET /webhooks/deliveries/{id}/explain', 'webhookDeliveryExplanation'),
    act('POST /webhooks/replay', 'replayWebhookDeliveries', { also: [402, 404] }),
  ],
});
