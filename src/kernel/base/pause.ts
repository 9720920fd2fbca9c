import { nextTurn } from './jsonText.js';

/** Milliseconds for which one piece of work may hold the event loop. */
const longestTurn = 10;

/** Lets others go on between the parts of a long piece of work. */
export class Breath {
  #since = performance.now();

  /** Whether the work has held the event loop for long: then `take` one. */
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
