import { randomBytes, randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Time, ids and randomness, injected so that tests can move them. */
export interface Clock {
  now(): Date;
  /** A UUIDv7: ids sort by creation. */
  id(): string;
  bytes(length: number): Buffer;
}

/** Milliseconds from one moment to another; 0 where the clock was set back between them. */
export const elapsed = (from: Date, to: Date): number => Math.max(to.getTime() - from.getTime(), 0);

/** Random bytes in portions of 16, asked of the system for many at once: a system call for each costs more than the id. */
function randomPortions(): () => Uint8Array {
  const pool = new Uint8Array(4096);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    next += 16;
    return pool.subarray(next - 16, next);
  };
}

/** UUIDv7s, each greater than the one before, within a millisecond and where the clock goes back, too. */
export function ascendingIds(now: () => number): () => string {
  const portion = randomPortions();
  let msecs = 0;
  let seq = 0;
  return () => {
    const random = portion();
    const at = now();
    if (at > msecs) {
      msecs = at;
      // Of 32 bits the highest is free: what follows within this millisecond counts up.
      seq = ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!;
    } else seq++;
    return v7({ random, msecs, seq });
  };
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  id: ascendingIds(() => Date.now()),
  bytes: (length) => randomBytes(length),
};
