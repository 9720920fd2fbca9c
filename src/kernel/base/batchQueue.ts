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
      void this.serve(this.party(line.waiting)).finally(() => {
        line.underWay--;
        this.#next(kind, line);
      });
    } else if (line.underWay === 0) this.#lines.delete(kind);
  }
}
