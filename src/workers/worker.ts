import type { App } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';

/** How often is looked for work when nobody says that there is some: what begins later, wakes that were lost. */
const pollMs = 1000;
/**
 * Where all places were taken, it is looked again once this share of them is free, or `roomMs` after the first one is: a look costs as
 * much as some rows. Where there are turns, only the time counts.
 */
const roomShare = 0.5;
const roomMs = 10;

/** What a worker works on. */
export interface Work<Item> {
  /** The wakes that tell of new work. */
  wake: string;
  /** Items that are worked on at once in this process. */
  concurrency: number;
  /** Whether more may be taken whenever one has ended, and not only when this process has room again. */
  hasTurns?: boolean;
  idOf(item: Item): string;
  /** Takes at most so many items that are due, so that nobody else has them. */
  take(app: App, most: number): Promise<Item[]>;
  /**
   * Works on one and settles it by itself, so that a crash repeats only what had not ended. `mayGoOn` tells whether it may go on to
   * another item that it takes by itself: nobody waits for its place, and the process does not stop.
   */
  run(app: App, item: Item, mayGoOn: () => boolean): Promise<void>;
  /** Gives back what was not done when the process stopped; by default its lease ends by itself. */
  abandon?(id: string): Promise<void>;
}

/** Works on what is due until it is stopped. */
export class Worker<Item> {
  readonly #running = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  readonly #leave: () => void;
  #stopped = false;
  #woken = false;
  #wake = () => {};
  /** Ends the time in which places become free after all were taken. */
  #filling?: NodeJS.Timeout;

  constructor(
    private readonly app: App,
    private readonly work: Work<Item>,
  ) {
    this.#leave = app.channel.subscribe(work.wake, () => this.#stir());
    this.#loop = this.#loops();
  }

  /** Takes no more and waits for what runs. */
  async stop(patienceMs: number): Promise<void> {
    this.#stopped = true;
    this.#leave();
    this.#stir();
    await this.#loop;
    const patience = new Promise((resume) => setTimeout(resume, patienceMs).unref());
    await Promise.race([Promise.all(this.#running.values()), patience]);
    for (const id of this.#running.keys()) await this.work.abandon?.(id).catch(this.#note);
  }

  #stir() {
    clearTimeout(this.#filling);
    this.#filling = undefined;
    this.#woken = true;
    this.#wake();
  }

  async #loops(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const free = this.work.concurrency - this.#running.size;
      const items = free > 0 ? await this.#take(free) : [];
      for (const item of items) this.#begin(item);
      if (items.length < free || free === 0) await this.#rest();
    }
  }

  async #take(most: number): Promise<Item[]> {
    try {
      return await this.work.take(this.app, most);
    } catch (error) {
      this.#note(error as Error);
      return [];
    }
  }

  /** Until somebody tells of work, there is room again, or the time has come to look. */
  #rest(): Promise<void> {
    if (this.#woken || this.#stopped) return Promise.resolve();
    return new Promise((resume) => {
      const timer = setTimeout(resume, pollMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resume();
      };
    });
  }

  readonly #mayGoOn = () => !this.#stopped && this.#running.size < this.work.concurrency;

  #begin(item: Item) {
    const id = this.work.idOf(item);
    const running = this.work
      .run(this.app, item, this.#mayGoOn)
      .catch(this.#note)
      .finally(() => {
        const wasFull = this.#running.size >= this.work.concurrency;
        this.#running.delete(id);
        this.#makeRoom(wasFull);
      });
    this.#running.set(id, running);
  }

  #makeRoom(wasFull: boolean): void {
    const { concurrency, hasTurns = false } = this.work;
    if (wasFull || hasTurns) this.#filling ??= setTimeout(() => this.#stir(), roomMs);
    if (this.#filling && !hasTurns && this.#running.size <= concurrency * (1 - roomShare)) this.#stir();
  }

  // While the database is away all workers fail at each look: a line a second is for all of them.
  readonly #note = (error: Error) => warnThrottled(this.app, error, 'a worker', { work: this.work.wake });
}
