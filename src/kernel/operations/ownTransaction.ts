import { AppError } from '../base/errors.js';
import { pause } from '../base/eventLoop.js';
import { cameToNoTurn } from '../base/shares.js';
import type { Context } from '../context/context.js';
import { fromDatabase, isRetryable, isTaken, mayRetry, waitedTooLong, wasRefused } from '../database/errors.js';
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

/**
 * Milliseconds after which a unit of work that waits for a lock is begun for the last time, which then waits for two seconds more: who
 * calls back waits for an answer for fifteen.
 */
const patienceMs = 8000;
const pauseMs = 50;

/** Does again what waited for a lock in vain. `isFirst`: whether it is done for the first time. */
export type Patiently = <T>(work: (isFirst: boolean) => Promise<T>) => Promise<T>;

/** For a lock, or for the account's turn at a connection. */
const waitedInVain = (error: unknown) => waitedTooLong(error) || cameToNoTurn(error);

/**
 * Does again what waited for a lock in vain, for about ten seconds from now on: for what a vendor tells once, which nobody would bring
 * again because a large merge held its contact. All that one request waits for goes by one of these.
 * `whenHeld` is done once, after the first wait in vain.
 */
export function patience(whenHeld?: () => Promise<void>): Patiently {
  const end = performance.now() + patienceMs;
  let isHeld = false;
  return async (work) => {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await work(isFirst);
      } catch (error) {
        if (!waitedInVain(error instanceof StaleReads ? error.cause : error) || performance.now() > end) throw error;
        if (!isHeld) await whenHeld?.();
        isHeld = true;
        await pause(pauseMs);
      }
    }
  };
}

/** A unit of work of its own, for a detached operation: all or nothing, and tried again as a whole operation is. */
export const inOwnTransaction = <T>(
  ctx: Context,
  work: (inside: Context) => Promise<T>,
  kind: Pick<UnitKind, 'mayWait'> = {},
): Promise<T> => withRetries((isOptimistic) => ctx.transaction(work, { ...kind, isOptimistic }));

/** Begins a unit of work of its own, again and again while it waits for a lock in vain. */
function begunPatiently<T>(begin: (isOptimistic: boolean) => Promise<T>, patiently = patience()): Promise<T> {
  return withRetries((isOptimistic) => patiently((isFirst) => begin(isOptimistic && isFirst)));
}

/** As `inOwnTransaction`, for what a vendor tells once: it waits for whoever holds what it needs, up to about ten seconds. */
export const whenTold = <T>(ctx: Context, work: (inside: Context) => Promise<T>, patiently?: Patiently): Promise<T> =>
  begunPatiently((isOptimistic) => ctx.transaction(work, { isOptimistic }), patiently);

/**
 * Runs a unit of work of its own for what may be brought more than once: undefined where a unique index says that it is kept already. It
 * waits as `whenTold` does.
 */
export const keptOnce = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T | undefined> =>
  begunPatiently((isOptimistic) =>
    ctx.transaction(work, { isOptimistic }).catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      return undefined;
    }),
  );
