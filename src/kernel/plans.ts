import type { Context } from './context.js';
import { type AppError, denied, paymentRequired } from './errors.js';
import { sql, statement } from './sql.js';

interface Plan {
  name: string;
  contacts: number;
  pipelines: number;
  users: number;
  /** Days until a trial ends. */
  days?: number;
}

/** The plans and their limits (decisions.md "plan limits"). */
export const plans: Record<string, Plan> = {
  trial: { name: 'Trial', contacts: 1000, pipelines: 3, users: 3, days: 14 },
  standard: { name: 'Standard', contacts: 10_000, pipelines: 10, users: 10 },
  premium: { name: 'Premium', contacts: 100_000, pipelines: 50, users: 50 },
  enterprise: {
    name: 'Enterprise',
    contacts: Number.POSITIVE_INFINITY,
    pipelines: Number.POSITIVE_INFINITY,
    users: Number.POSITIVE_INFINITY,
  },
};

const total = statement<{ n: number }, [string]>(
  (account, kind) => sql`select coalesce(sum(n), 0)::int as n from counts where account_id = ${account}::uuid and kind = ${kind}`,
);

const overLimit: Record<'contacts' | 'pipelines' | 'users', (limit: number) => AppError> = {
  contacts: (limit) => paymentRequired(`The plan allows ${limit} contacts`),
  pipelines: (limit) => denied(`The plan allows ${limit} pipelines`),
  users: (limit) => paymentRequired(`The plan allows ${limit} users`),
};

/** Throws 402 when the trial is over; reads stay possible. */
export function checkTrial(ctx: Context): void {
  const { plan, trialEndsAt } = ctx.caller.account;
  if (plan === 'trial' && trialEndsAt && trialEndsAt <= ctx.now()) throw paymentRequired('The trial has expired');
}

/** Throws 402 (403 for pipelines) when the account may have no more of a kind. */
export async function checkPlan(ctx: Context, kind: 'contacts' | 'pipelines' | 'users', more = 1): Promise<void> {
  checkTrial(ctx);
  const limit = plans[ctx.caller.account.plan]?.[kind] ?? 0;
  if (!Number.isFinite(limit)) return;
  const [row] = await ctx.query(total, kind);
  if ((row?.n ?? 0) + more > limit) throw overLimit[kind](limit);
}
