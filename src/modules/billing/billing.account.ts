import type { Context } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';
import type { Interval, Subscription } from '../../vendors/payments/payments.js';
import { forgetCallers } from '../auth/auth.identify.js';

/** What an account keeps of its billing. */
export interface BillingAccount {
  id: string;
  name: string;
  plan: string;
  billingStatus: string;
  interval: Interval | null;
  currentPeriodEnd: Date | null;
  trialEndsAt: Date | null;
  customerId: string | null;
  subscriptionId: string | null;
  email: string;
}

const own = statement<BillingAccount, [user: string]>(
  (account, user) => sql`
    select a.id, a.name, a.plan, a.billing_status as "billingStatus", a.billing_interval as interval,
      a.current_period_end as "currentPeriodEnd", a.trial_ends_at as "trialEndsAt", a.stripe_customer_id as "customerId",
      a.stripe_subscription_id as "subscriptionId", (select u.email from users u where u.id = ${user}::uuid) as email
    from accounts a where a.id = ${account}::uuid`,
);

/** The caller's account as billing sees it, with the caller's address. */
export const billingAccount = async (ctx: Context): Promise<BillingAccount> => (await ctx.query(own, ctx.caller.userId))[0]!;

/** The subscription of an account, as far as the account knows it. */
export const subscriptionOf = ({ subscriptionId, billingStatus, plan, interval, currentPeriodEnd }: BillingAccount): Subscription | null =>
  subscriptionId
    ? { id: subscriptionId, status: billingStatus as never, plan: plan as never, interval: interval ?? undefined, currentPeriodEnd }
    : null;

const setCustomer = statement<never, [customer: string]>(
  (account, customer) =>
    sql`update accounts set stripe_customer_id = ${customer} where id = ${account}::uuid and stripe_customer_id is null`,
);

export async function keepCustomer(ctx: Context, customerId: string): Promise<void> {
  await ctx.query(setCustomer, customerId);
}

// One statement, so that a message counts whole or not at all. What was asked of the vendor earlier never replaces what was
// asked later, and the end of an old subscription is not the end of a newer one.
const apply = statement<{ id: string }, [notice: string, asked: Date, now: Date, Subscription]>(
  (account, notice, asked, now, { id, status, plan = null, interval = null, currentPeriodEnd }) => sql`
    with first as (
      insert into billing_events (account_id, id, created_at) values (${account}::uuid, ${notice}, ${now}::timestamptz)
      on conflict do nothing returning id)
    update accounts set billing_status = ${status}, plan = coalesce(${plan}, plan), billing_interval = coalesce(${interval}, billing_interval),
      current_period_end = ${currentPeriodEnd}::timestamptz, billing_asked_at = ${asked}::timestamptz, updated_at = ${now}::timestamptz,
      stripe_subscription_id = ${status === 'cancelled' ? null : id}
    where id = ${account}::uuid and exists (select 1 from first)
      and coalesce(billing_asked_at <= ${asked}::timestamptz, true)
      and (${status} <> 'cancelled' or coalesce(stripe_subscription_id = ${id}, true))
    returning id`,
);

/** Keeps how a subscription stands, once for each of the vendor's messages; `asked` is when the vendor was asked. */
export async function keepSubscription(ctx: Context, notice: string, asked: Date, subscription: Subscription): Promise<void> {
  await ctx.query(apply, notice, asked, ctx.now(), subscription);
  forgetCallers(ctx.app);
}
