import { clientKey } from '../kernel/access/clientKey.js';
import type { RateLimits } from '../kernel/base/config.js';

/**
 * Sockets of which nobody knows yet whose they are, counted by address. Each lasts some seconds at most, so that many who come at once
 * through one proxy stay far below the limit.
 */
export class Strangers {
  readonly #counts = new Map<string, number>();

  constructor(private readonly limits: RateLimits) {}

  /** Whether an address has as many as it may. */
  isFull(ip: string): boolean {
    const { enabled, unknownSockets } = this.limits;
    return enabled && (this.#counts.get(clientKey(ip)) ?? 0) >= unknownSockets;
  }

  /** Counts one more. Returns the way out. */
  add(ip: string): () => void {
    const key = clientKey(ip);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = this.#counts.get(key)! - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
