import { isNativeError } from 'node:util/types';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { isRefusal, tryToWrite } from '../base/redis.js';

/** Between two questions whether Redis takes writes again, which nobody waits for. */
const probeMs = 250;
const warnEvery = 10_000;
/** How long a request waits for Redis. */
const patienceMs = 50;

/** The answer, if it comes in time. A process that was busy itself first reads what has come meanwhile: that is no fault of Redis. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('Redis does not answer'));
    const timer = setTimeout(() => setImmediate(giveUp), patienceMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Keeps requests from waiting for a Redis that does not count: after the first failure, none asks it before it takes writes again. */
export class Breaker {
  #open = false;
  #warned = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly redis: Redis,
    private readonly log?: Logger,
  ) {}

  /** What Redis answers to a command, or else what `instead` does. */
  async ask<T>(command: () => Promise<T>, instead: () => Promise<T>): Promise<T> {
    if (this.#open) return instead();
    try {
      return await inTime(command());
    } catch (error) {
      if (!isNativeError(error)) throw error;
      this.#trip(error);
      return instead();
    }
  }

  #trip({ message }: Error): void {
    if (this.#open) return;
    this.#open = true;
    if (performance.now() - this.#warned > warnEvery) {
      this.#warned = performance.now();
      this.log?.warn({ err: message }, 'Redis does not count: rate limits are counted in this process alone');
    }
    void this.#probe();
  }

  async #probe(): Promise<void> {
    const { redis } = this;
    const fault = await inTime(tryToWrite(redis)).then(
      () => undefined,
      (error: Error) => error,
    );
    if (redis.status === 'end') return;
    if (!fault) {
      this.#open = false;
      return;
    }
    // Nobody says that the other side of a half-open line is gone: another line tells.
    if (redis.status === 'ready' && !isRefusal(fault)) redis.disconnect(true);
    setTimeout(() => void this.#probe(), probeMs).unref();
  }
}
