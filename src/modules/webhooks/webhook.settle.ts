import { BatchQueue } from '../../kernel/base/batchQueue.js';
import type { App, Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { leftNothing } from '../../kernel/database/errors.js';
import { instant, integer, json, jsonText, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { commitsUnawaited, rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { perAccount } from './webhook.taken.js';

/** What came of an attempt at a delivery. */
export interface Attempt {
  /** The delivery. */
  id: string;
  /** The attempt that was made: it settles the delivery only while no later one has begun. */
  attempt: number;
  begun: Date;
  ended: Date;
  /** Where it went: the webhook's address may be another one by now. */
  url: string;
  /** When the next attempt is due; null after the last one, and after success. */
  next: Date | null;
  /** Whether the address wants no more of it. That ends the delivery, unless its webhook has another address by then. */
  isFinal?: boolean;
  delivered: boolean;
  status: number | null;
  ms: number;
  error: string | null;
  /** Whether the next delivery of the same source is to be taken in its place, should it have arrived. */
  goesOn?: boolean;
}

/** What is known after an attempt: its webhook, where it has one, and the moment from which on all attempts at that have failed. */
export interface AfterAttempt {
  webhookId: string | null;
  failingSince: Date | null;
  /** What was taken in its place. */
  next?: DueRow;
}

/** The most attempts that one statement settles. */
const together = 50;

/** Calls of one webhook that were begun together end within a few milliseconds: fewer attempts than these wait so long for the others. */
const delay = { ms: 3, small: 8 };

const settled = {
  ...{ id: uuid, webhookId: nullable(uuid), failingSince: nullable(instant) },
  ...{ nextId: nullable(uuid), nextAttempt: nullable(integer), more: nullable(json()), unawaited: text },
};

/** When the delivery `d` goes again after the attempt `g`; null for never. */
const nextOne = sql`case when g."isFinal" is not true
  or exists (select from held h where h.id = d.webhook_id and h.url <> g.url) then g.next end`;

// g        What is told, an attempt a row, `nth` in the order in which they ended.
// held     The webhooks, locked before their deliveries and in one order: so does who switches one off, and so do other processes that
//          settle. `settled` waits for it by counting it.
// places   The attempts that arrived and leave their place to what is next of their source, while the lease is far from its end: nobody
//          else can have counted the place as free by the time this is committed. `freed` has them by source, once they are settled, and
//          `taken` what came: the function sees both the settling and what was committed while `held` waited.
// settled  The deliveries whose attempt is still ours (its number, pending or cancelled, leased), each with its attempt added. What was
//          cancelled meanwhile stays so, unless it has arrived. What the address wants no more of has failed, but where it is of a webhook
//          that has another one by now, it goes there next. The ids are told besides, so that they are looked up: joined with `g` alone,
//          all deliveries of the account would be read.
// own      Those at the address that their webhook has now: what came of another one is no news of it.
// fired    Each webhook of those once: when it was last tried, and the last attempt that arrived, if any.
// failed   How many attempts failed after that one (all of them where none arrived), and since when. Each webhook has a row, also with 0.
// moved    The webhooks' figures: they go on from what they were where nothing arrived, and begin anew where something did.
// It waits for no disk: should the database's machine fail, the last attempts are made again, as they are where a process dies before it
// settles.
// Answered is each delivery that was settled, with its webhook and what came in its place; of an attempt that was not ours any more
// nothing.
const settle = statement({
  name: 'settleDeliveries',
  takes: { attempts: jsonText, ids: listOf(uuid), now: instant, lease: integer },
  row: settled,
  changes: true,
  first: ({ account, attempts, ids, now, lease }) => sql`
    with g as (
      select * from jsonb_to_recordset(${attempts}::jsonb) as g(nth int, id uuid, attempt int, begun timestamptz, ended timestamptz,
        next timestamptz, "isFinal" boolean, delivered boolean, status int, ms int, error text, url text, "goesOn" boolean)),
    held as (
      select w.id, w.url from webhooks w
      where w.account_id = ${account} and w.id = any(array(
        select d.webhook_id from webhook_deliveries d where d.account_id = ${account} and d.id = any(${ids})))
      order by w.id for no key update),
    places as (
      select d.id, d.source_id, row_number() over (partition by d.source_id order by g.nth) as place
      from g join webhook_deliveries d on d.account_id = ${account} and d.id = any(${ids}) and d.id = g.id and d.attempt = g.attempt
      where g.delivered and g."goesOn" and d.leased_until > clock_timestamp() + make_interval(secs => ${lease} / 3.0)),
    settled as (
      update webhook_deliveries d set
        status = case when g.delivered then 'delivered'
          when d.status = 'cancelled' or ${nextOne} is not null then d.status else 'failed' end,
        due_at = case when d.status = 'pending' then ${nextOne} end, leased_until = null, attempt_count = d.attempt_count + 1,
        attempts = d.attempts || jsonb_build_object('at', to_char(g.begun at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'responseStatus', g.status, 'responseTimeMs', g.ms, 'error', g.error, 'url', g.url),
        first_attempt_at = coalesce(d.first_attempt_at, g.begun), last_attempt_at = g.begun,
        delivered_at = case when g.delivered then g.ended end,
        response_status = g.status, response_time_ms = g.ms, error = g.error, updated_at = g.ended
      from g
      where d.account_id = ${account} and d.id = any(${ids}) and d.id = g.id and d.attempt = g.attempt and d.status in ('pending', 'cancelled')
        and d.leased_until is not null and (select count(*) from held) >= 0
      returning d.id, d.webhook_id, g.nth, g.begun, g.delivered, g.url),
    freed as (
      select array_agg(p.source_id) as sources, array_agg(p.n) as free
      from (select source_id, count(*)::int as n from places group by source_id) p having (select count(*) from settled) >= 0),
    taken as materialized (
      select t.* from freed f
      cross join lateral follow_deliveries(${account}, f.sources, f.free, ${now}, ${lease}, ${rawSql(`${perAccount}`)}) t
      where f.sources is not null),
    own as (
      select s.* from settled s join held h on h.id = s.webhook_id and h.url = s.url),
    fired as (
      select webhook_id, max(begun) as at, max(nth) filter (where delivered) as nth from own group by webhook_id),
    failed as (
      select a.webhook_id, count(s.id)::int as n, min(s.begun) as since from fired a
      left join own s on s.webhook_id = a.webhook_id and not s.delivered and s.nth > coalesce(a.nth, -1) group by a.webhook_id),
    moved as (
      update webhooks w set last_fired_at = greatest(w.last_fired_at, a.at),
        fail_count = f.n + case when a.nth is null then w.fail_count else 0 end,
        failing_since = case when a.nth is null then coalesce(w.failing_since, f.since) else f.since end
      from fired a join failed f using (webhook_id) where w.account_id = ${account} and w.id = a.webhook_id
      returning w.id, w.failing_since)`,
  text: () => sql`
    select s.id, m.id as "webhookId", m.failing_since as "failingSince", t.id as "nextId", t.attempt as "nextAttempt",
      delivery_to_make(t.id) as more, ${commitsUnawaited} as unawaited
    from settled s left join moved m on m.id = s.webhook_id left join places p on p.id = s.id
    left join taken t on t."sourceId" = p.source_id and t.place = p.place`,
});

interface Waiting {
  ctx: Context;
  given: Attempt;
  done(after: AfterAttempt | undefined): void;
  failed(error: unknown): void;
}

function afterOf({ webhookId, failingSince, nextId, nextAttempt, more }: Omit<RowOf<typeof settled>, 'id' | 'unawaited'>): AfterAttempt {
  const next = nextId === null ? undefined : { id: nextId, attempt: nextAttempt!, more };
  return { webhookId, failingSince, ...(next && { next }) };
}

async function serve(waiting: Waiting[]): Promise<void> {
  try {
    // In the order in which they ended, so that the figures of a webhook move in it.
    const all = waiting.map(({ given }, nth) => ({ nth, ...given }));
    const { ctx } = waiting[0]!;
    const how = { ids: all.map(({ id }) => id), now: ctx.now(), lease: ctx.app.config.leaseSeconds };
    const rows = await ctx.rows(settle, { attempts: JSON.stringify(all), ...how });
    const after = new Map(rows.map(({ id, ...row }) => [id, afterOf(row)]));
    for (const { given, done } of waiting) done(after.get(given.id));
  } catch (error) {
    // One that cannot be kept must not have the others made again, whose addresses have taken them.
    if (waiting.length > 1 && leftNothing(error)) for (const one of waiting) await serve([one]);
    else for (const { failed } of waiting) failed(error);
  }
}

const queues = new WeakMap<App, BatchQueue<Waiting>>();

/**
 * Settles an attempt; those of one account that end while another statement is under way go together. Undefined where the attempt
 * is not ours any more.
 */
export function settleAttempt(ctx: Context, given: Attempt): Promise<AfterAttempt | undefined> {
  const queue = queues.get(ctx.app) ?? new BatchQueue((waiting: Waiting[]) => waiting.splice(0, together), serve, 1, delay);
  queues.set(ctx.app, queue);
  return new Promise((done, failed) => queue.join(ctx.caller.account.id, { ctx, given, done, failed }));
}
