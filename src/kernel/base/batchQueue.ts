import { pause } from './eventLoop.js';

interface Line<T> {
  waiting: T[];
  underWay: number;
}

/**
 * Groups concurrent requests of one kind: at most two batches in flight (or `mostUnderWay`); later requests wait and form the next
 * batch. A request that is alone goes at once.
 */
export class BatchQueue<T> {
  readonly #lines = new Map<string, Line<T>>();

  constructor(
    /** Takes a party from the front of those who wait: at least one. */
    private readonly party: (waiting: T[]) => T[],
    /** Serves a party; never rejects. */
    private readonly serve: (party: T[]) => Promise<void>,
    /** How many parties of a kind may be under way; without a limit nobody waits, and so nobody goes together. */
    private readonly mostUnderWay = 2,
    /** How long a party that would be small waits for more, where requests of a kind come in groups; by default it does not. */
    private readonly gathering?: { ms: number; small: number },
  ) {}

  join(kind: string, one: T): void {
    const line = this.#lines.get(kind) ?? { waiting: [], underWay: 0 };
    this.#lines.set(kind, line);
    line.waiting.push(one);
    this.#next(kind, line);
  }

  #next(kind: string, line: Line<T>): void {
    if (line.underWay >= this.mostUnderWay) return;
    if (line.waiting.length > 0) {
      line.underWay++;
      void this.#serveNext(line).finally(() => {
        line.underWay--;
        this.#next(kind, line);
      });
    } else if (line.underWay === 0) this.#lines.delete(kind);
  }

  async #serveNext({ waiting }: Line<T>): Promise<void> {
    const { ms, small } = this.gathering ?? { ms: 0, small: 0 };
    if (waiting.length < small) await pause(ms);
    // They may have gone with another party meanwhile.
    if (waiting.length > 0) await this.serve(this.party(waiting));
  }
}
