import { hourMs } from '../../kernel/base/durations.js';
import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { newId } from '../../kernel/context/freeIds.js';
import { instant, integer, json, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { isUuid } from '../../kernel/model/checks.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { Replay, SourceKind, WebhookDelivery, WebhookDeliveryList } from './delivery.model.js';
import { ReplayableStatus, type ReplayInput } from './webhook.model.js';
import { deliveredWithoutEvent, opened, placeOfOwn, sealed } from './webhook.queue.js';
import { getWebhook, isEventName } from './webhook.service.js';
import { type DeliveryRow, deliveryTable } from './webhook.table.js';

/** Deliveries of all webhooks and actions, newest first. */
export const listDeliveries = (ctx: Context, args: WebhookDeliveryList) => listRows<DeliveryRow>(ctx, deliveryTable, args);

/** Contract GET /webhooks/manage/{id}/deliveries: newest first; 404 for the webhook. */
export async function listDeliveriesOf(ctx: Context, id: string, args: WebhookDeliveryList) {
  const webhook = await getWebhook(ctx, id);
  return listRowsOf<DeliveryRow>(ctx, deliveryTable, args, { webhookId: webhook.id });
}

/** One delivery, or 404. */
export const getDelivery = (ctx: Context, id: string) => getRow<DeliveryRow>(ctx, deliveryTable, id);

/** How many deliveries of a window are sent again at once, and how many bytes of what they send: one more begins before that. */
const [mostReplayed, mostBytes] = [1000, 8_000_000];

/** For how long what was sent again counts as sent by the same request, in milliseconds. */
const aWhile = hourMs;

/** A delivery that is asked for, without the bytes that it sends. */
interface Asked {
  id: string;
  webhookId: string | null;
  sourceKind: SourceKind;
  sourceId: string;
  runId: string | null;
  url: string | null;
  secret: string | null;
  eventId: string;
  messageId: string | null;
  event: string;
  ownPayload: boolean;
  status: string;
  isWanted: boolean;
  /** Whether it is one of a window that was sent again lately. */
  isAgain: boolean;
  /** Whether those before it leave room for it. */
  fits: boolean;
}

const isWanted = sql`case d.source_kind
  when 'webhook' then w.id is null or (w.is_active and w.archived_at is null)
  when 'workflow' then not exists (select from workflows f where f.account_id = d.account_id and f.id = d.source_id and f.deleted_at is not null)
  when 'automation' then not exists (select from automations f where f.account_id = d.account_id and f.id = d.source_id and f.deleted_at is not null) end`;

// By ids whatever they name, as it is. Of a window what its webhook wants, in its order, and of each message one delivery: none where a
// later one of it arrived or is on its way, and the first of those that stand as was asked. What was sent again lately, and failed again,
// comes last, and is not what there is more of: so the same request goes on where it ended, and comes to an end whatever answers. `s` says
// how many of the window nobody wants.
const toReplay = statement({
  name: 'deliveriesToReplay',
  takes: {
    ...{ ids: nullable(listOf(uuid)), webhook: nullable(uuid), status: nullable(text), event: nullable(text) },
    ...{ since: nullable(instant), until: nullable(instant), lately: instant, most: integer, bytes: nullable(integer) },
  },
  row: { unwanted: integer, delivery: nullable(json<Asked>()), body: nullable(text) },
  text: ({ account, ids, webhook, status, event, since, until, lately, most, bytes }) => {
    const isMeant = sql`d.account_id = ${account} and (${ids} is null or d.id = any(${ids})) and (${webhook} is null or d.webhook_id = ${webhook})
      and (${status} is null or d.status = ${status}) and (${event} is null or d.event = ${event})
      and (${since} is null or d.created_at >= ${since}) and (${until} is null or d.created_at < ${until})`;
    const isReplaced = sql`exists (
      select from webhook_deliveries o where o.account_id = ${account} and o.event_id = d.event_id and o.source_id = d.source_id
        and coalesce(o.message_id, o.event_id) = coalesce(d.message_id, d.event_id) and case
          when (o.created_at, o.id) > (d.created_at, d.id) then o.status in ('pending', 'delivered')
          else o.id <> d.id and o.status = ${status} and o.created_at >= ${since} end)`;
    const isAgain = sql`exists (
      select from webhook_deliveries o where o.account_id = ${account} and o.event_id = d.event_id and o.source_id = d.source_id
        and coalesce(o.message_id, o.event_id) = coalesce(d.message_id, d.event_id)
        and (o.created_at, o.id) > (d.created_at, d.id) and o.created_at > ${lately})`;
    const some = (which: Sql, again: Sql, limit: Sql) => sql`
      select d.id, d.webhook_id, d.source_kind, d.source_id, d.run_id, d.url, d.secret, d.event_id, d.message_id, d.event, d.own_payload,
        d.status, d.created_at, octet_length(d.body) as size, ${isWanted} as is_wanted, ${again} as again
      from webhook_deliveries d left join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id
      where ${isMeant} and ${which} order by d.created_at, d.id limit ${limit}`;
    const stands = sql`${isWanted} and not ${isReplaced}`;
    return sql`
    with first as materialized (${some(sql`(${ids} is not null or (${stands} and not ${isAgain}))`, sql`false`, most)}),
      second as materialized (${some(sql`${ids} is null and ${stands} and ${isAgain}`, sql`true`, sql`(select ${most} - count(*) from first)`)})
    select s.unwanted, to_json(r) as delivery,
      case when r.fits then (select b.body from webhook_deliveries b where b.account_id = ${account} and b.id = r.id) end as body
    from (select case when ${ids} is null then (
      select count(*)::int from webhooks w join webhook_deliveries d on d.account_id = ${account} and d.webhook_id = w.id
      where w.account_id = ${account} and not ${isWanted} and ${isMeant}) else 0 end as unwanted) s
    left join (select row_number() over placed as nth, d.id, d.webhook_id as "webhookId", d.source_kind as "sourceKind",
      d.source_id as "sourceId", d.run_id as "runId", d.url, d.secret, d.event_id as "eventId", d.message_id as "messageId", d.event,
      d.own_payload as "ownPayload", d.status, d.is_wanted as "isWanted", d.again as "isAgain",
      ${bytes} is null or ${bytes} > sum(d.size) over placed - d.size as fits
    from (select * from first union all select * from second) d
    window placed as (order by d.again, d.created_at, d.id rows unbounded preceding)) r on true
    order by r.nth`;
  },
});

/**
 * Contract POST /webhooks/replay: sends deliveries again, each as a new one with the event's id and bytes. By their ids, at most 100,
 * or those of a window of time that stand as `status` says, the oldest 1,000 or 8 MB of them; where there are more, the same once more
 * goes on; what it sent within the hour, and failed again, comes last. What is still on its way, or whose webhook is inactive or deleted,
 * or whose workflow or automation is deleted, is skipped. 402 where the account is not paid for.
 */
export async function replayDeliveries(ctx: Context, input: ReplayInput): Promise<Replay> {
  const asked = await askedFor(ctx, input);
  checkTrial(ctx);
  // Of two at a time the second sees what the first sends again.
  if (!asked.ids) await ctx.lockName('replays');
  const limits = { lately: new Date(ctx.now().getTime() - aWhile), most: mostReplayed + 1, bytes: asked.ids ? null : mostBytes };
  const rows = await ctx.rows(toReplay, { ...asked, ...limits });
  const found = rows.flatMap(({ delivery, body }) => (delivery ? [{ ...delivery, body: body ?? '' }] : []));
  const chosen = found.slice(0, mostReplayed).filter(({ fits }) => fits);
  const again = chosen.filter(({ isWanted, status }) => isWanted && status !== 'pending');
  const deliveries = again.map((delivery) => sendAgain(ctx, delivery));
  if (deliveries.length > 0) ctx.wake('deliveries');
  return {
    replayed: deliveries.length,
    skipped: asked.ids ? asked.ids.length - deliveries.length : rows[0]!.unwanted,
    hasMore: found[chosen.length]?.isAgain === false,
    deliveries: await byIds(ctx, deliveries),
  };
}

/** Makes a delivery of the event and the bytes of another; answers its id. */
function sendAgain(ctx: Context, { id: replayOf, secret, ...same }: Asked & { body: string }): string {
  const id = newId(ctx);
  const own = secret && sealed(ctx.app, placeOfOwn(id), opened(ctx.app, placeOfOwn(replayOf), secret));
  const { webhookId, sourceKind, sourceId, runId, url, eventId, messageId, event, ownPayload, body } = same;
  const whole = { webhookId, sourceKind, sourceId, runId, url, eventId, messageId, event, ownPayload, body };
  ctx.insert('WebhookDelivery', { ...whole, id, replayOf, secret: own, dueAt: ctx.now() });
  return id;
}

/** What a replay asks for. Throws 400 where that is nothing, both, or no delivery could be of it. */
async function askedFor(ctx: Context, { deliveryIds, webhookId, status, event, since, until }: ReplayInput) {
  const isWindow = [webhookId, status, event, since, until].some((given) => given !== undefined && given !== null);
  check(deliveryIds || isWindow, () => invalidField('deliveryIds', 'required', 'or status and since are required'));
  check(!(deliveryIds && isWindow), () =>
    invalidField('deliveryIds', 'conflicting', 'cannot be combined with webhookId, status, event, since or until'),
  );
  if (deliveryIds) {
    check(deliveryIds.length > 0, () => invalidField('deliveryIds', 'too_few', 'must name at least one delivery'));
    const bad = deliveryIds.findIndex((id) => !isUuid(id));
    check(bad < 0, () => invalidField(`deliveryIds.${bad}`, 'invalid_format', 'must be a UUID'));
    return {
      ids: [...new Set(deliveryIds.map((id) => id.toLowerCase()))],
      webhook: null,
      status: null,
      event: null,
      since: null,
      until: null,
    };
  }
  const statuses = Object.keys(ReplayableStatus);
  check(status, () => invalidField('status', 'required', 'is required where no deliveryIds are named', statuses));
  check(since, () => invalidField('since', 'required', 'is required where no deliveryIds are named'));
  check(!until || until > since, () => invalidField('until', 'conflicting', 'must be after since'));
  const without: readonly string[] = Object.values(deliveredWithoutEvent);
  check(!event || isEventName(ctx, event) || without.includes(event), () =>
    invalidField('event', 'not_allowed', `names no event: ${event}`),
  );
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
