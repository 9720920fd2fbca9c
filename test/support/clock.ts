import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock } from '../../src/kernel/base/clock.js';

/** A clock that goes like the machine's until it is moved. */
export class MovableClock implements Clock {
  #offset = 0;
  readonly #watchers: ((isForward: boolean) => void)[] = [];

  /** Calls `watcher` whenever the clock is moved, on or back: what was cached for a second of the machine's time is old then. */
  onMove(watcher: (isForward: boolean) => void): void {
    this.#watchers.push(watcher);
  }

  now(): Date {
    return new Date(Date.now() + this.#offset);
  }

  id(): string {
    return v7();
  }

  bytes(length: number): Buffer {
    return randomBytes(length);
  }

  /** Moves on (or, below zero, back) by milliseconds. */
  advance(ms: number): void {
    this.#move(this.#offset + ms);
  }

  /** Goes on from the given moment. */
  set(moment: Date | string): void {
    this.#move(new Date(moment).getTime() - Date.now());
  }

  /** Shows the machine's time again. */
  reset(): void {
    this.#move(0);
  }

  #move(offset: number) {
    const isForward = offset > this.#offset;
    this.#offset = offset;
    for (const watcher of this.#watchers) watcher(isForward);
  }
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
