import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  Id,
  Input,
  Instant,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
  Texts,
  Url,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { Archived, Removal } from '../../kernel/model/removal.js';

/** The most events that a webhook names. */
const mostEvents = 200;

/** Contract "Webhook registration": one line a field that a caller writes. */
@ObjectType()
export class WebhookFields {
  @Url(2048, 'Where events are sent by POST: https, at a public address', { required: true }) url: string;
  @Texts(mostEvents, 100, 'The events that are sent, by their names (contact.created); * is all of them', { required: true, min: 1 })
  events: string[];
  @Flag('Whether events are sent; true by default. What waits when it becomes false is cancelled', { optional: true }) isActive: boolean;
  @Text(1000, 'What it is for') description: string | null;
}

@Entity('An address that events of the workspace are sent to', { scope: 'webhooks' })
export class Webhook extends WebhookFields {
  @Id() id: string;
  @Stamp('When the last attempt at a delivery was made; tests do not count', {}) lastFiredAt: Date | null;
  @Count('Failed attempts since the last one that succeeded; tests do not count', { required: true }) failCount: number;
  @Stamp('Since when all attempts have failed', {}) failingSince: Date | null;
  @Stamp('When it was switched off: a delivery had failed with its last attempt, and all attempts of five days and more', {})
  disabledAt: Date | null;
  @Stamp('Until when the secret before the last rotation signs besides the new one', {}) previousSecretUntil: Date | null;
  @Ref('The user who made it') createdBy: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A new webhook')
export class CreateWebhookInput extends New(Draft(WebhookFields)) {}

@Input('Changes to a webhook: absent keeps')
export class UpdateWebhookInput extends Edit(CreateWebhookInput) {}

@Entity('A webhook and the secret that signs what it is sent, which is shown this once')
export class WebhookWithSecret {
  @Nested(
    () => Webhook,
    () => Webhook,
    'The webhook',
    { required: true },
  )
  webhook: Webhook;
  @Text(100, 'whsec_ and base64: the whole text keys X-Service-Signature, the bytes of the base64 webhook-signature', { required: true })
  secret: string;
}

/** Decisions, "DELETE replies". */
@Entity('What archiving a webhook answers', { implements: Removal })
export class ArchivedWebhook extends Archived {
  @Flag('Always true', { required: true }) deleted: boolean;
}

/** Contract POST /webhooks/manage/{id}/test. */
@Entity('What came of a test')
export class WebhookTest {
  @Flag('Always true: a test that is not answered by 2xx is the error vendor_unavailable', { required: true }) success: boolean;
  @Count('The status of the answer', { required: true }) statusCode: number;
  @Count('Milliseconds until it was there', { required: true }) responseTime: number;
  @Text(50, 'test.ping', { required: true }) event: string;
}

/** Contract GET /webhooks/manage. */
@Input('Which webhooks')
export class WebhookFilter {
  @Text(200, 'Part of the address or the description') search?: string | null;
  @Flag('Only active ones, or only inactive ones') isActive?: boolean | null;
  @Text(100, 'Only those that name this event, or all') event?: string | null;
}

export const WebhookSort = oneOf('WebhookSort', ['createdAt', 'updatedAt', 'lastFiredAt', 'failCount'], 'Sort keys of webhooks');

@ArgsType()
export class WebhookList extends ListArgsOf(WebhookFilter, WebhookSort) {}

@ObjectType({ description: 'A page of webhooks' })
export class WebhookConnection extends ConnectionOf(Webhook) {}

export const ReplayableStatus = oneOf(
  'ReplayableStatus',
  { delivered: 'Those that arrived', failed: 'Those that failed for good', cancelled: 'Those that were cancelled' },
  'How deliveries stand that are made again',
);

@Input('Which deliveries: by their ids, or by how they stand since a moment')
export class ReplayInput {
  @Texts(100, 100, 'Deliveries by their ids, at most 100', { min: 1 }) deliveryIds?: string[] | null;
  @Ref('Only those of this webhook') webhookId?: string | null;
  @OneOf(ReplayableStatus, 'How they stand') status?: keyof typeof ReplayableStatus | null;
  @Text(100, 'Only those of this event') event?: string | null;
  @Instant('Made since this moment') since?: Date | null;
  @Instant('Made before this moment; now by default') until?: Date | null;
}

/** What is told of webhooks. */
export const webhookEvents = eventsOf('webhook', 'Webhook', [...everyChange, 'archived']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    webhook: typeof webhookEvents;
  }
}
