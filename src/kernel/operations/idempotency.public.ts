import type { ExecutionResult } from 'graphql';
import { clientKey } from '../access/clientKey.js';
import { seal, unseal } from '../base/crypto.js';
import { check } from '../base/errors.js';
import type { HeldClaim } from '../context/app.js';
import { Context } from '../context/context.js';
import { type Sql, sql } from '../database/sql.js';
import { slot, Template } from '../database/statement.js';
import { expiredRows } from '../database/sweep.js';
import { isAbandoned } from './idempotency.claims.js';
import { inProgress, keyOf, otherRequest, outcomeTtlMs, releaseOnFailure, requestHashes, storeWithRetry } from './idempotency.js';

/**
 * An `Idempotency-Key` where nobody is known to call: login, registration, forgotten passwords. The key is of the client's
 * address and the operation. Whoever gets the outcome has sent the same body, its password or token included.
 */

/** Where the outcome is kept. */
interface Place {
  client: string;
  operation: string;
  key: string;
}

/** One use of a key without credentials. */
export interface PublicClaim {
  place: Place;
  requestHash: string;
  /** Those by which the same request is known. */
  hashes: readonly string[];
}

/** An outcome as it is kept: what was answered, and the session that came with it. */
interface Outcome {
  data: Record<string, unknown>;
  session?: { token: string; expiresAt: string } | null;
}

/** The claim of a request to an operation that needs no credentials, if it carries a key: `fields` are its root fields. */
export function publicClaimOf(ctx: Context, { id, fields }: { id: string; fields: readonly string[] }, variables: object) {
  const key = keyOf(ctx);
  if (key === undefined) return undefined;
  const place = { client: clientKey(ctx.request.ip), operation: [...new Set(fields)].join(), key };
  const hashes = requestHashes(ctx, id, variables);
  return { place, requestHash: hashes[0], hashes };
}

const nameOf = ({ client, operation, key }: Place) => `public.${client}.${operation}.${key}`;

/** Whether the claim `o` is nobody's any more. */
const isFree = (now: Sql) => sql`(o.expires_at <= ${now} or (o.outcome is null and ${isAbandoned(sql`o.created_at`)}))`;

const textSlot = (name: string) => slot(name, 'text');
const at = sql`o.client = ${textSlot('client')} and o.operation = ${textSlot('operation')} and o.key = ${textSlot('key')}`;
const nowSlot = slot('now', 'timestamptz');

/** Claims a key by itself; answers the claim, or what is there of another. It looks first: an insert would wait for who is concluding. */
const claiming = new Template(sql`
  with claimed as (
    insert into public_outcomes as o (client, operation, key, request_hash, expires_at, created_at)
    select ${textSlot('client')}, ${textSlot('operation')}, ${textSlot('key')}, ${textSlot('requestHash')},
      ${slot('expiresAt', 'timestamptz')}, now()
    where not exists (select from public_outcomes o where ${at} and not ${isFree(nowSlot)})
    on conflict (client, operation, key) do update set request_hash = excluded.request_hash, outcome = null,
      expires_at = excluded.expires_at, created_at = excluded.created_at
    where ${isFree(nowSlot)}
    returning o.created_at)
  select json_build_object('mine', c.created_at, 'requestHash', o.request_hash, 'outcome', o.outcome)::text
  from (select 1) one left join claimed c on true left join public_outcomes o on c.created_at is null and ${at}`);

/** A claim that was made, or what is there of another. */
interface Claimed {
  mine: string | null;
  requestHash: string | null;
  outcome: string | null;
}

/** Makes the claim, or answers what is kept of the request that has it: 409 while it runs, or where it was another one. */
async function claimed(ctx: Context, { place, requestHash, hashes }: PublicClaim): Promise<{ since: Date } | { replay: ExecutionResult }> {
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + outcomeTtlMs);
  const known = JSON.parse(await ctx.text(claiming.with({ ...place, requestHash, now, expiresAt }))) as Claimed;
  if (known.mine) return { since: new Date(known.mine) };
  check(known.requestHash === null || hashes.includes(known.requestHash), otherRequest);
  check(known.outcome, inProgress);
  const { data, session } = JSON.parse(unseal(ctx.app, 'idempotency', nameOf(place), known.outcome)) as Outcome;
  ctx.request.replayed = true;
  if (session !== undefined) ctx.request.session = session && { ...session, expiresAt: new Date(session.expiresAt) };
  return { replay: { data } };
}

/**
 * Does it once under its claim: its outcome is kept with its effect, as `runClaimed` does. What failed is let go, so that it may be put
 * right; what a dead process left, after two minutes.
 */
export async function onceForAddress(ctx: Context, claim: PublicClaim, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const known = await claimed(ctx, claim);
  if ('replay' in known) return known.replay;
  const own = { where: { ...claim.place, requestHash: claim.requestHash, outcome: null, createdAt: known.since } };
  const before = ctx.request.session;
  const outcomeOf = ({ data }: ExecutionResult) => {
    const { session } = ctx.request;
    const outcome = JSON.stringify({ data, ...(session !== before && { session }) });
    return { outcome: seal(ctx.app, 'idempotency', nameOf(claim.place), outcome) };
  };
  const held: HeldClaim = {
    async keep(unit, result) {
      const inside = new Context(ctx.app, ctx.request, ctx.principal, unit);
      const { count } = await inside.global.publicOutcome.updateMany({ ...own, data: outcomeOf(result) });
      check(count === 1, inProgress);
      held.outcome = result;
    },
  };
  ctx.request.claim = held;
  const result = await releaseOnFailure(ctx, work, () => ctx.global.publicOutcome.deleteMany(own));
  if (result.errors?.length || held.outcome) return result;
  const data = outcomeOf(result);
  await storeWithRetry(ctx, () => ctx.global.publicOutcome.updateMany({ ...own, data }));
  return result;
}

/** Outcomes that are kept no longer. */
export const oldPublicOutcomes = expiredRows('public_outcomes', ['client', 'operation', 'key']);
