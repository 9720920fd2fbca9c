import { pause } from './eventLoop.js';

/** The requests of one kind. */
interface Queue<T> {
  waiting: T[];
  inFlight: number;
}

/**
 * Groups concurrent requests of one kind: at most two batches in flight (or `maxInFlight`); later requests wait and form the next
 * batch. A request that is alone goes at once.
 */
export class BatchQueue<T> {
  readonly #queues = new Map<string, Queue<T>>();

  constructor(
    /** Takes the next batch from the front of those who wait: at least one. */
    private readonly takeBatch: (waiting: T[]) => T[],
    /** Serves a batch; never rejects. */
    private readonly serve: (batch: T[]) => Promise<void>,
    /** How many batches of a kind may be in flight; without a limit nobody waits, and so nobody goes together. */
    private readonly maxInFlight = 2,
    /** How long a batch that would be small waits for more, where requests of a kind come in groups; by default it does not. */
    private readonly delay?: { ms: number; small: number },
  ) {}

  join(kind: string, one: T): void {
    const queue = this.#queues.get(kind) ?? { waiting: [], inFlight: 0 };
    this.#queues.set(kind, queue);
    queue.waiting.push(one);
    this.#next(kind, queue);
  }

  #next(kind: string, queue: Queue<T>): void {
    if (queue.inFlight >= this.maxInFlight) return;
    if (queue.waiting.length > 0) {
      queue.inFlight++;
      void this.#serveNext(queue).finally(() => {
        queue.inFlight--;
        this.#next(kind, queue);
      });
    } else if (queue.inFlight === 0) this.#queues.delete(kind);
  }

  async #serveNext({ waiting }: Queue<T>): Promise<void> {
    const { ms, small } = this.delay ?? { ms: 0, small: 0 };
    if (waiting.length < small) await pause(ms);
    // They may have gone with another batch meanwhile.
    if (waiting.length > 0) await this.serve(this.takeBatch(waiting));
  }
}
