import { ArgsType, ObjectType } from 'type-graphql';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Entity, Flag, Id, Input, JsonValue, Moment, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';

export const DeliveryStatus = oneOf(
  'WebhookDeliveryStatus',
  {
    pending: 'An attempt is to come',
    delivered: 'An attempt succeeded',
    failed: 'The last attempt failed, or the receiver answered 410',
    cancelled: 'The webhook was switched off before it arrived, or it, the workflow or the automation deleted',
  },
  'How a delivery stands: an attempt is to come; an attempt succeeded; the last one failed; it was cancelled before',
);
export const DeliverySource = oneOf(
  'WebhookDeliverySource',
  {
    webhook: 'A registered webhook',
    workflow: 'An action of a workflow',
    automation: 'An action of an automation, or the call of its runner',
  },
  'What asked for a delivery: a registered webhook, or an action of a workflow or an automation',
);
export type SourceKind = keyof typeof DeliverySource;

/** The contract's ladder: a first attempt and seven more. */
const mostAttempts = 8;

@Entity('One attempt at a delivery')
export class WebhookAttempt {
  @Stamp('When it began') at: Date;
  @Count('The status of the answer; null where there was none') responseStatus: number | null;
  @Count('Milliseconds that it took') responseTimeMs: number | null;
  @Text(50, 'Why it failed: response_status, timeout, connection_failed, tls_failed, invalid_response, url_not_allowed')
  error: string | null;
  @Text(2048, 'Where it went; null of attempts from before this was kept') url: string | null;
}

/** Contract GET /webhooks/manage/{id}/deliveries. */
@Entity('An event on its way to an address', { scope: 'webhooks' })
export class WebhookDelivery {
  @Id() id: string;
  @Ref('The webhook; null where an action asked for it') webhookId: string | null;
  @OneOf(DeliverySource, 'What asked for it', { required: true }) sourceKind: keyof typeof DeliverySource;
  @Ref('The webhook, workflow or automation that asked for it', { required: true }) sourceId: string;
  @Ref('The run of the workflow or automation') runId: string | null;
  @Text(2048, 'Where it goes, or went last where no attempt is to come', { required: true }) url: string;
  @Ref(
    'The event that it is about. Receivers get it as webhook-id, the same on every attempt and replay; of what an action sends, the id of its first delivery',
    {
      required: true,
    },
  )
  eventId: string;
  @Text(100, 'The name of the event; automation.enrolled, automation.scheduled or automation.action where no event led to it', {
    required: true,
  })
  event: string;
  @OneOf(DeliveryStatus, 'How it stands', { required: true }) status: keyof typeof DeliveryStatus;
  @Count('Attempts that have ended', { required: true }) attemptCount: number;
  @Nested(
    () => WebhookAttempt,
    () => WebhookAttempt,
    'These attempts, the first one first',
    { required: true, list: mostAttempts },
  )
  attempts: WebhookAttempt[];
  @Stamp('When the first attempt was made', {}) firstAttemptAt: Date | null;
  @Stamp('When the last attempt was made', {}) lastAttemptAt: Date | null;
  @Stamp('When the next attempt is due', {}) nextAttemptAt: Date | null;
  @Stamp('When it arrived', {}) deliveredAt: Date | null;
  @Count('The status of the last answer') responseStatus: number | null;
  @Count('Milliseconds that the last attempt took') responseTimeMs: number | null;
  @Text(50, 'Why the last attempt failed') error: string | null;
  @Ref('The delivery that it sends again') replayOf: string | null;
  @JsonValue(
    1024,
    'What is sent. To keys that may not see the event its record is [redacted] but for ids; to those without the scope contacts, what it says of people',
    { required: true },
  )
  payload: unknown;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

export const DeliveryReason = oneOf(
  'WebhookDeliveryReason',
  {
    first_attempt: 'Its first attempt waits for its turn',
    under_way: 'An attempt is under way',
    retry: 'An attempt failed, and another is to come',
    delivered: 'It arrived',
    ladder_over: 'The last attempt failed',
    gone: 'The receiver answered 410, which ended it',
    cancelled: 'Its webhook was switched off, or it, the workflow or the automation deleted',
  },
  'Why a delivery stands as it does: its first attempt waits for its turn; an attempt is under way; an attempt failed and another is to come; it arrived; the last attempt failed; 410 ended it; it was cancelled',
);

@Entity('An attempt that is to come')
export class PlannedAttempt {
  @Count('Which one, from 1', { required: true }) attempt: number;
  @Stamp('When it is due; chance makes later ones up to one per cent later') at: Date;
}

@Entity('How a delivery stands, why, and what is next')
export class DeliveryExplanation {
  @Ref('The delivery', { required: true }) deliveryId: string;
  @Ref('The event that it is of', { required: true }) eventId: string;
  @Text(100, 'The name of the event', { required: true }) event: string;
  @OneOf(DeliverySource, 'What asked for it', { required: true }) sourceKind: keyof typeof DeliverySource;
  @Ref('The webhook, workflow or automation that asked for it', { required: true }) sourceId: string;
  @Ref('The run of the workflow or automation, whose explanation says what led to it') runId: string | null;
  @Text(2048, 'Where it goes, or went last where no attempt is to come', { required: true }) url: string;
  @OneOf(DeliveryStatus, 'How it stands', { required: true }) status: keyof typeof DeliveryStatus;
  @OneOf(DeliveryReason, 'Why', { required: true }) reason: keyof typeof DeliveryReason;
  @Text(500, 'The same in a sentence', { required: true }) explanation: string;
  @Nested(
    () => WebhookAttempt,
    () => WebhookAttempt,
    'The attempts that have ended, the first one first',
    { required: true, list: mostAttempts },
  )
  attempts: WebhookAttempt[];
  @Nested(
    () => PlannedAttempt,
    () => PlannedAttempt,
    'The attempts to come, should each of them fail',
    { required: true, list: mostAttempts },
  )
  planned: PlannedAttempt[];
}

@Entity('Deliveries that are sent again')
export class Replay {
  @Count('How many are sent again', { required: true }) replayed: number;
  @Count(
    'How many are not: their webhook is inactive or deleted; of those named by their ids also what is unknown or still on its way. What a window leaves out since it was sent again already is not counted',
    { required: true },
  )
  skipped: number;
  @Flag('Whether there are more in the window than are sent again at once: the oldest come first, and the same request goes on', {
    required: true,
  })
  hasMore: boolean;
  @Nested(
    () => WebhookDelivery,
    () => WebhookDelivery,
    'The new deliveries',
    { required: true, list: 1000 },
  )
  deliveries: WebhookDelivery[];
}

@Input('Which deliveries')
export class WebhookDeliveryFilter {
  @Ref('The webhook') webhookId?: string | null;
  @OneOf(DeliveryStatus, 'How they stand') status?: keyof typeof DeliveryStatus | null;
  @OneOf(DeliverySource, 'What asked for them') sourceKind?: keyof typeof DeliverySource | null;
  @Ref('The webhook, workflow or automation that asked for them') sourceId?: string | null;
  @Text(100, 'The name of the event') event?: string | null;
  @Ref('The event itself') eventId?: string | null;
  @Moment('Made at or after') createdFrom?: string | null;
  @Moment('Made at or before; a day to its end') createdTo?: string | null;
}

export const WebhookDeliverySort = oneOf('WebhookDeliverySort', ['createdAt'], 'Sort keys of deliveries');

@ArgsType()
export class WebhookDeliveryList extends ListArgsOf(WebhookDeliveryFilter, WebhookDeliverySort) {}

@ObjectType({ description: 'A page of deliveries' })
export class WebhookDeliveryConnection extends ConnectionOf(WebhookDelivery) {}
