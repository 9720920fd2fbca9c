import type { Transaction } from '../database/accountScope.js';
import type { Context } from './context.js';

/** What a job's handler is told of its run. */
export interface JobRun {
  id: string;
  /** 0 on the first run. */
  retries: number;
}

/**
 * What a module does later. It runs as the person who caused it, outside any transaction, and again when its process died
 * or it threw: what must not happen twice is fenced in the module's own rows.
 */
// biome-ignore lint/suspicious/noExplicitAny: each queue has data of its own, which its module wrote and reads
export type JobHandler<Data = any> = (ctx: Context, data: Data, run: JobRun) => Promise<void>;

export interface JobOptions {
  /** Not before this moment. */
  startAfter?: Date;
  /** How often it is tried again after an error; 2 unless told. */
  retryLimit?: number;
  /** Seconds to the first retry, doubled for each further one; at once unless told. */
  retryDelay?: number;
  /** Seconds that a run may take before it counts as crashed; 30 unless told. */
  expireInSeconds?: number;
}

/** A job as it waits. */
export interface Job {
  queue: string;
  accountId: string;
  userId: string;
  data: object;
}

/** The queue, as the kernel sees it. */
export interface Jobs {
  /** Adds a job in a transaction. */
  add(connection: Transaction, job: Job, options?: JobOptions): Promise<void>;
  /** Tells the workers of a queue, in any process, that there is work. */
  wake(queue: string): void;
}
