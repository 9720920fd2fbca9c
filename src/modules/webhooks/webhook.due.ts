import { dayMs, hourMs, minuteMs, secondMs } from '../../kernel/base/durations.js';
import type { Actor } from '../../kernel/base/principal.js';
import { ownPlaceIn } from '../../kernel/base/trace.js';
import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { instant, integer, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { isHopeless, switchOff, wasTriedLately } from './webhook.disable.js';
import {
  cannotBeSigned,
  headersOf,
  opened,
  outcomeOf,
  placeOfOwn,
  readOrLog,
  secretsOfWebhook,
  signingSecretsOf,
} from './webhook.queue.js';
import { settleAttempt } from './webhook.settle.js';
import { type Due, perAccount, readDue } from './webhook.taken.js';

/** Contract "Delivery rules", 3: when each retry is due, counted from the first attempt. */
export const ladder = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs, dayMs, 3 * dayMs];

/** Of a later retry so much of its offset at most is added by chance, so that those of one fault do not all come at once. */
const jitter = 0.01;
/** Between two attempts lies this much at least, also where a server that was away comes back to several that are due. */
export const leastPause = 30 * secondMs;

/** Of one webhook so many deliveries are under way at a time in all processes; of all, in one process. */
const [perSource, concurrency] = [4, 100];

/** Whose doing it is that a webhook is switched off. */
export const webhookActor: Actor = { kind: 'system', id: null, name: 'Webhooks' };

const cancel = statement({
  name: 'cancelDelivery',
  takes: { id: uuid, attempt: integer, now: instant },
  changes: true,
  text: ({ account, id, attempt, now }) => sql`
    update webhook_deliveries set status = 'cancelled', due_at = null, leased_until = null, updated_at = ${now}
    where account_id = ${account} and id = ${id} and attempt = ${attempt} and status = 'pending'`,
});

/** When the next attempt is due after so many; null after the last. */
function nextAttempt(ctx: Context, first: Date, attempts: number): Date | null {
  const offset = ladder[attempts - 1];
  if (offset === undefined) return null;
  const chance = attempts === 1 ? 0 : jitter * offset * (ctx.app.clock.bytes(1)[0]! / 255);
  return new Date(Math.max(first.getTime() + offset + chance, ctx.now().getTime() + leastPause));
}

/** What signs a delivery: its own secret, that of its webhook with the one before for a while, or that of its source. */
function secretsOf(ctx: Context, id: string, delivery: Due): [string, ...string[]] {
  const { ownSecret, secret, previousSecret, previousSecretUntil, sourceKind, sourceId } = delivery;
  if (ownSecret) return [opened(ctx.app, placeOfOwn(id), ownSecret)];
  if (!secret) return signingSecretsOf(ctx, { kind: sourceKind, id: sourceId });
  return secretsOfWebhook(ctx, sourceId, { secret, previousSecret, previousSecretUntil });
}

/** Calls once. A delivery that cannot be signed has failed, and may go later, once the key is there again. */
async function call(ctx: Context, id: string, delivery: Due, at: Date) {
  const { url, messageId, event, body, tracestate } = delivery;
  const secrets = readOrLog(ctx, () => secretsOf(ctx, id, delivery), 'a delivery cannot be signed', { delivery: id });
  if (!secrets) return cannotBeSigned;
  const traceparent = ownPlaceIn(delivery.traceparent ?? undefined, ctx.app.clock);
  const trace = traceparent ? { traceparent, ...(tracestate && { tracestate }) } : undefined;
  const headers = headersOf({ deliveryId: id, messageId, event, body, at, secrets, trace });
  return outcomeOf(await ctx.app.egress.post({ url, headers, body }));
}

/**
 * One attempt at a delivery: outside of any transaction; what came of it is kept while the attempt is ours. Its place may go on to the next
 * delivery of its source, which is taken with the settling.
 */
async function deliver(ctx: Context, { id, attempt, more, place }: DueRow): Promise<void> {
  if (!more) return;
  const delivery = readDue(more);
  const { attemptCount, firstAttemptAt, url } = delivery;
  const begun = ctx.now();
  if (!delivery.isWanted) {
    await ctx.rows(cancel, { id, attempt, now: begun });
    return;
  }
  const outcome = await call(ctx, id, delivery, begun);
  const { delivered, isFinal } = outcome;
  const next = delivered ? null : nextAttempt(ctx, firstAttemptAt ?? begun, attemptCount + 1);
  const goesOn = place?.mayGoOn() ?? false;
  const after = await settleAttempt(ctx, { id, attempt, begun, ended: ctx.now(), url, next, ...outcome, goesOn });
  if (after?.next) place?.goOn(after.next);
  const webhook = !delivered && (isFinal || next === null) && isHopeless(after?.failingSince, ctx.now()) ? after?.webhookId : null;
  if (!webhook) return;
  // One that 410 ended may be the first after a quiet time, which says little of the webhook.
  if (!isFinal || (await wasTriedLately(ctx, webhook, begun))) await tryToSwitchOff(ctx, webhook);
}

/** The delivery is settled whatever comes of this: where it fails, the next delivery that fails for good finds the webhook as hopeless. */
async function tryToSwitchOff(ctx: Context, id: string): Promise<void> {
  try {
    await switchOff(ctx, id);
  } catch (error) {
    ctx.app.log.error({ err: error, webhook: id }, 'a webhook that only fails could not be switched off');
  }
}

/** What works on deliveries that have come due. */
export const deliveries = {
  table: 'webhook_deliveries',
  actor: webhookActor,
  concurrency,
  sources: 'source_id',
  hasTurns: true,
  // Receivers get a delivery at least once.
  mayForgetTaking: true,
  taking: `select t.*, delivery_to_make(t.id) as more from take_deliveries($1::timestamptz, $2::int, $3::int, ${perSource}, ${perAccount}) t`,
  work: deliver,
} as const;
