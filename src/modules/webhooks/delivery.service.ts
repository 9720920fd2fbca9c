import { badRequest, check, found, invalidChoice, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, instant, integer, listOf, nullable, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { isUuid } from '../../kernel/model/checks.js';
import { checkTrial } from '../plans/plan.limits.js';
import { DeliveryStatus, type Replay, type WebhookDelivery, type WebhookDeliveryList } from './delivery.model.js';
import type { ReplayInput } from './webhook.model.js';
import { opened, sealed } from './webhook.queue.js';
import { getWebhook } from './webhook.service.js';
import { type DeliveryRow, deliveryTable } from './webhook.table.js';

/** Deliveries of all webhooks and actions, newest first. */
export const listDeliveries = (ctx: Context, args: WebhookDeliveryList, webhookId?: string) =>
  listRows<DeliveryRow>(ctx, deliveryTable, args, { more: webhookId === undefined ? [] : [sql`t.webhook_id = ${webhookId}::uuid`] });

/** Contract GET /webhooks/manage/{id}/deliveries: newest first; 404 for the webhook. */
export async function listDeliveriesOf(ctx: Context, id: string, args: WebhookDeliveryList) {
  const webhook = await getWebhook(ctx, id);
  return listDeliveries(ctx, args, webhook.id);
}

/** One delivery, or null. */
export const findDelivery = (ctx: Context, id: string) => findRow<DeliveryRow>(ctx, deliveryTable, id);

/** One delivery, or 404. */
export const getDelivery = async (ctx: Context, id: string) => found(await findDelivery(ctx, id), 'Delivery');

/** How many deliveries of a window are sent again at once. */
const mostReplayed = 1000;

const toReplay = statement({
  name: 'deliveriesToReplay',
  takes: {
    ...{ ids: nullable(listOf(uuid)), webhook: nullable(uuid), status: nullable(text), event: nullable(text) },
    ...{ since: nullable(instant), until: nullable(instant), most: integer },
  },
  row: {
    ...{ id: uuid, webhookId: nullable(uuid), sourceKind: word<'webhook'>(), sourceId: uuid, runId: nullable(uuid), url: nullable(text) },
    ...{
      secret: nullable(text),
      eventId: uuid,
      messageId: nullable(uuid),
      event: text,
      body: text,
      ownPayload: flag,
      status: text,
      isWanted: flag,
    },
  },
  text: ({ account, ids, webhook, status, event, since, until, most }) => sql`
    select d.id, d.webhook_id as "webhookId", d.source_kind as "sourceKind", d.source_id as "sourceId", d.run_id as "runId", d.url, d.secret,
      d.event_id as "eventId", d.message_id as "messageId", d.event, d.body, d.own_payload as "ownPayload", d.status, w.id is null or (w.is_active and w.archived_at is null) as "isWanted"
    from webhook_deliveries d left join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id
    where d.account_id = ${account} and (${ids} is null or d.id = any(${ids})) and (${webhook} is null or d.webhook_id = ${webhook})
      and (${status} is null or d.status = ${status}) and (${event} is null or d.event = ${event})
      and (${since} is null or d.created_at >= ${since}) and (${until} is null or d.created_at < ${until})
    order by d.created_at, d.id limit ${most}`,
});

/**
 * Contract POST /webhooks/replay: sends deliveries again, each as a new one with the event's id and bytes. By their ids, at most 100,
 * or those of a window of time that stand as `status` says. What is still on its way, or whose webhook is inactive or deleted, is
 * skipped. 402 where the account is not paid for.
 */
export async function replayDeliveries(ctx: Context, input: ReplayInput): Promise<Replay> {
  const asked = await askedFor(ctx, input);
  checkTrial(ctx);
  const rows = await ctx.rows(toReplay, { ...asked, most: mostReplayed + 1 });
  const chosen = rows.slice(0, mostReplayed);
  const again = chosen.filter(({ isWanted, status }) => isWanted && status !== 'pending');
  const deliveries = again.map(({ id: replayOf, isWanted: _wanted, secret, status: _status, ...same }) => {
    const id = ctx.app.clock.id();
    const own =
      secret && sealed(ctx.app, `webhook_deliveries.secret ${id}`, opened(ctx.app, `webhook_deliveries.secret ${replayOf}`, secret));
    ctx.insert('WebhookDelivery', { ...same, id, replayOf, secret: own, dueAt: ctx.now() });
    return id;
  });
  if (deliveries.length > 0) ctx.wake('deliveries');
  const wanted = asked.ids ? new Set(input.deliveryIds).size : chosen.length;
  return {
    ...{ replayed: deliveries.length, skipped: wanted - deliveries.length, hasMore: rows.length > mostReplayed },
    deliveries: await byIds(ctx, deliveries),
  };
}

/** What a replay asks for. Throws 400 where that is nothing, both, or no delivery could be of it. */
async function askedFor(ctx: Context, { deliveryIds, webhookId, status, event, since, until }: ReplayInput) {
  const isWindow = [webhookId, status, event, since, until].some((given) => given !== undefined && given !== null);
  check(deliveryIds || isWindow, () => badRequest('Name deliveryIds, or status and since'));
  check(!(deliveryIds && isWindow), () => invalidField('deliveryIds', 'conflicting', 'stand alone, without status, since and the like'));
  if (deliveryIds) {
    check(deliveryIds.length > 0, () => invalidField('deliveryIds', 'too_few', 'must name at least one delivery'));
    const bad = deliveryIds.findIndex((id) => !isUuid(id));
    check(bad < 0, () => invalidField(`deliveryIds.${bad}`, 'invalid_format', 'must be a UUID'));
    return { ids: [...new Set(deliveryIds)], webhook: null, status: null, event: null, since: null, until: null };
  }
  const statuses = Object.keys(DeliveryStatus).filter((one) => one !== 'pending');
  check(status, () => invalidField('status', 'required', 'is required where no deliveryIds are named', statuses));
  check(statuses.includes(status), () => invalidChoice('status', statuses));
  check(since, () => invalidField('since', 'required', 'is required where no deliveryIds are named'));
  check(!until || until > since, () => invalidField('until', 'conflicting', 'must be after since'));
  if (webhookId) await getWebhook(ctx, webhookId);
  return { ids: null, webhook: webhookId ?? null, status, event: event ?? null, since, until: until ?? null };
}

/** Deliveries that this unit of work has made, the oldest first. */
async function byIds(ctx: Context, ids: readonly string[]): Promise<WebhookDelivery[]> {
  if (ids.length === 0) return [];
  const columns = deliveryTable.columnsWith(ctx, ['payload']);
  const rows = await ctx.select(
    { ...deliveryTable.shape, payload: { sql: 'json' } },
    sql`select ${columns} from webhook_deliveries t where t.account_id = ${ctx.caller.account.id}::uuid and t.id = any(${[...ids]}::uuid[]) order by t.id`,
  );
  return rows as WebhookDelivery[];
}
