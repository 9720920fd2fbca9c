import { pause } from '../kernel/base/eventLoop.js';

/** Bytes that wait for a reader of a stream or socket: from the first a replay waits, at the second it is ended. */
const crowdedBytes = 64 * 1024;
export const fullBytes = 1024 * 1024;
/** How long a replay waits for a reader who takes nothing. */
const patienceMs = 30_000;

/** Something that is written to faster than it may be read. */
interface Written {
  isOpen(): boolean;
  /** Bytes that the reader has not taken. */
  unread(): number;
  /** Ends it, since the reader takes nothing. */
  giveUp(): void;
}

/** Whether so much waits for a reader that more should wait until he has taken it. */
export const isCrowded = (unread: number): boolean => unread > crowdedBytes;

/** Waits until the reader has taken most of what was written, or is gone. */
export async function drained({ isOpen, unread, giveUp }: Written): Promise<void> {
  const begun = performance.now();
  while (isCrowded(unread()) && isOpen()) {
    if (performance.now() - begun > patienceMs) giveUp();
    await pause(10);
  }
}
