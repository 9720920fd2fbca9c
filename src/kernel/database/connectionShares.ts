import { Shares } from '../base/shares.js';

/** How many connections of this process one account may have at a time; the last ones are always left to other accounts. */
export interface ConnectionShares {
  /** For statements that are planned once, which have connections of their own. */
  planned: Shares;
  /** For other reads, and for transactions: together fewer than there are. */
  reads: Shares;
  transactions: Shares;
}

/** The shares of pools of so many connections each; nobody waits where there is no pool. */
export const sharesOf = (connections: number): ConnectionShares => ({
  planned: new Shares(connections - 2),
  reads: new Shares(Math.floor(connections / 2) - 1),
  transactions: new Shares(Math.floor(connections / 2)),
});
