import { Shares } from '../base/shares.js';
import { fromDatabase, isRetryable } from './errors.js';

/** How many connections of each pool of this process one account may have at a time. Pools of six and more leave some to the others. */
export interface ConnectionShares {
  /** For statements that are planned once, which have connections of their own. */
  planned: Shares;
  /** For other reads, and for transactions and single-statement writes: together fewer than there are. */
  reads: Shares;
  transactions: Shares;
}

const isOutage = (error: unknown) => !isRetryable(error) && fromDatabase(error)?.code === 'unavailable';

/** The shares of pools of so many connections each; nobody waits where there is no pool. */
export function sharesOf(connections: number): ConnectionShares {
  const most = (of: string, count: number) => new Shares(Math.max(2, Math.floor(count)), { isOutage, of });
  return {
    planned: most('planned statements', connections - 2),
    reads: most('reads', connections / 2 - 1),
    transactions: most('transactions', connections / 2),
  };
}
