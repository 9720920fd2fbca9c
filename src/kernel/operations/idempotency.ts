import { setTimeout } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import { v5 } from 'uuid';
import { seal, signatures, unseal } from '../base/crypto.js';
import { dayMs } from '../base/durations.js';
import { AppError, check, invalidField } from '../base/errors.js';
import { nilId } from '../base/ids.js';
import type { HeldClaim } from '../context/app.js';
import { Context, type Principal } from '../context/context.js';
import { lockKey } from '../context/nameLocks.js';
import { flag, text } from '../database/kinds.js';
import { sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { UnitOfWork } from '../writes/unitOfWork.js';
import { abandoned, annotate, conclude, release, take } from './idempotency.claims.js';
import { isConcluded, outcomeOfText, outcomeText } from './outcomes.js';
import { withRetries } from './ownTransaction.js';

/** How long an outcome is kept. */
export const outcomeTtlMs = dayMs;
/** One use of an `Idempotency-Key`: whose, and for which request. */
export interface Claim {
  principal: string;
  key: string;
  requestHash: string;
  /** Those by which the same request is known: as a process with another of the keys signs it too. */
  hashes: readonly string[];
}

/** The key that a request carries. Throws 400 unless it has 8 to 200 characters. */
export function keyOf({ request: { idempotencyKey: key } }: Context): string | undefined {
  check(key === undefined || (key.length >= 8 && key.length <= 200), () =>
    invalidField('Idempotency-Key', key!.length < 8 ? 'too_short' : 'too_long', 'must have 8 to 200 characters'),
  );
  return key;
}

/** What tells one request under a key from another. It is kept, and a body may hold a password: nobody can try them without our key. */
export const requestHashes = ({ app }: Context, operationId: string, variables: object): [string, ...string[]] =>
  signatures(app, 'idempotency', `${operationId} ${JSON.stringify(variables)}`);

/** Whose keys those of a caller are: a person's in all sessions. */
const ownerOf = ({ kind, id, userId }: Principal) => (kind === 'key' ? `key:${id}` : `user:${userId}`);

/** The operation that a key is claimed for: the id of its document, and whether its effect is the calling session's. */
interface ClaimedOperation {
  id: string;
  ofSession: boolean;
}

/**
 * The claim of a request, if it carries a key and somebody is calling. The key of what is done to a session counts for that session
 * alone: another one was not ended by it.
 */
export function claimOf(ctx: Context, { id, ofSession }: ClaimedOperation, variables: object): Claim | undefined {
  const key = keyOf(ctx);
  if (key === undefined || !ctx.principal) return undefined;
  const hashes = requestHashes(ctx, id, variables);
  const principal = ofSession && ctx.principal.kind === 'session' ? `session:${ctx.principal.id}` : ownerOf(ctx.principal);
  return { principal, key, requestHash: hashes[0], hashes };
}

/**
 * What is unique to the effect of a request under a key: an operation that commits before its outcome is kept finds by it what it
 * did, where its process died or the database went in between. The first is what it is kept under; by the others a process with
 * another secret key kept it. None where there is no key.
 */
export function effectKeysOf(ctx: Context, effect: string, input: object): readonly string[] {
  const key = keyOf(ctx);
  return key === undefined ? [] : requestHashes(ctx, `${effect} ${ownerOf(ctx.caller)} ${key}`, input);
}

/**
 * An id that a retry under the same key has as well, for what is told to somebody of whom nothing is kept; a new one where there is no key.
 */
export function effectIdOf(ctx: Context, effect: string, input: object): string {
  const [key] = effectKeysOf(ctx, effect, input);
  return key === undefined ? ctx.app.clock.id() : v5(key, nilId);
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
  check(claim.hashes.includes(row.requestHash), otherRequest);
  check(row.state === 'done', inProgress);
  inside.request.replayed = true;
  return row;
}

/** A stored outcome. It is kept sealed: it may show a secret that is shown only once. */
const outcomeIn = (ctx: Context, claim: Claim, response: unknown): ExecutionResult =>
  outcomeOfText(unseal(ctx.app, 'idempotency', place(claim), response as string));

/** Holds the key until the transaction ends. The stored outcome where there is one; 409 while the first request runs. */
export async function replayOf(inside: Context, claim: Claim): Promise<ExecutionResult | undefined> {
  const row = await doneBefore(inside, claim);
  return row && outcomeIn(inside, claim, row.response);
}

/** Stores the outcome of a request in the transaction of its effect. */
export async function storeOutcome(inside: Context, claim: Claim, result: ExecutionResult): Promise<void> {
  const { principal, key, requestHash } = claim;
  await inside.db.idempotencyKey.deleteMany({ where: { principal, key } });
  await inside.db.idempotencyKey.create({ data: { principal, key, requestHash, ...outcomeOf(inside, claim, result) } });
}

/** An outcome as it is kept. */
const sealedOutcome = (ctx: Context, claim: Claim, result: ExecutionResult) =>
  seal(ctx.app, 'idempotency', place(claim), outcomeText(result));

/** What is noted of a claim, and as it is kept. */
const notesIn = ({ app }: Context, claim: Claim, notes: string): unknown => JSON.parse(unseal(app, 'idempotency', place(claim), notes));
const sealedNotes = ({ app }: Context, claim: Claim, notes: object) => seal(app, 'idempotency', place(claim), JSON.stringify(notes));

const expiry = (ctx: Context) => new Date(ctx.now().getTime() + outcomeTtlMs);

/** An outcome as it is kept, from now on. */
const outcomeOf = (ctx: Context, claim: Claim, result: ExecutionResult) => ({
  state: 'done',
  response: sealedOutcome(ctx, claim, result),
  expiresAt: expiry(ctx),
});

/** A claim as it stands: made now, or what is there of the same request. */
interface Held {
  since: Date;
  requestHash: string;
  isDone: boolean;
  response: string | null;
  /** What is noted of what was done in part. */
  notes: string | null;
}

/** Claims a key for a detached operation, or answers what is there: an outcome, or the note that it was done. Throws 409. */
async function claimed(ctx: Context, claim: Claim): Promise<Held> {
  const [found] = await ctx.rows(take, { ...claim, name: place(claim), now: ctx.now(), expiresAt: expiry(ctx) });
  if (found?.mine) return { since: found.mine, requestHash: claim.requestHash, isDone: false, response: null, notes: found.response };
  check(found?.since, inProgress);
  const { since, response } = found;
  const requestHash = claim.hashes.find((hash) => hash === found.requestHash);
  check(requestHash, otherRequest);
  check(found.state === 'done', inProgress);
  // What was not final is asked for again.
  ctx.request.replayed = response !== null;
  return { since, requestHash, isDone: true, response, notes: null };
}

/**
 * Runs a detached operation under a key: (1) claim the key in a statement of its own; (2) run; (3) store the outcome with the last
 * transaction (`inFinalTransaction`), else afterwards, with the errors of what cannot be shown of it. A failed operation releases its
 * claim, unless its outcome is stored: where the connection was lost, only the database knows, so the release waits for a commit that is
 * under way. A claim left by a dead process can be taken over after two minutes. Where the key has an outcome, that is answered, and
 * nothing runs.
 */
export async function runClaimed(ctx: Context, claim: Claim, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { principal, key } = claim;
  const { since, requestHash, isDone, response, notes } = await claimed(ctx, claim);
  if (response !== null) return outcomeIn(ctx, claim, response);
  /** Its claim, and not one that another request has made of it, or that is done: the answer to the last commit may have been lost. */
  const mine = { ...claim, since };
  const insideOf = (unit: UnitOfWork) => new Context(ctx.app, ctx.request, ctx.principal, unit);
  const held: HeldClaim = {
    notes: notes === null ? undefined : notesIn(ctx, claim, notes),
    async keep(unit, result) {
      // Noted as done, and not final: what comes of it now is kept behind it.
      if (isDone || held.isOpen) return;
      const outcome = { response: sealedOutcome(ctx, claim, result), expiresAt: expiry(ctx) };
      const [kept] = await insideOf(unit).rows(conclude, { ...mine, ...outcome });
      check(kept, inProgress);
      held.outcome = result;
    },
    async note(unit, notes) {
      if (isDone) return;
      const [kept] = await insideOf(unit).rows(annotate, { ...mine, notes: sealedNotes(ctx, claim, notes) });
      check(kept, inProgress);
    },
  };
  ctx.request.claim = held;
  const letGo = () => release(ctx, mine);
  const result = await releaseOnFailure(ctx, work, letGo, isConcluded);
  if (!isConcluded(result) || held.outcome) return result;
  const data = held.isOpen ? { state: 'done' } : outcomeOf(ctx, claim, result);
  // Where another request took the claim over, one of both outcomes is kept.
  await storeWithRetry(ctx, () => ctx.db.idempotencyKey.updateMany({ where: { principal, key, requestHash }, data }));
  return result;
}

/**
 * Says of a detached operation that what it answers now is not final. It is kept that it was done, and not the outcome: a retry asks it
 * once more, and it goes on with what it did, which it finds by `effectKeysOf`. Another request under the key is refused as ever.
 */
export function stayOpen({ request }: Context): void {
  if (request.claim) request.claim.isOpen = true;
}

const isFaultless = ({ errors }: ExecutionResult): boolean => !errors?.length;

/**
 * Runs work under a claim, which is released if it fails: where it throws, or its result is not `isKept`. Where the release fails too, it
 * is tried again beside, until the claim may be taken over.
 */
export async function releaseOnFailure(
  { app }: Context,
  work: () => Promise<ExecutionResult>,
  letGo: () => Promise<unknown>,
  isKept: (result: ExecutionResult) => boolean = isFaultless,
): Promise<ExecutionResult> {
  // The connection may be lost that it failed by: until it is let go, its key is 409.
  const failed = () =>
    letGo().catch((err: unknown) => {
      app.log.warn({ err }, 'a request under an Idempotency-Key could not be let go yet');
      void storeLater(app, letGo);
    });
  try {
    const result = await work();
    if (!isKept(result)) await failed();
    return result;
  } catch (error) {
    await failed();
    throw error;
  }
}

/** How often, and for how long, storing or releasing is tried again: until others may take the claim over. */
const again = { everyMs: 1000, times: abandoned / 1000 - 10 };

/**
 * Stores the outcome of what is done. Where that fails the claim stays, since a retry would do it once more: the caller is answered,
 * and storing is tried again beside.
 */
export async function storeWithRetry({ app }: Context, keeping: () => Promise<unknown>): Promise<void> {
  try {
    await withRetries(keeping);
  } catch (error) {
    app.log.warn({ err: error }, 'the outcome of a request under an Idempotency-Key could not be kept yet');
    void storeLater(app, keeping);
  }
}

async function storeLater(app: Context['app'], keeping: () => Promise<unknown>): Promise<void> {
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
