import type { Actor } from '../base/principal.js';
import type { Transaction } from '../database/accountScope.js';

/** What a job's handler is told of its run. */
export interface JobRun {
  id: string;
  /** 0 on the first run. */
  retries: number;
}

export interface JobOptions {
  /** Seconds to its first run, by the clock of the database; none by default. */
  startAfter?: number;
  /** How often it is tried again after an error; 2 by default. */
  retryLimit?: number;
  /** Seconds to the first retry, doubled for each further one; at once by default. */
  retryDelay?: number;
  /** Seconds that a run may take before it counts as crashed; 30 by default. */
  expireInSeconds?: number;
  /** Of a queue and key one alone is added in each period of so many seconds, half a day at most. */
  singletonKey?: string;
  singletonSeconds?: number;
  /** For whom it is done; for who calls by default. */
  as?: JobFor;
}

/** For whom a job is done. */
export interface JobFor {
  /** Who caused it; null where nobody was calling. */
  userId: string | null;
  /** Who it was that asked for it, where it was not the person: an API key. */
  actor?: Actor;
}

/** A job as it waits. */
export interface Job extends JobFor {
  queue: string;
  accountId: string;
  data: object;
}

/** The queue, as the kernel sees it. */
export interface Jobs {
  /** Adds a job in a transaction. */
  add(connection: Transaction, job: Job, options?: JobOptions): Promise<void>;
  /** Whether a job of a queue with such data waits or runs for the account. */
  has(queue: string, account: string, data: object): Promise<boolean>;
  /** Tells the workers of a queue, in any process, that there is work. */
  wake(queue: string): void;
}
