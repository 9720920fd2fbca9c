import { pause } from '../kernel/base/eventLoop.js';

/** Bytes that wait for a reader of a stream or socket: from the first a replay waits; at the second, beside one large message, it is ended. */
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

/** What waits for the reader of a socket. One large message at a time does not count against him. */
export class Backlog {
  /** Bytes of the large message that he is taking, if there is one. */
  #large = 0;

  constructor(private readonly unread: () => number) {}

  /** Whether so much waits that he is ended. */
  get isFull(): boolean {
    return this.unread() - this.#large > fullBytes;
  }

  /**
   * A message of so many bytes is sent. Those of a large one count as unread until the last of them is gone, and any pong behind the
   * first page of a live query would end who comes back for that very page. Answers what is to be done then.
   */
  add(bytes: number): (() => void) | undefined {
    if (this.#large > 0 || !isCrowded(bytes)) return undefined;
    this.#large = bytes;
    return () => {
      this.#large = 0;
    };
  }
}
