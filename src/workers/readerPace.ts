import { minuteMs } from '../kernel/base/durations.js';

/** Events of which something is made in one step. */
const mostEvents = 100;
/** Milliseconds of rest after a fault of a step of several events: the next one has half as many. */
const halvedMs = 200;
/** The longest rest after faults of a single event, each twice as long as the one before. */
const mostRestMs = minuteMs;
/** Steps without a fault after which there are twice as many events again, at most. */
const mostPatience = 64;

/**
 * How many events a reader is given at a time in an account, and when it rests. After a fault it is half of what it was given, so that
 * what is too much ends, and one event that cannot be read holds up none before it. Where twice as many fail again, it waits longer
 * before it tries them the next time.
 */
export class ReaderPace {
  /** Faults since the last step without one. */
  faults = 0;
  /** Until when it rests, by `performance.now()`: the clock of the day may be set back. */
  #until = Number.NEGATIVE_INFINITY;
  #limit = mostEvents;
  #patience = 1;
  #calm = 0;
  #alone = 0;

  /** How many events the next step takes at most. */
  get limit(): number {
    return this.#limit;
  }

  get isResting(): boolean {
    return this.#until > performance.now();
  }

  /** Whether it is as if there had never been a fault. */
  get isFull(): boolean {
    return this.faults === 0 && this.#limit === mostEvents;
  }

  /** A step of so many events failed. Answers the milliseconds that the reader rests. */
  failed(given: number): number {
    this.faults++;
    this.#limit = Math.max(1, Math.floor(given / 2));
    this.#patience = Math.min(this.#patience * 2, mostPatience);
    this.#calm = 0;
    this.#alone = given > 1 ? 0 : this.#alone + 1;
    const rest = given > 1 ? halvedMs : Math.min(2 ** this.#alone * 100, mostRestMs);
    this.#until = performance.now() + rest;
    return rest;
  }

  /** A step made what there was to be made of so many events, and had been given more where `isPart`. */
  made(events: number, isPart: boolean): void {
    this.faults = 0;
    this.#alone = 0;
    this.#until = Number.NEGATIVE_INFINITY;
    // What is given again is read again.
    if (isPart) this.#limit = Math.min(this.#limit, events * 2);
    else if (++this.#calm >= this.#patience) {
      this.#limit = Math.min(this.#limit * 2, mostEvents);
      this.#calm = 0;
    }
  }
}
