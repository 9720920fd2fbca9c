import type { Actor } from '../../kernel/base/principal.js';
import { ownPlaceIn } from '../../kernel/base/trace.js';
import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { flag, instant, integer, nullable, type RowOf, readerOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { isHopeless, switchOff } from './webhook.off.js';
import { headersOf, opened, outcomeOf, secretsOfWebhook, signingSecretOf } from './webhook.queue.js';
import { settleAttempt } from './webhook.settle.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Contract "Delivery rules", 3: when each retry is due, counted from the first attempt. */
export const ladder = [minute, 5 * minute, 15 * minute, hour, 6 * hour, 24 * hour, 72 * hour];

/** Of a later retry so much of its offset at most is added by chance, so that those of one fault do not all come at once. */
const jitter = 0.01;
/** Between two attempts lies this much at least, also where a server that was away comes back to several that are due. */
const leastPause = 30 * second;

/** Of one webhook, and of one account, so many deliveries are under way at a time in all processes; of all, in one process. */
const [perSource, perAccount, concurrency] = [4, 40, 100];

/** Whose doing it is that a webhook is switched off. */
export const webhookActor: Actor = { kind: 'system', id: null, name: 'Webhooks' };

const due = {
  ...{ messageId: uuid, event: text, body: text, sourceKind: word<'webhook' | 'workflow' | 'automation'>(), sourceId: uuid },
  ...{ attemptCount: integer, firstAttemptAt: nullable(instant), url: text, ownSecret: nullable(text) },
  ...{ traceparent: nullable(text), tracestate: nullable(text) },
  ...{ secret: nullable(text), previousSecret: nullable(text), previousSecretUntil: nullable(instant), isWanted: flag },
};
type Due = RowOf<typeof due>;

const readDue = readerOf<Due>(due);

/** What an attempt needs of a delivery, alias `d`. */
const dueDeliveries = `
  select coalesce(d.message_id, d.event_id) as "messageId", d.event, d.body, d.source_kind as "sourceKind", d.source_id as "sourceId",
    d.attempt_count as "attemptCount", d.first_attempt_at as "firstAttemptAt", coalesce(d.url, w.url) as url, d.secret as "ownSecret",
    w.secret, w.previous_secret as "previousSecret", w.previous_secret_until as "previousSecretUntil",
    (select e.traceparent from outbox_events e where e.account_id = d.account_id and e.id = d.event_id) as traceparent,
    (select e.tracestate from outbox_events e where e.account_id = d.account_id and e.id = d.event_id) as tracestate,
    d.webhook_id is null or (w.is_active and w.archived_at is null) as "isWanted"
  from webhook_deliveries d left join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id`;

/** The same of one that was taken, alias `t`, as one JSON value; null where it is younger than what the statement sees. */
const dueColumns = `(select row_to_json(r) from (${dueDeliveries} where d.id = t.id) r)`;

const dueDelivery = statement({
  name: 'dueDelivery',
  takes: { id: uuid },
  row: due,
  text: ({ account, id }) => sql`${rawSql(dueDeliveries)} where d.account_id = ${account} and d.id = ${id}`,
});

const cancel = statement({
  name: 'cancelDelivery',
  takes: { id: uuid, attempt: integer, now: instant },
  changes: true,
  text: ({ account, id, attempt, now }) => sql`
    update webhook_deliveries set status = 'cancelled', due_at = null, leased_until = null, updated_at = ${now}
    where account_id = ${account} and id = ${id} and attempt = ${attempt} and status = 'pending'`,
});

/** When the next attempt is due after so many; null after the last. */
export function nextAttempt(ctx: Context, first: Date, attempts: number): Date | null {
  const offset = ladder[attempts - 1];
  if (offset === undefined) return null;
  const chance = attempts === 1 ? 0 : jitter * offset * (ctx.app.clock.bytes(1)[0]! / 255);
  return new Date(Math.max(first.getTime() + offset + chance, ctx.now().getTime() + leastPause));
}

/** What signs a delivery: its own secret, that of its webhook with the one before for a while, or that of its source. */
function secretsOf(ctx: Context, id: string, delivery: Due): [string, ...string[]] {
  const { ownSecret, secret, previousSecret, previousSecretUntil, sourceKind, sourceId } = delivery;
  if (ownSecret) return [opened(ctx.app, `webhook_deliveries.secret ${id}`, ownSecret)];
  if (!secret) return [signingSecretOf(ctx, { kind: sourceKind as 'workflow', id: sourceId })];
  return secretsOfWebhook(ctx, sourceId, { secret, previousSecret, previousSecretUntil });
}

/** One attempt at a delivery: outside of any transaction; what came of it is kept while the attempt is ours. */
export async function deliver(ctx: Context, { id, attempt, more }: DueRow): Promise<void> {
  // The function that takes deliveries waits for its turn, and sees what came meanwhile; the statement around it does not.
  const delivery = more ? readDue(more) : (await ctx.rows(dueDelivery, { id }))[0];
  if (!delivery) return;
  const { url, messageId, event, body, attemptCount, firstAttemptAt, sourceId } = delivery;
  const begun = ctx.now();
  if (!delivery.isWanted) {
    await ctx.rows(cancel, { id, attempt, now: begun });
    return;
  }
  const traceparent = ownPlaceIn(delivery.traceparent ?? undefined, ctx.app.clock);
  const { tracestate } = delivery;
  const trace = traceparent ? { traceparent, ...(tracestate && { tracestate }) } : undefined;
  const headers = headersOf({ deliveryId: id, messageId, event, body, at: begun, secrets: secretsOf(ctx, id, delivery), trace });
  const outcome = outcomeOf(await ctx.app.egress.post({ url, headers, body }));
  const next = outcome.delivered || outcome.isFinal ? null : nextAttempt(ctx, firstAttemptAt ?? begun, attemptCount + 1);
  const { delivered, status, ms, error } = outcome;
  const after = await settleAttempt(ctx, sourceId, { id, attempt, begun, ended: ctx.now(), next, delivered, status, ms, error });
  if (after && isHopeless(after.failingSince, ctx.now())) await switchOff(ctx, after.webhookId);
}

/** What works on deliveries that have come due. */
export const deliveries = {
  table: 'webhook_deliveries',
  actor: webhookActor,
  concurrency,
  hasTurns: true,
  taking: `select t.*, ${dueColumns} as more from take_deliveries($1::timestamptz, $2::int, $3::int, ${perSource}, ${perAccount}) t`,
  work: deliver,
} as const;
