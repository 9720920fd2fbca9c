import { AppError, unavailable } from './errors.js';

/** How long somebody waits for a turn. It holds nothing that others need, so it may be longer than the wait for a connection. */
const patienceMs = 5000;
/**
 * What fails after so long has waited for a connection of the database in vain: for two seconds, which a timer counts from the beginning of
 * the turn of the event loop that set it.
 */
const connectionMs = 1800;

/** No turn came in time: nothing was done. */
class NoTurn extends Error {}

/** Whether something was refused because no turn for it came in time. */
export const cameToNoTurn = (error: unknown): boolean => error instanceof AppError && error.cause instanceof NoTurn;

/** Somebody who waits, from this moment on. */
interface Waiting {
  since: number;
  begin(): void;
  refuse(): void;
}

export interface SharesOptions {
  /** Whether an error says that those who come next would fail like this one; none does by default. */
  isOutage?(error: unknown): boolean;
  /** Milliseconds that somebody waits for a turn; five seconds by default. */
  patience?: number;
  /** In how many seconds those who were refused may come back; one by default. */
  retryAfter?: number;
  /** What the turns are for, as the log calls it. */
  of?: string;
}

interface Line {
  underWay: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Lets each key have only so many pieces of work under way, however many other keys there are: what it asks for beyond that waits in its
 * order, for five seconds at most (503). So whoever asks for much at once leaves something to the others.
 */
export class Shares {
  readonly #lines = new Map<string, Line>();

  readonly #patience: number;

  constructor(
    private readonly most: number,
    private readonly options: SharesOptions = {},
  ) {
    this.#patience = options.patience ?? patienceMs;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { underWay: 0, waiting: new Set() };
    this.#lines.set(key, line);
    if (line.underWay < this.most) line.underWay++;
    else await this.#turnIn(line);
    const begun = performance.now();
    try {
      return await work();
    } catch (error) {
      if (performance.now() - begun >= Math.min(connectionMs, this.#patience) && this.options.isOutage?.(error)) this.#refuseIn(line);
      throw error;
    } finally {
      this.#leave(key, line);
    }
  }

  /** The place goes to who has waited longest. */
  #leave(key: string, line: Line): void {
    const [next] = line.waiting;
    if (next) next.begin();
    else if (--line.underWay === 0) this.#lines.delete(key);
  }

  /**
   * Where no connection was to be had for as long, the next ones would wait as long again: who has waited for some time is told at once.
   */
  #refuseIn({ waiting }: Line): void {
    const latest = performance.now() - Math.min(connectionMs, this.#patience) / 2;
    for (const one of waiting) if (one.since <= latest) one.refuse();
  }

  #turnIn({ waiting }: Line): Promise<void> {
    return new Promise((resume, refuse) => {
      const gone = () => {
        clearTimeout(late);
        waiting.delete(one);
      };
      const one: Waiting = {
        since: performance.now(),
        begin() {
          gone();
          resume();
        },
        refuse: () => {
          gone();
          const { retryAfter, of = 'work' } = this.options;
          refuse(unavailable(undefined, retryAfter, new NoTurn(`no turn for ${of} came in time`)));
        },
      };
      const late = setTimeout(one.refuse, this.#patience);
      waiting.add(one);
    });
  }
}
