import type { Duplex } from 'node:stream';
import { pause } from '../kernel/base/eventLoop.js';

/**
 * Bytes that wait for a reader of a stream or socket: from the first a replay waits; at the second, beside one large message, it is ended.
 */
const crowdedBytes = 64 * 1024;
export const fullBytes = 1024 * 1024;
/** How long a replay waits for a reader to take as much as makes a line crowded: one who takes less is ended. */
const patienceMs = 30_000;

/** Something that is written to faster than it may be read. */
interface Written {
  isOpen(): boolean;
  /** Bytes that the reader has not taken. */
  unread(): number;
  /** What it is written to in the end. */
  line: Duplex;
  /** Ends it, since the reader takes nothing. */
  giveUp(): void;
  /** How long he may take for as much as makes a line crowded, in milliseconds; half a minute where it is not said. */
  patience?: number;
}

/** Whether so much waits for a reader that more should wait until he has taken it. */
export const isCrowded = (unread: number): boolean => unread > crowdedBytes;

/**
 * A number that grows while the reader takes what waits for him. Node counts a write as waiting until the last byte of it is gone: of
 * one large message only the handle of the line knows how much has gone, which Node's own timeout of sockets asks, too.
 */
export function progressOf(line: Duplex, unread: number): number {
  const { bytesWritten, writeQueueSize } = (line as { _handle?: { bytesWritten?: number; writeQueueSize?: number } })._handle ?? {};
  return bytesWritten === undefined || writeQueueSize === undefined ? -unread : bytesWritten - writeQueueSize;
}

/** Waits until the reader has taken most of what was written, or is gone. */
export async function drained({ isOpen, unread, line, giveUp, patience = patienceMs }: Written): Promise<void> {
  let since = performance.now();
  let before = progressOf(line, unread());
  while (isCrowded(unread()) && isOpen()) {
    const now = progressOf(line, unread());
    if (now - before >= crowdedBytes) [since, before] = [performance.now(), now];
    if (performance.now() - since > patience) giveUp();
    await pause(10);
  }
}

/** What waits for the reader of a socket. One large message at a time does not count against him. */
export class Backlog {
  /** Bytes of the large message that he is taking, if there is one. */
  #large = 0;
  /** How far he was at the last look, if something waited for him. */
  #before = Number.POSITIVE_INFINITY;

  constructor(private readonly unread: () => number) {}

  /** Whether so much waits that he is ended. */
  get isFull(): boolean {
    return this.unread() - this.#large > fullBytes;
  }

  /**
   * Notes that a message of so many bytes is sent. If it is set apart as the large one, answers what to call once it is written. Node
   * counts all its bytes as unread until the last one is gone: any pong behind the first page of a live query would end a reader who is
   * taking that page.
   */
  add(bytes: number): (() => void) | undefined {
    if (this.#large > 0 || !isCrowded(bytes)) return undefined;
    this.#large = bytes;
    return () => {
      this.#large = 0;
    };
  }

  /** Whether he has taken something, since the last look, of what waited for him then. */
  hasMoved(line: Duplex): boolean {
    const before = this.#before;
    const now = progressOf(line, this.unread());
    this.#before = this.unread() > 0 ? now : Number.POSITIVE_INFINITY;
    return now > before;
  }
}
