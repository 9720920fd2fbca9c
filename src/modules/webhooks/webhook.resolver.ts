import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { Detached } from '../../kernel/operations/operation.js';
import { explainDelivery } from './delivery.explain.js';
import { DeliveryExplanation, Replay, WebhookDelivery, WebhookDeliveryConnection, WebhookDeliveryList } from './delivery.model.js';
import * as deliveries from './delivery.service.js';
import {
  ArchivedWebhook,
  CreateWebhookInput,
  ReplayInput,
  UpdateWebhookInput,
  Webhook,
  WebhookConnection,
  WebhookList,
  WebhookTest,
  WebhookWithSecret,
} from './webhook.model.js';
import * as webhooks from './webhook.service.js';
import { deliveryTable, webhookTable } from './webhook.table.js';

export const administration = { scope: 'webhooks', role: 'admin', admin: true } as const;

@Resolver(() => Webhook)
@Access(administration)
export class WebhookResolver {
  @Query(() => WebhookConnection, { description: 'Addresses that events are sent to, newest first unless sorted otherwise' })
  @Reads(webhookTable)
  webhooks(@Ctx() ctx: Context, @Listing() args: WebhookList) {
    return webhooks.listWebhooks(ctx, args);
  }

  @Query(() => Webhook, { nullable: true, description: 'One webhook' })
  @Reads(webhookTable)
  webhook(@Ctx() ctx: Context, @IdArg() id: string) {
    return webhooks.getWebhook(ctx, id);
  }

  @Mutation(() => WebhookWithSecret, { description: 'Has events sent to an address, and shows the secret that signs them, once' })
  @Detached()
  @Unprocessable()
  createWebhook(@Ctx() ctx: Context, @In() input: CreateWebhookInput) {
    return webhooks.createWebhook(ctx, input);
  }

  @Mutation(() => Webhook, { description: 'Changes a webhook' })
  @Detached()
  @Unprocessable()
  updateWebhook(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateWebhookInput) {
    return webhooks.updateWebhook(ctx, id, input);
  }

  @Mutation(() => ArchivedWebhook, { description: 'Archives a webhook; what waits to be sent is cancelled' })
  archiveWebhook(@Ctx() ctx: Context, @IdArg() id: string) {
    return webhooks.archiveWebhook(ctx, id);
  }

  @Mutation(() => WebhookWithSecret, {
    description: 'Gives a webhook a new secret; for 24 hours the one that it replaces signs as well, and none from before that',
  })
  rotateWebhookSecret(@Ctx() ctx: Context, @IdArg() id: string) {
    return webhooks.rotateSecret(ctx, id);
  }

  @Mutation(() => WebhookTest, { description: 'Sends the event test.ping to a webhook, now' })
  @Detached()
  testWebhook(@Ctx() ctx: Context, @IdArg() id: string) {
    return webhooks.testWebhook(ctx, id);
  }
}

@Resolver(() => WebhookDelivery)
@Access(administration)
export class WebhookDeliveryResolver {
  @Query(() => WebhookDeliveryConnection, { description: 'Events on their way to addresses, newest first unless sorted otherwise' })
  @Reads(deliveryTable)
  webhookDeliveries(@Ctx() ctx: Context, @Listing() args: WebhookDeliveryList) {
    return deliveries.listDeliveries(ctx, args);
  }

  @Query(() => WebhookDelivery, { nullable: true, description: 'One delivery' })
  @Reads(deliveryTable)
  webhookDelivery(@Ctx() ctx: Context, @IdArg() id: string) {
    return deliveries.getDelivery(ctx, id);
  }

  @Query(() => WebhookDeliveryConnection, {
    nullable: true,
    description: 'What was sent to one webhook, newest first unless sorted otherwise',
  })
  deliveriesOfWebhook(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: WebhookDeliveryList) {
    return deliveries.listDeliveriesOf(ctx, id, args);
  }

  @Query(() => DeliveryExplanation, { nullable: true, description: 'How a delivery stands, why, and what is next' })
  webhookDeliveryExplanation(@Ctx() ctx: Context, @IdArg() id: string) {
    return explainDelivery(ctx, id);
  }

  @Mutation(() => Replay, { description: 'Sends deliveries again' })
  replayWebhookDeliveries(@Ctx() ctx: Context, @In() input: ReplayInput) {
    return deliveries.replayDeliveries(ctx, input);
  }
}
