import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';

/** Time, ids and randomness, injected so that tests can move them. */
export interface Clock {
  now(): Date;
  /** A UUIDv7: ids sort by creation. */
  id(): string;
  bytes(length: number): Buffer;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  id: () => v7(),
  bytes: (length) => randomBytes(length),
};
