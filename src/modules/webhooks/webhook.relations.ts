import { relation } from '../../kernel/tables/relation.js';
import { userTable } from '../users/user.table.js';
import { deliveryTable, webhookTable } from './webhook.table.js';

/** Of the history that comes along with a webhook: so many of the latest deliveries. */
const latest = 't.created_at desc, t.id desc';

export const webhookRelations = [
  ...relation(deliveryTable, 'webhookId', webhookTable, {
    one: { name: 'webhook', description: 'The webhook; null where an action asked for it, or it is deleted' },
    many: { name: 'deliveries', description: 'What was sent to it, the newest first by default' },
  }),
  ...relation(deliveryTable, 'webhookId', webhookTable, {
    many: { name: 'deliveryHistory', description: 'The latest 20 deliveries, the newest first', listed: { by: latest, holds: 20, latest } },
  }),
  ...relation(deliveryTable, 'replayOf', deliveryTable, {
    one: { name: 'original', description: 'The delivery that it sends again' },
    many: { name: 'replays', description: 'The deliveries that send it again, the newest first by default' },
  }),
  ...relation(webhookTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made it' } }),
];
