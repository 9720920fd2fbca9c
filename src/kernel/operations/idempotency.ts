import { setTimeout } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import { seal, sign, unseal } from '../base/crypto.js';
import { AppError, check, invalidField } from '../base/errors.js';
import type { Context, Principal } from '../context/context.js';
import { lockKey } from '../context/nameLocks.js';
import { flag, text } from '../database/kinds.js';
import { sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import { retried } from './transacted.js';

/** How long an outcome is kept. */
export const kept = 24 * 60 * 60 * 1000;
/**
 * A claim may be taken over after this, since its process may have died. What runs longer, such as the merge of a tag that very many
 * contacts carry, is done by two at a time where it is sent again, and has to bear that.
 */
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
  text: ({ account, name }) => sql`select pg_try_advisory_xact_lock(${lockKey(account, name)}) as locked`,
});

const place = (claim: Claim) => `${claim.principal}.${claim.key}`;

async function find(ctx: Context, { principal, key }: Claim) {
  const row = await ctx.db.idempotencyKey.findFirst({ where: { principal, key } });
  return row && row.expiresAt > ctx.now() ? row : null;
}

/** Holds the key until the transaction ends. What was done under it; 409 while the first request runs. */
async function doneBefore(inside: Context, claim: Claim) {
  const [lock] = await inside.rows(tryLock, { name: place(claim) });
  check(lock?.locked, inProgress);
  const row = await find(inside, claim);
  if (!row) return undefined;
  check(row.requestHash === claim.requestHash, otherRequest);
  check(row.state === 'done', inProgress);
  inside.request.replayed = true;
  return row;
}

/** A stored outcome. It is kept sealed: it may show a secret that is shown only once. */
const outcomeIn = (ctx: Context, claim: Claim, response: unknown): ExecutionResult => ({
  data: JSON.parse(unseal(ctx.app, 'idempotency', place(claim), response as string)) as Record<string, unknown>,
});

/** Holds the key until the transaction ends. The stored outcome where there is one; 409 while the first request runs. */
export async function replayOf(inside: Context, claim: Claim): Promise<ExecutionResult | undefined> {
  const row = await doneBefore(inside, claim);
  return row && outcomeIn(inside, claim, row.response);
}

/** Keeps the outcome of a request in the transaction of its effect. */
export async function keep(inside: Context, claim: Claim, result: ExecutionResult): Promise<void> {
  const { principal, key, requestHash } = claim;
  await inside.db.idempotencyKey.deleteMany({ where: { principal, key } });
  await inside.db.idempotencyKey.create({ data: { principal, key, requestHash, ...outcomeOf(inside, claim, result) } });
}

/** An outcome as it is kept, from now on. */
const outcomeOf = (ctx: Context, claim: Claim, { data }: ExecutionResult) => ({
  state: 'done',
  response: seal(ctx.app, 'idempotency', place(claim), JSON.stringify(data)),
  expiresAt: new Date(ctx.now().getTime() + kept),
});

/**
 * A detached operation under a key: claimed in a transaction of its own, done, settled. What failed is let go, so that a
 * retry may do it; what a dead process left claimed is taken over after two minutes. What noted that it was done is only answered.
 */
export async function once(ctx: Context, claim: Claim, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { principal, key, requestHash } = claim;
  const before = await ctx.transaction(async (inside) => {
    const stale = new Date(inside.now().getTime() - abandoned);
    await inside.db.idempotencyKey.deleteMany({ where: { principal, key, state: 'running', createdAt: { lt: stale } } });
    const known = await doneBefore(inside, claim);
    if (known) return known;
    await inside.db.idempotencyKey.deleteMany({ where: { principal, key } });
    const expiresAt = new Date(inside.now().getTime() + kept);
    return inside.db.idempotencyKey.create({ data: { principal, key, requestHash, state: 'running', expiresAt } });
  });
  if (before.response !== null) return outcomeIn(ctx, claim, before.response);
  ctx.request.claim = { ...claim, isDone: before.state === 'done' };
  // Only its own claim, and not what is done: another request may have taken it over, or the answer to the last commit been lost.
  const own = { principal, key, requestHash, state: 'running', createdAt: before.createdAt };
  const letGo = () => ctx.db.idempotencyKey.deleteMany({ where: own });
  const result = await done(work, letGo);
  if (result.errors?.length) return result;
  const data = ctx.request.claim.isOpen ? { state: 'done' } : outcomeOf(ctx, claim, result);
  // Where another request took the claim over, one of both outcomes is kept.
  await settle(ctx, () => ctx.db.idempotencyKey.updateMany({ where: { principal, key, requestHash }, data }));
  return result;
}

/**
 * Notes in the last transaction of a detached operation, which cannot be repeated, that it is done under its key: where its process dies
 * before the outcome is kept, or the answer to the commit is lost, a retry finds it done (`wasDone`).
 */
export async function noteDone({ db, request }: Context): Promise<void> {
  if (!request.claim) return;
  const { principal, key, requestHash } = request.claim;
  await db.idempotencyKey.updateMany({ where: { principal, key, requestHash }, data: { state: 'done' } });
}

/**
 * Says of a detached operation that what it answers now is not final. It is kept that it was done, and not the outcome: a retry asks it
 * once more, and it goes on with what it did, which it finds by `effectKeyOf`. Another request under the key is refused as ever.
 */
export function stayOpen({ request }: Context): void {
  if (request.claim) request.claim.isOpen = true;
}

/** Whether an earlier request has done this operation, so that it only answers what came of it. */
export const wasDone = ({ request }: Context): boolean => request.claim?.isDone === true;

/** What comes of a work under a claim. What failed is let go. */
export async function done(work: () => Promise<ExecutionResult>, letGo: () => Promise<unknown>): Promise<ExecutionResult> {
  try {
    const result = await work();
    if (result.errors?.length) await letGo();
    return result;
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** How often, and for how long, what is done is tried to be kept: until others may take the claim over. */
const again = { everyMs: 1000, times: abandoned / 1000 - 10 };

/**
 * Keeps the outcome of what is done. Where that fails the claim stays, since a retry would do it once more: the caller is answered,
 * and it is tried again beside.
 */
export async function settle({ app }: Context, keeping: () => Promise<unknown>): Promise<void> {
  try {
    await retried(keeping);
  } catch (error) {
    app.log.warn({ err: error }, 'the outcome of a request under an Idempotency-Key could not be kept yet');
    void settleLater(app, keeping);
  }
}

async function settleLater(app: Context['app'], keeping: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < again.times; i++) {
    await setTimeout(again.everyMs, undefined, { ref: false });
    if (app.stopping) return;
    const isKept = await keeping().then(
      () => true,
      () => false,
    );
    if (isKept) return;
  }
}
