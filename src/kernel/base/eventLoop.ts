/** The next turn of the event loop: what else has come meanwhile goes first. */
export const nextTurn = (): Promise<void> => new Promise((resume) => setImmediate(resume));

/** Lets what comes at one moment go on one after the other, each in a turn of the event loop of its own. */
export class EventLoopQueue {
  #last = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(nextTurn);
    return this.#last;
  }
}

/** Milliseconds for which one piece of work may hold the event loop. */
const longestTurn = 10;

/** Lets others go on between the parts of a long piece of work. */
export class YieldTimer {
  #since = performance.now();

  /** Whether the work has held the event loop for long: then `take` a turn. */
  get isDue(): boolean {
    return performance.now() - this.#since > longestTurn;
  }

  async take(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

/** Waits for so many milliseconds. The process stays alive for it. */
export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));
