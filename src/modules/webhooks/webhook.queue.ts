import { createHmac } from 'node:crypto';
import { seal, signatures, Unreadable, unseal } from '../../kernel/base/crypto.js';
import { minuteMs } from '../../kernel/base/durations.js';
import { unprocessable } from '../../kernel/base/errors.js';
import { writeRarely } from '../../kernel/base/rareLines.js';
import type { App, Context } from '../../kernel/context/context.js';
import { newId } from '../../kernel/context/freeIds.js';
import type { SealedColumn } from '../../kernel/context/registry.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Answer } from '../../kernel/egress/egress.js';
import type { SourceKind } from './delivery.model.js';

/** What an address gets: the event, with the record as it was then. */
export interface Payload {
  /** The event's id. */
  id: string;
  event: string;
  createdAt: Date;
  data: object;
  changes?: object | null;
}

/** The names under which deliveries go that no event led to. */
export const deliveredWithoutEvent = {
  /** The runner of an ext automation, called for a contact that somebody enrolled. */
  enrolled: 'automation.enrolled',
  /** The same, called by its schedule. */
  scheduled: 'automation.scheduled',
  /** An action of a run of an automation that started in one of these ways; a run of a workflow always has an event. */
  action: 'automation.action',
} as const;

/** What is sent somewhere that is no registered webhook. */
export interface Queued {
  /** https and public, as `checkUrlNow` has it; another is never called, and its delivery fails. */
  url: string;
  /** The event's name, or one of `deliveredWithoutEvent`, which goes along as a header. */
  event: string;
  /** The id of the event that it is about; the delivery's own where it is about none. */
  eventId?: string;
  /** The bytes that are signed and sent: `bodyOf` a payload, or any JSON. */
  body: string;
  /** Whether `body` is no payload of `bodyOf`, but JSON whose members are called as somebody liked. */
  isOwn?: boolean;
  /** What asks for it. At most four deliveries of one workflow or automation are under way at a time. */
  source: { kind: Exclude<SourceKind, 'webhook'>; id: string; runId?: string };
  /** What is unique to the doing of the action that asks for it: it is kept once. */
  key?: string;
  /** What signs it, `whsec_…`; by default `signingSecretOf` the source. */
  secret?: string;
}

/**
 * Has something sent, signed, on the ladder of webhooks, without a registration: an action of a workflow or an automation. It is
 * part of this unit of work: kept, and sent, with what asks for it or not at all. Answers the id of the delivery, which receivers get
 * as webhook-id on every attempt and replay.
 */
export function queueDelivery(ctx: Context, { source, secret, key, ...given }: Queued): string {
  const id = newId(ctx);
  ctx.insert('WebhookDelivery', {
    ...{ id, url: given.url, event: given.event, eventId: given.eventId ?? id, messageId: id, body: given.body, dueAt: ctx.now() },
    ...{ sourceKind: source.kind, sourceId: source.id, runId: source.runId ?? null, actionKey: key ?? null },
    ownPayload: given.isOwn ?? false,
    secret: secret === undefined ? null : sealed(ctx.app, placeOfOwn(id), secret),
  });
  ctx.wake('deliveries');
  return id;
}

const cancelAll = statement({
  name: 'cancelDeliveries',
  takes: { source: uuid, now: instant },
  changes: true,
  text: ({ account, source, now }) => sql`
    update webhook_deliveries set status = 'cancelled', due_at = null, updated_at = ${now}
    where account_id = ${account} and source_id = ${source} and due_at is not null and status = 'pending'`,
});

/**
 * Cancels what waits to be sent of a webhook, a workflow or an automation; an attempt that is under way ends. Of what has runs it comes
 * after these are held: what one of them has queued meanwhile is then seen.
 */
export const cancelDeliveries = (ctx: Context, source: string) => ctx.rows(cancelAll, { source, now: ctx.now() });

/** Throws 422, naming the field, where it shows by itself that an address may not be called: not https, a user name in it, private. */
export const checkUrl = (ctx: Context, field: string, url: string): void => refuseUrl(field, ctx.app.egress.urlFault(url));

/**
 * Throws 422, naming the field, unless an address may be called: https, with no user name in it, and public by the addresses to which
 * its name leads now. It asks the servers of names: never inside a transaction.
 */
export const checkUrlNow = async (ctx: Context, field: string, url: string): Promise<void> =>
  refuseUrl(field, await ctx.app.egress.urlFaultNow(url));

function refuseUrl(field: string, fault: string | undefined): void {
  if (fault) throw unprocessable(field, 'not_allowed', fault);
}

/** The bytes of a payload, as webhooks send them. */
export const bodyOf = (ctx: Context, { id, event, createdAt, data, changes }: Payload): string =>
  JSON.stringify({ id, event, createdAt, workspaceId: ctx.caller.account.id, data, ...(changes && { changes }) });

const prefix = 'whsec_';

/** A secret of 32 random bytes. */
export const newSecret = ({ clock }: App): string => prefix + clock.bytes(32).toString('base64');

interface Source {
  kind: SourceKind;
  id: string;
}

/** What signs the deliveries of a source that have no secret of their own: one for each key of the server, the present one first. */
export function signingSecretsOf(ctx: Context, { kind, id }: Source): [string, ...string[]] {
  const given = signatures(ctx.app, 'webhook signing', `${ctx.caller.account.id} ${kind} ${id}`);
  return given.map((one) => prefix + Buffer.from(one, 'base64url').toString('base64')) as [string, ...string[]];
}

/**
 * What signs the deliveries of a workflow or an automation that have no secret of their own: the same one for as long as the server has its
 * key.
 */
export const signingSecretOf = (ctx: Context, source: Source): string => signingSecretsOf(ctx, source)[0];

const purpose = 'webhooks';
export const sealed = (app: App, place: string, secret: string): string => seal(app, purpose, place, secret);
export const opened = (app: App, place: string, text: string): string => unseal(app, purpose, place, text);

/** What is signed on an attempt. */
interface Signed {
  deliveryId: string;
  /** The id of the message, equal on every attempt and replay: the event's id, or the message's own where an action sends it. */
  messageId: string;
  event: string;
  body: string;
  at: Date;
  /** The secret, and where it was replaced a short time ago the one before. */
  secrets: readonly [string, ...string[]];
  /** Our place in the trace of the request behind the event, and what the systems before us say of it. */
  trace?: { traceparent: string; tracestate?: string };
}

/** The secrets of a webhook, sealed: the one before signs as well, until then. */
export interface Secrets {
  secret: string;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
}

/** Reads sealed secrets; where the server no longer has the key, that is told, and this answers undefined. */
function readOrTell<Read>(read: () => Read, tell: (error: Unreadable) => void): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    tell(error);
    return undefined;
  }
}

/** Reads sealed secrets; where the server no longer has the key, the log says so, and whose they are, and this answers undefined. */
export const readOrLog = <Read>(ctx: Context, read: () => Read, told: string, whose: object): Read | undefined =>
  readOrTell(read, (error) => ctx.app.log.error({ err: error, ...whose }, told));

/** What comes of an attempt that cannot be signed: it may go later, once the key is there again. */
export const cannotBeSigned = { delivered: false, isFinal: false, status: null, ms: 0, error: 'secret_unreadable' } as const;

/**
 * What signs what is sent to a registered webhook. Throws `Unreadable` where the present secret cannot be read. A former one
 * that cannot be read is left out: it may be why there is another now.
 */
export function secretsOfWebhook(
  ctx: Context,
  id: string,
  { secret, previousSecret, previousSecretUntil }: Secrets,
): [string, ...string[]] {
  const place = placeOf(id);
  const current = opened(ctx.app, place, secret);
  const isBoth = previousSecret && previousSecretUntil && previousSecretUntil > ctx.now();
  if (!isBoth) return [current];
  const read = () => opened(ctx.app, place, previousSecret);
  const { log } = ctx.app;
  // For a day each delivery finds it so.
  const previous = readOrTell(read, (error) =>
    writeRarely(log, { kind: `former secret of webhook ${id}`, pauseMs: minuteMs }, (leftOut) =>
      log.error({ err: error, webhook: id, ...leftOut }, 'the former secret of a webhook cannot be read'),
    ),
  );
  return previous === undefined ? [current] : [current, previous];
}

/** The place of the secret of a webhook, with which it is sealed. */
export const placeOf = (id: string): string => `webhooks.secret ${id}`;

/** The place with which a delivery's own secret is sealed. */
export const placeOfOwn = (id: string): string => `webhook_deliveries.secret ${id}`;

/** Where secrets of webhooks are kept. */
export const seals: readonly SealedColumn[] = [
  { table: 'webhooks', column: 'secret', purpose, place: placeOf },
  { table: 'webhooks', column: 'previous_secret', purpose, place: placeOf },
  { table: 'webhook_deliveries', column: 'secret', purpose, place: placeOfOwn },
];

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);

/**
 * The headers of an attempt. Contract "Delivery rules", 2: X-Service-Signature is keyed with the whole text of the secret;
 * webhook-signature, as Standard Webhooks has it, with the bytes that its base64 stands for.
 */
export function headersOf({ deliveryId, messageId, event, body, at, secrets, trace }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64');
    return `v1,${hmac(key, `${messageId}.${timestamp}.${body}`).digest('base64')}`;
  });
  const [current, previous] = secrets.map((secret) => hmac(secret, body).digest('hex'));
  return {
    'content-type': 'application/json',
    'user-agent': 'CRM-Webhooks/1.0',
    'x-service-signature': current!,
    ...(previous && { 'x-service-signature-previous': previous }),
    'x-service-delivery': deliveryId,
    'x-service-event': event,
    'x-service-timestamp': timestamp,
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
    ...trace,
  };
}

/** What an answer means: only 2xx is success, and the address that answers 410 gets no more of the delivery. */
export function outcomeOf(answer: Answer) {
  if ('fault' in answer) return { delivered: false, isFinal: false, status: null, ms: answer.ms, error: answer.fault };
  const { status, ms } = answer;
  const delivered = status >= 200 && status < 300;
  return { delivered, isFinal: status === 410, status, ms, error: delivered ? null : 'response_status' };
}
