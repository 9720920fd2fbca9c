import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** Between two questions whether Redis answers again, which nobody waits for. */
const probeMs = 250;
const warnEvery = 10_000;

/** Keeps requests from waiting for a Redis that does not answer: after the first that did in vain, none asks it before it is back. */
export class Breaker {
  #open = false;
  #warned = 0;

  constructor(
    private readonly redis: Redis,
    private readonly log?: Logger,
  ) {}

  /** Whether Redis is away. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** A command failed. */
  trip(): void {
    if (this.#open) return;
    this.#open = true;
    if (Date.now() - this.#warned > warnEvery) {
      this.#warned = Date.now();
      this.log?.warn('Redis does not answer: rate limits are counted in this process alone');
    }
    void this.#probe();
  }

  async #probe(): Promise<void> {
    const { redis } = this;
    const answers = await redis.ping().catch(() => undefined);
    if (redis.status === 'end') return;
    if (answers) {
      this.#open = false;
      return;
    }
    // Nobody says that the other side of a half-open line is gone: another line tells.
    if (redis.status === 'ready') redis.disconnect(true);
    setTimeout(() => void this.#probe(), probeMs).unref();
  }
}
