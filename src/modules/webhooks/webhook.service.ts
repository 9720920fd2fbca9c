import { dayMs } from '../../kernel/base/durations.js';
import { AppError, check, orNull, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { newId } from '../../kernel/context/freeIds.js';
import { emptyRow, instant, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { mostUnplaced } from '../../kernel/events/readers.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { archived } from '../../kernel/model/removal.js';
import { activeLimit } from '../../kernel/operations/activeLimit.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { beginsBehind, feedEnd } from '../../kernel/operations/feedEnd.js';
import { effectIdOf } from '../../kernel/operations/idempotency.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateWebhookInput, UpdateWebhookInput, WebhookList, WebhookTest, WebhookWithSecret } from './webhook.model.js';
import {
  bodyOf,
  cancelDeliveries,
  cannotBeSigned,
  checkUrl,
  checkUrlNow,
  headersOf,
  newSecret,
  outcomeOf,
  placeOf,
  readOrLog,
  sealed,
  secretsOfWebhook,
} from './webhook.queue.js';
import { type EventsAfter, eventsAfterChange } from './webhook.subscription.js';
import { type WebhookRow, webhookTable } from './webhook.table.js';

/** Contract GET /webhooks/manage: newest first. */
export const listWebhooks = (ctx: Context, args: WebhookList) => listRows<WebhookRow>(ctx, webhookTable, args);

/** One webhook, or null. */
export const findWebhook = (ctx: Context, id: string) => findRow<WebhookRow>(ctx, webhookTable, id);

/** Contract GET /webhooks/manage/{id}: one webhook, or 404. */
export const getWebhook = (ctx: Context, id: string) => getRow<WebhookRow>(ctx, webhookTable, id);

/** A webhook, and what it is sent. */
const webhooksToChange = webhookTable.reading(
  { ...webhookTable.shape, eventsAfter: json<EventsAfter>(), activeUnplaced: listOf(uuid) },
  sql`${webhookTable.columns}, t.events_after as "eventsAfter", t.active_unplaced as "activeUnplaced"`,
);
type WebhookToChange = RowOf<typeof webhooksToChange.shape>;

const webhookRows = rowsToChange(webhooksToChange);

/** A webhook that is to be changed; null where it is gone. */
export const findWebhookForChange = (ctx: Context, id: string) => orNull(ctx.forChange(webhookRows, id));

/** What a test is sent as: no event of a record. */
const ping = 'test.ping';

/** Whether something is sent under a name. */
export const isEventName = ({ app }: Context, name: string): boolean => app.registry.events.has(name) || name === ping;

/** The events as they are kept, each once. Throws 422 naming one that there is not. */
function checkedEvents(ctx: Context, events: readonly string[]): string[] {
  check(events.length > 0, () => unprocessable('events', 'too_few', 'must name at least one event, or * for all'));
  const nth = events.findIndex((name) => name !== '*' && !isEventName(ctx, name));
  check(nth < 0, () => unprocessable(`events.${nth}`, 'not_allowed', `names no event: ${events[nth]}`));
  return [...new Set(events)];
}

const checkActive = activeLimit('webhooks', { field: 'isActive', active: sql`is_active and archived_at is null` });

/**
 * Contract POST /webhooks/manage: 422 for whatever is wrong with a field, then 402 after a trial; where the name of the address leads is
 * asked after that. The secret is in this reply and nowhere else.
 */
export async function createWebhook(ctx: Context, input: CreateWebhookInput): Promise<WebhookWithSecret> {
  const events = checkedEvents(ctx, input.events);
  checkUrl(ctx, 'url', input.url);
  checkTrial(ctx);
  await checkUrlNow(ctx, 'url', input.url);
  return inFinalTransaction(ctx, async (inside) => {
    const id = input.id ?? newId(inside);
    const secret = newSecret(ctx.app);
    const isActive = input.isActive ?? true;
    if (isActive) await checkActive(inside);
    const own = { ...defined(input), isActive, id, events, failCount: 0, createdBy: ctx.caller.userId };
    const {
      secret: _secret,
      activeAfter: _after,
      activeUnplaced: _unplaced,
      ...webhook
    } = inside.insert('Webhook', {
      ...emptyRow(webhookTable.shape),
      ...own,
      ...(await beginsBehind(inside, events, 'active')),
      secret: sealed(ctx.app, placeOf(id), secret),
    });
    await inside.follow('webhooks');
    await inside.emit({ name: 'webhook.created', record: webhook });
    return { webhook, secret };
  });
}

/** Contract PATCH /webhooks/manage/{id}: what waits goes to the new address; where it becomes inactive, it is cancelled. */
export async function updateWebhook(ctx: Context, id: string, input: UpdateWebhookInput): Promise<WebhookRow> {
  await getWebhook(ctx, id);
  const events = input.events && checkedEvents(ctx, input.events);
  if (input.url) await checkUrlNow(ctx, 'url', input.url);
  return inFinalTransaction(ctx, async (inside) => {
    inside.lockRows();
    const before = await inside.forChange(webhookRows, id);
    const given = { ...defined(input), ...(events && { events }) };
    return applyChange(inside, before, given);
  });
}

/**
 * Changes a webhook that is locked, and tells of it. Where it is active again, or has another address, the time of its failures begins
 * anew. One that is active again is sent what happens from here on; of events that are added, so is any.
 */
export async function applyChange(ctx: Context, before: WebhookToChange, given: Partial<WebhookRow>): Promise<WebhookRow> {
  const isBack = given.isActive && !before.isActive;
  const whole = { ...given, ...(isBack && { disabledAt: null, failingSince: null }) };
  const changes = changesBetween(before, { ...before, ...whole }, Object.keys(whole));
  if (isNothing(changes)) return before;
  if (isBack) await checkActive(ctx);
  const saved: WebhookRow = ctx.update('Webhook', before, {
    ...whole,
    // What came of another address is no news of the webhook.
    ...(changes.url && { failingSince: null, failCount: 0 }),
    ...(await placesAfterChange(ctx, before, changes.events && given.events, isBack)),
  });
  if (given.isActive === false) await cancelDeliveries(ctx, before.id);
  await ctx.emit({ name: 'webhook.updated', record: saved, changes });
  return saved;
}

/** From where on a webhook is sent what, after a change. */
async function placesAfterChange(
  ctx: Context,
  before: WebhookToChange,
  events: readonly string[] | undefined,
  isBack: boolean | undefined,
) {
  if (isBack) return { ...(await beginsBehind(ctx, events ?? before.events, 'active')), eventsAfter: {} };
  if (!events || before.events.includes('*')) return events && { eventsAfter: eventsAfterChange(before, events, '0') };
  const { after, unplaced } = await feedEnd(ctx, events, before.events);
  // What it wanted all along is from before for good, too.
  const activeUnplaced = [...unplaced, ...before.activeUnplaced].slice(0, mostUnplaced);
  return { activeUnplaced, eventsAfter: eventsAfterChange(before, events, after) };
}

/** Contract DELETE /webhooks/manage/{id}: archived; what waits to be sent is cancelled, what was sent can still be looked at. */
export async function archiveWebhook(ctx: Context, id: string) {
  ctx.lockRows();
  const before = await ctx.forChange(webhookRows, id);
  ctx.update('Webhook', before, { archivedAt: ctx.now(), isActive: false });
  await cancelDeliveries(ctx, before.id);
  const record = { ...before, isActive: false };
  const changes = changesBetween(before, record, ['isActive']);
  await ctx.emit({ name: 'webhook.deleted', record, changes, also: { 'webhook.archived': ['isActive'] } });
  return { ...archived('Webhook', before.id), deleted: true };
}

const secretsOf = statement({
  name: 'secretsOfWebhook',
  takes: { id: uuid },
  row: { secret: text, previousSecret: nullable(text), previousSecretUntil: nullable(instant) },
  planned: true,
  text: ({ account, id }) => sql`
    select w.secret, w.previous_secret as "previousSecret", w.previous_secret_until as "previousSecretUntil"
    from webhooks w where w.account_id = ${account} and w.id = ${id}`,
});

const bothSignMs = dayMs;

/** POST /webhooks/manage/{id}/rotate-secret: a new secret, in this reply alone; for a day the one before signs as well. */
export async function rotateSecret(ctx: Context, id: string): Promise<WebhookWithSecret> {
  ctx.lockRows();
  const before = await ctx.forChange(webhookRows, id);
  const [kept] = await ctx.rows(secretsOf, { id: before.id });
  const secret = newSecret(ctx.app);
  const previousSecretUntil = new Date(ctx.now().getTime() + bothSignMs);
  const given = { previousSecretUntil, previousSecret: kept!.secret, secret: sealed(ctx.app, placeOf(before.id), secret) };
  const { secret: _secret, previousSecret: _previous, ...webhook } = ctx.update('Webhook', before, given);
  const changes = changesBetween(before, webhook, ['previousSecretUntil']);
  await ctx.emit({ name: 'webhook.updated', record: webhook, changes });
  return { webhook, secret };
}

/**
 * Contract POST /webhooks/manage/{id}/test: one call, now, of which nothing is kept. 402 where the account is not paid for; 502 where
 * the answer is no 2xx, or the secret cannot be read.
 */
export async function testWebhook(ctx: Context, id: string): Promise<WebhookTest> {
  const webhook = await getWebhook(ctx, id);
  checkTrial(ctx);
  const [kept] = await ctx.rows(secretsOf, { id: webhook.id });
  // Whoever is told it again, since our answer was lost, can tell that it is the same.
  const [eventId, at] = [effectIdOf(ctx, ping, { id }), ctx.now()];
  const body = bodyOf(ctx, { id: eventId, event: ping, createdAt: at, data: { webhookId: webhook.id, message: 'This is a test.' } });
  const secrets = readOrLog(ctx, () => secretsOfWebhook(ctx, webhook.id, kept!), 'a test cannot be signed', { webhook: webhook.id });
  const attempt = async (signedBy: [string, ...string[]]) => {
    const headers = headersOf({ deliveryId: eventId, messageId: eventId, event: ping, body, at, secrets: signedBy });
    return outcomeOf(await ctx.app.egress.post({ url: webhook.url, headers, body }));
  };
  const { delivered, status, ms, error } = secrets ? await attempt(secrets) : cannotBeSigned;
  const outcome = { success: delivered, statusCode: status, responseTime: ms, event: ping };
  const why = status === null ? error : `the answer was ${status}`;
  check(delivered, () => new AppError('vendor_unavailable', `The test was not delivered: ${why}`, { more: outcome }));
  return outcome as WebhookTest;
}
