import { oneOf } from '../../kernel/model/fields.js';

export const Plan = oneOf(
  'Plan',
  {
    trial: 'Nothing yet: it may be tried for some days',
    standard: 'The smallest plan that is sold',
    premium: 'A larger plan',
    enterprise: 'The plan without limits',
  },
  'What an account pays for',
);
