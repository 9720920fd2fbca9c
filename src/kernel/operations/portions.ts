import { nextTurn } from '../base/eventLoop.js';
import type { Context } from '../context/context.js';
import { inOwnTransaction } from './ownTransaction.js';

/** Something that is all or nothing: in the unit of work of its operation, where there is one, else in one of its own. */
export const allOrNothing = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.unit ? work(ctx) : inOwnTransaction(ctx, work);

/**
 * Does something to very many rows, some at a time, so that nobody waits for all of them; each portion is all or nothing. `work` does
 * the next rows behind an id, `most` of them, in the order of ids, and answers the last of them; undefined where there were none. Its
 * operation is marked `@DetachedAlone()`, and `@TakesLong()` for where it is part of another transaction.
 */
export async function inPortions(
  ctx: Context,
  most: number,
  work: (inside: Context, after: string | null) => Promise<string | undefined>,
): Promise<void> {
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    after = (await allOrNothing(ctx, (inside) => work(inside, from))) ?? null;
    if (after === null) return;
    ctx.unit?.changeMany(most);
    await nextTurn();
  }
}
