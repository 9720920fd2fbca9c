import type { ExecutionResult } from 'graphql';
import { seal, sign, unseal } from '../base/crypto.js';
import { AppError, check, invalidField } from '../base/errors.js';
import type { Context, Principal } from '../context/context.js';
import { flag, text } from '../database/kinds.js';
import { sql } from '../database/sql.js';
import { statement } from '../database/statement.js';

/** How long an outcome is kept. */
export const kept = 24 * 60 * 60 * 1000;
/** A claim whose process died may be taken over after this; no operation runs so long. */
export const abandoned = 2 * 60 * 1000;

/** One use of an `Idempotency-Key`: whose, and for which request. */
export interface Claim {
  principal: string;
  key: string;
  requestHash: string;
}

/** The key that a request carries. Throws 400 unless it has 8 to 200 characters. */
export function keyOf({ request: { idempotencyKey: key } }: Context): string | undefined {
  check(key === undefined || (key.length >= 8 && key.length <= 200), () =>
    invalidField('Idempotency-Key', key!.length < 8 ? 'too_short' : 'too_long', 'must have 8 to 200 characters'),
  );
  return key;
}

/** What tells one request under a key from another. It is kept, and a body may hold a password: nobody can try them without our key. */
export const requestHash = ({ app }: Context, operationId: string, variables: object): string =>
  sign(app, 'idempotency', `${operationId} ${JSON.stringify(variables)}`);

/** Whose keys those of a caller are. */
const ownerOf = ({ kind, id, userId }: Principal) => (kind === 'key' ? `key:${id}` : `user:${userId}`);

/** The claim of a request, if it carries a key and somebody is calling. */
export function claimOf(ctx: Context, operationId: string, variables: object): Claim | undefined {
  const key = keyOf(ctx);
  if (key === undefined || !ctx.principal) return undefined;
  return { principal: ownerOf(ctx.principal), key, requestHash: requestHash(ctx, operationId, variables) };
}

/**
 * What is unique to the effect of a request under a key: an operation that commits before its outcome is kept finds by it what it
 * did, where its process died or the database went in between. Undefined where there is no key.
 */
export function effectKeyOf(ctx: Context, effect: string, input: object): string | undefined {
  const key = keyOf(ctx);
  return key === undefined ? undefined : requestHash(ctx, `${effect} ${ownerOf(ctx.caller)} ${key}`, input);
}

export const inProgress = () => new AppError('send_in_progress', 'A request with this Idempotency-Key is still running');
export const otherRequest = () => new AppError('operation_key_conflict', 'This Idempotency-Key was used for another request');

// A unique key alone cannot answer "in progress": the second insert would wait for the first.
const tryLock = statement({
  name: 'tryIdempotencyKey',
  takes: { name: text },
  row: { locked: flag },
  locks: true,
  text: ({ account, name }) => sql`select pg_try_advisory_xact_lock(hashtextextended(${account}::text || ${name}, 0)) as locked`,
});

const place = (claim: Claim) => `${claim.principal}.${claim.key}`;

async function find(ctx: Context, { principal, key }: Claim) {
  const row = await ctx.db.idempotencyKey.findFirst({ where: { principal, key } });
  return row && row.expiresAt > ctx.now() ? row : null;
}

/** Holds the key until the transaction ends. The stored outcome where there is one; 409 while the first request runs. */
export async function replayOf(inside: Context, claim: Claim): Promise<ExecutionResult | undefined> {
  const [lock] = await inside.rows(tryLock, { name: place(claim) });
  check(lock?.locked, inProgress);
  const row = await find(inside, claim);
  if (!row) return undefined;
  check(row.requestHash === claim.requestHash, otherRequest);
  check(row.state === 'done', inProgress);
  inside.request.replayed = true;
  // Kept sealed: an outcome may show a secret that is shown only once.
  return { data: JSON.parse(unseal(inside.app, 'idempotency', place(claim), row.response as string)) as Record<string, unknown> };
}

/** Keeps the outcome of a request in the transaction of its effect. */
export async function keep(inside: Context, claim: Claim, result: ExecutionResult): Promise<void> {
  const { principal, key, requestHash } = claim;
  const response = seal(inside.app, 'idempotency', place(claim), JSON.stringify(result.data));
  const data = { requestHash, state: 'done', response, expiresAt: new Date(inside.now().getTime() + kept) };
  await inside.db.idempotencyKey.deleteMany({ where: { principal, key } });
  await inside.db.idempotencyKey.create({ data: { principal, key, ...data } });
}

/**
 * A detached operation under a key: claimed in a transaction of its own, done, settled. What failed is let go, so that a
 * retry may do it; what a dead process left claimed is taken over after two minutes.
 */
export async function once(ctx: Context, claim: Claim, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { principal, key, requestHash } = claim;
  const replay = await ctx.transaction(async (inside) => {
    const stale = new Date(inside.now().getTime() - abandoned);
    await inside.db.idempotencyKey.deleteMany({ where: { principal, key, state: 'running', createdAt: { lt: stale } } });
    const known = await replayOf(inside, claim);
    if (known) return known;
    await inside.db.idempotencyKey.deleteMany({ where: { principal, key } });
    const expiresAt = new Date(inside.now().getTime() + kept);
    await inside.db.idempotencyKey.create({ data: { principal, key, requestHash, state: 'running', expiresAt } });
    return undefined;
  });
  if (replay) return replay;
  try {
    const result = await work();
    if (!result.errors?.length) {
      await ctx.transaction((inside) => keep(inside, claim, result));
      return result;
    }
    await ctx.db.idempotencyKey.deleteMany({ where: { principal, key } });
    return result;
  } catch (error) {
    await ctx.db.idempotencyKey.deleteMany({ where: { principal, key } });
    throw error;
  }
}
