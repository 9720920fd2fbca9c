import { denied } from '../../kernel/base/errors.js';
import { keptTotal } from '../../kernel/database/sql.js';
import { planLimit } from '../plans/plan.limits.js';

/** Contract "Plans": pipelines that an account may have, 403 beyond. */
export const pipelinesOfPlan = planLimit({
  kind: 'pipelines',
  total: (account) => keptTotal(account, 'pipelines'),
  most: { trial: 3, standard: 10, premium: 50, enterprise: Number.POSITIVE_INFINITY },
  refusal: denied,
});

declare module '../plans/plan.limits.js' {
  interface Limited {
    pipelines: number;
  }
}
