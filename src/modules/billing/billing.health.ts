import type { BillingHealth, PlanLimits, PlanUsage } from './billing.model.js';

interface Stand {
  plan: string;
  billingStatus: string;
  /** The day, in the workspace, on which the subscription ends, where it is to end. */
  endsOn: string | null;
  trialDaysRemaining: number | null;
  usage: PlanUsage;
  limits: PlanLimits;
}

/** A trial with this many days left, and a limit used to this share, are worth a word. */
const lastDays = 3;
const nearlyFull = 0.9;

const critical = (title: string, description: string, action: BillingHealth['action']): BillingHealth => ({
  level: 'critical',
  title,
  description,
  action,
});
const warning = (title: string, description: string, action: BillingHealth['action']): BillingHealth => ({
  level: 'warning',
  title,
  description,
  action,
});

/** How billing stands, the most urgent first. */
export function healthOf({ billingStatus, endsOn, trialDaysRemaining: days, usage, limits }: Stand): BillingHealth {
  if (billingStatus === 'cancelled') return critical('Subscription ended', 'Records can be read; nothing new can be made.', 'subscribe');
  if (days === 0) return critical('Trial ended', 'Records can be read; nothing new can be made.', 'upgrade');
  if (billingStatus === 'unpaid')
    return critical('Subscription unpaid', 'Records can be read; nothing new can be made until it is paid.', 'update_payment_method');
  if (billingStatus === 'past_due') return critical('Payment failed', 'The last payment did not go through.', 'update_payment_method');
  if (endsOn) return warning('Subscription ends', `It ends on ${endsOn}, unless a plan is taken before.`, 'subscribe');
  if (days !== null && days <= lastDays)
    return warning('Trial ends soon', `${days === 1 ? 'One day is' : `${days} days are`} left.`, 'upgrade');
  const full = (Object.keys(limits) as (keyof PlanLimits & keyof PlanUsage)[]).find((kind) => {
    const limit = limits[kind];
    return limit !== null && usage[kind] >= limit * nearlyFull;
  });
  if (full) return warning('Close to a limit of the plan', `${usage[full]} of ${limits[full]} ${full} are used.`, 'upgrade');
  return { level: 'ok', title: 'All is well', description: 'Nothing has to be done.', action: null };
}
