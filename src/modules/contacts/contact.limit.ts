import { keptTotal } from '../../kernel/database/sql.js';
import { planLimit } from '../plans/plan.limits.js';

/** Contract "Plans": contacts that an account may have, 402 beyond. */
export const contactsOfPlan = planLimit({
  kind: 'contacts',
  total: (account) => keptTotal(account, 'contacts'),
  isKept: true,
  most: { trial: 1000, standard: 10_000, premium: 100_000, enterprise: Number.POSITIVE_INFINITY },
});

declare module '../plans/plan.limits.js' {
  interface Limited {
    contacts: number;
  }
}
