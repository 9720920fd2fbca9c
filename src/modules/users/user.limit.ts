import { sql } from '../../kernel/database/sql.js';
import { planLimit } from '../plans/plan.limits.js';
import { userTable } from './user.table.js';

/** Contract "Plans": people that an account may have, 402 beyond; they count from the invitation on. */
export const usersOfPlan = planLimit({
  kind: 'users',
  total: (account) => sql`(select count(*)::int from memberships t where t.account_id = ${account} and ${userTable.found})`,
  most: { trial: 3, standard: 10, premium: 50, enterprise: Number.POSITIVE_INFINITY },
});

declare module '../plans/plan.limits.js' {
  interface Limited {
    users: number;
  }
}
