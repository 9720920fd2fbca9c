import type { ExecutionResult } from 'graphql';
import { clientKey } from '../access/clientKey.js';
import { seal, unseal } from '../base/crypto.js';
import { check } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { abandoned, done, inProgress, kept, keyOf, otherRequest, requestHash, settle } from './idempotency.js';

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
  return { place, requestHash: requestHash(ctx, id, variables) };
}

const nameOf = ({ client, operation, key }: Place) => `public.${client}.${operation}.${key}`;

/** Makes the claim, or answers what is kept of the request that has it: 409 while it runs, or where it was another one. */
async function replayOf(ctx: Context, { place, requestHash }: PublicClaim): Promise<ExecutionResult | undefined> {
  const { publicOutcome } = ctx.global;
  const now = ctx.now().getTime();
  const over = [{ expiresAt: { lte: new Date(now) } }, { outcome: null, createdAt: { lt: new Date(now - abandoned) } }];
  await publicOutcome.deleteMany({ where: { ...place, OR: over } });
  const data = [{ ...place, requestHash, expiresAt: new Date(now + kept) }];
  // Of those who come at once one inserts the row; it is committed by itself, so that nobody waits for the first to be done.
  const { count } = await publicOutcome.createMany({ data, skipDuplicates: true });
  if (count === 1) return undefined;
  const known = await publicOutcome.findUnique({ where: { client_operation_key: place } });
  check(!known || known.requestHash === requestHash, otherRequest);
  check(known?.outcome, inProgress);
  const { data: answered, session } = JSON.parse(unseal(ctx.app, 'idempotency', nameOf(place), known.outcome)) as Outcome;
  ctx.request.replayed = true;
  if (session !== undefined) ctx.request.session = session && { ...session, expiresAt: new Date(session.expiresAt) };
  return { data: answered };
}

/** Does it once under its claim: what failed is let go, so that it may be put right; what a dead process left, after two minutes. */
export async function onceForAddress(ctx: Context, claim: PublicClaim, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const replay = await replayOf(ctx, claim);
  if (replay) return replay;
  const own = { where: { ...claim.place, requestHash: claim.requestHash, outcome: null } };
  const before = ctx.request.session;
  const result = await done(work, () => ctx.global.publicOutcome.deleteMany(own));
  if (result.errors?.length) return result;
  const { session } = ctx.request;
  const outcome = JSON.stringify({ data: result.data, ...(session !== before && { session }) });
  const sealed = seal(ctx.app, 'idempotency', nameOf(claim.place), outcome);
  await settle(ctx, () => ctx.global.publicOutcome.updateMany({ ...own, data: { outcome: sealed } }));
  return result;
}
