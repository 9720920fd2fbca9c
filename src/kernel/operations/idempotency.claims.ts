import { minuteMs } from '../base/durations.js';
import type { Context } from '../context/context.js';
import { lockKey } from '../context/nameLocks.js';
import { instant, listOf, nullable, text } from '../database/kinds.js';
import { type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import { expiredRows } from '../database/sweep.js';

/**
 * A claim may be taken over after this by the database's clock, which all processes share: its process may have died. What runs longer,
 * such as the merge of a tag that very many contacts carry, is done by two at a time where it is sent again, and has to bear that: who
 * was overtaken can conclude nothing.
 */
export const abandoned = 2 * minuteMs;
/** SQL for whether a claim that was made at `since` may be taken over. */
export const isAbandoned = (since: Sql): Sql => sql`${since} < now() - make_interval(secs => ${abandoned / 1000}::int)`;

const own = { principal: text, key: text, requestHash: text };

// A claim that runs has for a response what was noted of its parts: then the same request alone may go on with it.
const isSame = (hashes: Sql) => sql`k.request_hash = any(${hashes})`;

/** Whether the claim `k` is nobody's any more. */
const isFree = (now: Sql, hashes: Sql) => sql`(k.expires_at <= ${now}
  or (k.state = 'running' and ${isAbandoned(sql`k.created_at`)} and (k.response is null or ${isSame(hashes)})))`;

/**
 * Claims a key by itself; answers the claim, or what is there of another, nothing where that is being written at this moment. It looks
 * first: an insert would wait for who is concluding.
 */
export const take = statement({
  name: 'claimIdempotencyKey',
  takes: { ...own, hashes: listOf(text), name: text, now: instant, expiresAt: instant },
  row: { mine: nullable(instant), requestHash: nullable(text), state: nullable(text), response: nullable(text), since: nullable(instant) },
  changes: true,
  text: ({ account, principal, key, requestHash, hashes, name, now, expiresAt }) => sql`
    with held as materialized (select pg_try_advisory_xact_lock(${lockKey(account, name)}) as locked),
      claimed as (
        insert into idempotency_keys as k (account_id, principal, key, request_hash, state, expires_at, created_at)
        select ${account}, ${principal}, ${key}, ${requestHash}, 'running', ${expiresAt}, now() from held where locked and not exists (
          select from idempotency_keys k
          where k.account_id = ${account} and k.principal = ${principal} and k.key = ${key} and not ${isFree(now, hashes)})
        on conflict (account_id, principal, key) do update set request_hash = excluded.request_hash, state = excluded.state,
          response = case when k.state = 'running' and k.expires_at > ${now} and ${isSame(hashes)} then k.response end,
          expires_at = excluded.expires_at, created_at = excluded.created_at
        where ${isFree(now, hashes)}
        returning k.created_at, k.response)
    select c.created_at as mine, k.request_hash as "requestHash", k.state, coalesce(c.response, k.response) #>> '{}' as response,
      k.created_at as since
    from held h left join claimed c on true
    left join idempotency_keys k on c.created_at is null and h.locked
      and k.account_id = ${account} and k.principal = ${principal} and k.key = ${key}`,
});

const isMine = ({ account, principal, key, requestHash, since }: Record<'account' | keyof typeof own | 'since', Sql>) => sql`
  k.account_id = ${account} and k.principal = ${principal} and k.key = ${key}
  and k.request_hash = ${requestHash} and k.state = 'running' and k.created_at = ${since}`;

/** Keeps the outcome of a claim with its effect; nothing where another request has taken it over. */
export const conclude = statement({
  name: 'keepIdempotentOutcome',
  takes: { ...own, since: instant, response: text, expiresAt: instant },
  row: { key: text },
  changes: true,
  text: ({ response, expiresAt, ...claim }) => sql`
    update idempotency_keys k set state = 'done', response = to_json(${response}), expires_at = ${expiresAt}
    where ${isMine(claim)} returning k.key`,
});

/** Keeps what is noted of a claim with a part of its effect; nothing where another request has taken it over. */
export const annotate = statement({
  name: 'noteOnIdempotencyKey',
  takes: { ...own, since: instant, notes: text },
  row: { key: text },
  changes: true,
  text: ({ notes, ...claim }) => sql`
    update idempotency_keys k set response = to_json(${notes}) where ${isMine(claim)} returning k.key`,
});

/** Lets a claim go: it waits for what is being kept of it. One with notes is left for the same request, which may go on with it at once. */
const letGo = statement({
  name: 'letIdempotencyKeyGo',
  takes: { ...own, since: instant },
  changes: true,
  text: (claim) => sql`update idempotency_keys k set created_at = to_timestamp(0) where ${isMine(claim)}`,
});

const forget = statement({
  name: 'forgetIdempotencyKey',
  takes: own,
  changes: true,
  text: ({ account, principal, key, requestHash }) => sql`
    delete from idempotency_keys k where k.account_id = ${account} and k.principal = ${principal} and k.key = ${key}
      and k.request_hash = ${requestHash} and k.state = 'running' and k.created_at = to_timestamp(0) and k.response is null`,
});

interface Claimed {
  principal: string;
  key: string;
  requestHash: string;
  since: Date;
}

/** Lets a claim go, so that what failed may be put right under its key. */
export async function release(ctx: Context, claim: Claimed): Promise<void> {
  await ctx.rows(letGo, claim);
  await ctx.rows(forget, claim);
}

/** Outcomes that are kept no longer. */
export const oldOutcomes = expiredRows('idempotency_keys', ['account_id', 'principal', 'key']);
