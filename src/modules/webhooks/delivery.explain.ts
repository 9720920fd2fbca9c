import type { Context } from '../../kernel/context/context.js';
import { flag, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DeliveryExplanation, DeliveryReason } from './delivery.model.js';
import { getDelivery } from './delivery.service.js';
import { ladder, leastPause } from './webhook.due.js';
import type { DeliveryRow } from './webhook.table.js';

const now = statement({
  name: 'deliveryUnderWay',
  takes: { id: uuid },
  row: { isUnderWay: flag },
  planned: true,
  text: ({ account, id }) => sql`
    select coalesce(d.leased_until > now(), false) as "isUnderWay" from webhook_deliveries d
    where d.account_id = ${account} and d.id = ${id}`,
});

type Reason = keyof typeof DeliveryReason;

function reasonOf({ status, attemptCount, responseStatus }: DeliveryRow, isUnderWay: boolean): Reason {
  if (status === 'delivered' || status === 'cancelled') return status;
  if (status === 'failed') return responseStatus === 410 ? 'gone' : 'ladder_over';
  if (isUnderWay) return 'under_way';
  return attemptCount === 0 ? 'first_attempt' : 'retry';
}

const failure = ({ responseStatus, error }: DeliveryRow) =>
  responseStatus === null ? `failed with ${error}` : `was answered by ${responseStatus}`;

const times = (count: number) => (count === 1 ? 'one attempt' : `${count} attempts`);

const words: Record<Reason, (delivery: DeliveryRow) => string> = {
  delivered: ({ attemptCount, responseStatus }) =>
    `It arrived with ${times(attemptCount)}: the last one was answered by ${responseStatus}.`,
  cancelled: ({ sourceKind }) =>
    `It was cancelled: its ${sourceKind} was ${sourceKind === 'webhook' ? 'switched off or deleted' : 'deleted'} before it arrived.`,
  gone: () => 'It ended: 410 says that the address wants no more of it.',
  ladder_over: (delivery) =>
    `It failed: all of ${times(delivery.attemptCount)} did, and the last one ${failure(delivery)}. It can be replayed.`,
  under_way: ({ attemptCount }) => `Attempt ${attemptCount + 1} is under way.`,
  first_attempt: () => 'Its first attempt waits for its turn.',
  retry: (delivery) =>
    `Attempt ${delivery.attemptCount} ${failure(delivery)}; the next one is due at ${delivery.nextAttemptAt!.toISOString()}.`,
};

/** The attempts to come, should each of them fail. */
function planned({ status, attemptCount, firstAttemptAt, nextAttemptAt }: DeliveryRow) {
  if (status !== 'pending' || !nextAttemptAt) return [];
  const first = (firstAttemptAt ?? nextAttemptAt).getTime();
  const all = [{ attempt: attemptCount + 1, at: nextAttemptAt }];
  for (const offset of ladder.slice(attemptCount)) {
    const { attempt, at } = all.at(-1)!;
    all.push({ attempt: attempt + 1, at: new Date(Math.max(first + offset, at.getTime() + leastPause)) });
  }
  return all;
}

/** GET /webhooks/deliveries/{id}/explain: which event, how it stands and why, what was tried, and what is next and when. */
export async function explainDelivery(ctx: Context, id: string): Promise<DeliveryExplanation> {
  const delivery = await getDelivery(ctx, id);
  const [seen] = await ctx.rows(now, { id: delivery.id });
  const reason = reasonOf(delivery, seen?.isUnderWay ?? false);
  const { id: deliveryId, eventId, event, sourceKind, sourceId, runId, status, url, attempts } = delivery;
  const about = { deliveryId, eventId, event, sourceKind, sourceId, runId, status, url };
  return { ...about, reason, explanation: words[reason](delivery), attempts, planned: planned(delivery) };
}
