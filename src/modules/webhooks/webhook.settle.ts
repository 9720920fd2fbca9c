import { BatchQueue } from '../../kernel/base/batchQueue.js';
import type { App, Context } from '../../kernel/context/context.js';
import { instant, jsonText, listOf, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

/** What came of an attempt at a delivery. */
export interface Attempt {
  /** The delivery. */
  id: string;
  /** The attempt that was made: it settles the delivery only while no later one has begun. */
  attempt: number;
  begun: Date;
  ended: Date;
  /** When the next attempt is due; null after the last one, and after success. */
  next: Date | null;
  delivered: boolean;
  status: number | null;
  ms: number;
  error: string | null;
}

/** A webhook after an attempt: since when nothing but failures has come of it. */
export interface AfterAttempt {
  webhookId: string;
  failingSince: Date | null;
}

/** The most attempts that one statement settles. */
const together = 50;

// The ids are told besides, so that they are looked up: joined with what was told, all deliveries of the account would be read.
// Only while the attempt is ours. What was cancelled while it was under way, and has arrived all the same, says so. The webhooks are
// locked first and in one order: who switches one off locks it before its deliveries, and other processes settle as well.
const settle = statement({
  name: 'settleDeliveries',
  takes: { attempts: jsonText, ids: listOf(uuid) },
  row: { id: uuid, webhookId: uuid, failingSince: nullable(instant) },
  changes: true,
  text: ({ account, attempts, ids }) => sql`
    with g as (
      select * from jsonb_to_recordset(${attempts}::jsonb) as g(id uuid, attempt int, begun timestamptz, ended timestamptz,
        next timestamptz, delivered boolean, status int, ms int, error text)),
    held as (
      select w.id from webhooks w
      where w.account_id = ${account} and w.id = any(array(
        select d.webhook_id from webhook_deliveries d where d.account_id = ${account} and d.id = any(${ids})))
      order by w.id for no key update),
    settled as (
      update webhook_deliveries d set
        status = case when g.delivered then 'delivered' when d.status = 'cancelled' or g.next is not null then d.status else 'failed' end,
        due_at = case when d.status = 'pending' then g.next end, leased_until = null, attempt_count = d.attempt_count + 1,
        attempts = d.attempts || jsonb_build_object('at', to_char(g.begun at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'responseStatus', g.status, 'responseTimeMs', g.ms, 'error', g.error),
        first_attempt_at = coalesce(d.first_attempt_at, g.begun), last_attempt_at = g.begun,
        delivered_at = case when g.delivered then g.ended end,
        response_status = g.status, response_time_ms = g.ms, error = g.error, updated_at = g.ended
      from g
      where d.account_id = ${account} and d.id = any(${ids}) and d.id = g.id and d.attempt = g.attempt and d.status in ('pending', 'cancelled')
        and d.leased_until is not null and (select count(*) from held) >= 0
      returning d.id, d.webhook_id, g.begun, g.delivered)
    update webhooks w set last_fired_at = greatest(w.last_fired_at, s.begun),
      fail_count = case when s.delivered then 0 else w.fail_count + 1 end,
      failing_since = case when not s.delivered then coalesce(w.failing_since, s.begun) end
    from settled s where w.account_id = ${account} and w.id = s.webhook_id
    returning s.id, w.id as "webhookId", w.failing_since as "failingSince"`,
});

interface Waiting {
  ctx: Context;
  given: Attempt;
  /** Whose figures it moves: one attempt of each at a time, so that they move in order. */
  source: string;
  done(after: AfterAttempt | undefined): void;
  failed(error: unknown): void;
}

function party(waiting: Waiting[]): Waiting[] {
  const sources = new Set<string>();
  const going: Waiting[] = [];
  for (let i = 0; i < waiting.length && going.length < together; ) {
    const { source } = waiting[i]!;
    if (sources.has(source)) i++;
    else {
      sources.add(source);
      going.push(...waiting.splice(i, 1));
    }
  }
  return going;
}

async function serve(waiting: Waiting[]): Promise<void> {
  try {
    const all = waiting.map(({ given }) => given);
    const rows = await waiting[0]!.ctx.rows(settle, { attempts: JSON.stringify(all), ids: all.map(({ id }) => id) });
    const after = new Map(rows.map(({ id, ...webhook }) => [id, webhook]));
    for (const { given, done } of waiting) done(after.get(given.id));
  } catch (error) {
    for (const { failed } of waiting) failed(error);
  }
}

const queues = new WeakMap<App, BatchQueue<Waiting>>();

/**
 * Settles an attempt; those of one account that end while another statement is under way go together. Answers its webhook; undefined
 * where it has none, or the attempt is not ours any more.
 */
export function settleAttempt(ctx: Context, source: string, given: Attempt): Promise<AfterAttempt | undefined> {
  const queue = queues.get(ctx.app) ?? new BatchQueue(party, serve, 1);
  queues.set(ctx.app, queue);
  return new Promise((done, failed) => queue.join(ctx.caller.account.id, { ctx, given, source, done, failed }));
}
