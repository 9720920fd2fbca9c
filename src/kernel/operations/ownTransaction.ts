import { AppError } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { fromDatabase, isRetryable, isTaken, mayRetry, wasRefused } from '../database/errors.js';
import { StaleReads, type UnitKind } from '../writes/unitOfWork.js';

/**
 * Does something again while the database says that its failure is transient; its faults are thrown as what they mean to the
 * caller. Only the first attempt is optimistic: the others hold what they are to change. A refusal with `StaleReads` is retried, too.
 * `faultsOf` tells what was behind an error.
 */
export async function withRetries<T>(
  work: (isOptimistic: boolean) => Promise<T>,
  faultsOf: (error: unknown) => readonly unknown[] = (error) => [error],
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt === 1);
    } catch (thrown) {
      const error = thrown instanceof StaleReads ? thrown.cause : thrown;
      const faults = faultsOf(error);
      if (thrown instanceof StaleReads && faults.every((fault) => fault instanceof AppError || wasRefused(fault))) continue;
      if (await mayRetry(faults.find(isRetryable), attempt)) continue;
      throw fromDatabase(error) ?? error;
    }
  }
}

/** A unit of work of its own, for a detached operation: all or nothing, and tried again as a whole operation is. */
export const inOwnTransaction = <T>(
  ctx: Context,
  work: (inside: Context) => Promise<T>,
  kind: Pick<UnitKind, 'mayWait'> = {},
): Promise<T> => withRetries((isOptimistic) => ctx.transaction(work, { ...kind, isOptimistic }));

/** Runs a unit of work of its own for what may be brought more than once: undefined where a unique index says that it is kept already. */
export const keptOnce = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T | undefined> =>
  withRetries((isOptimistic) =>
    ctx.transaction(work, { isOptimistic }).catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      return undefined;
    }),
  );
