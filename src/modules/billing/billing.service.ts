import { limitAddress } from '../../kernel/access/rateLimits.js';
import { dayMs } from '../../kernel/base/durations.js';
import { AppError, check, conflict } from '../../kernel/base/errors.js';
import { today } from '../../kernel/base/timeZones.js';
import { type Context, inLog, type JobHandler } from '../../kernel/context/context.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { effectKeysOf } from '../../kernel/operations/idempotency.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { allOrNothing } from '../../kernel/operations/portions.js';
import type { Bill, Bought, Subscription } from '../../vendors/payments/payments.js';
import { customerContext } from '../auth/auth.customer.js';
import { callersChanged } from '../auth/auth.identify.js';
import { limitsOf, plans, usageOf } from '../plans/plan.limits.js';
import {
  askedSince,
  type BillingAccount,
  billingAccount,
  keepCustomer,
  keepSubscriptions,
  keptState,
  type Look,
  lookForMissed,
  type Standing,
  shownState,
  subscriptionOf,
} from './billing.account.js';
import { healthOf } from './billing.health.js';
import type { BillingStatus, CheckoutInput, CheckoutResult, PlanLimits } from './billing.model.js';

const returnUrl = (ctx: Context) => `${ctx.app.config.publicUrl}/billing`;

/** What a plan allows; null is without end. */
function finiteLimitsOf(plan: string): PlanLimits {
  const finite = (most: number) => (Number.isFinite(most) ? most : null);
  const { contacts, pipelines, users } = limitsOf(plan);
  return { contacts: finite(contacts), pipelines: finite(pipelines), users: finite(users) };
}

export type StatusRow = BillingStatus & { account: BillingAccount };

/** Contract GET /billing/status. */
export async function getStatus(ctx: Context): Promise<StatusRow> {
  const [account, usage] = [await billingAccount(ctx), await usageOf(ctx)];
  await lookForMissed(ctx, account);
  const { plan, interval, currentPeriodEnd, endsAt, trialEndsAt } = account;
  const onTrial = plan === 'trial';
  const left = onTrial && trialEndsAt ? Math.max(0, Math.ceil((trialEndsAt.getTime() - ctx.now().getTime()) / dayMs)) : null;
  const kept = keptState(account);
  const stand = { plan, billingStatus: shownState(kept), trialDaysRemaining: left, usage, limits: finiteLimitsOf(plan) };
  return {
    ...stand,
    planName: plans[plan]?.name ?? plan,
    interval,
    currentPeriodEnd,
    endsAt,
    hasSubscription: account.subscriptionId !== null,
    health: healthOf({ ...stand, billingStatus: kept, endsOn: endsAt && today(ctx.caller.account.timezone, endsAt) }),
    account,
  };
}

/** The latest bills. What the payment service cannot tell now is left out: the rest of the status does not wait for it. */
export async function invoiceHistory(ctx: Context, { account }: StatusRow): Promise<Bill[]> {
  if (!account.customerId) return [];
  try {
    return await ctx.app.vendors.payments.bills(account.customerId, subscriptionOf(account));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.app.log.warn({ err: error.cause ?? error, ...inLog(ctx.request) }, 'the payment service told no bills');
    return [];
  }
}

/**
 * Contract POST /billing/checkout: a hosted page for a first subscription; an existing one is changed at once, or stays as it is (402)
 * where the payment is refused. What is asked of the payment service under an `Idempotency-Key` is one order there as well, whatever
 * became of the answer.
 */
export async function startCheckout(ctx: Context, input: CheckoutInput): Promise<CheckoutResult> {
  const { planId: plan, interval = 'monthly' } = input;
  const { payments } = ctx.app.vendors;
  const [key] = effectKeysOf(ctx, 'checkout', input);
  const account = await billingAccount(ctx);
  const changed = await changePlan(ctx, account, { plan, interval, key });
  if (changed) return changed;
  const pageFor = (customerId: string) => payments.checkout({ customerId, plan, interval, returnUrl: returnUrl(ctx), key });
  const customerId = account.customerId ?? (await newCustomer(ctx, account));
  const url = (await pageFor(customerId)) ?? (await pageFor(await newCustomer(ctx, account, customerId)));
  check(url !== null, () => new AppError('vendor_unavailable', 'The payment service has lost a customer that it has just made'));
  return { url, action: null, subscriptionId: null, plan: null, status: null };
}

/** The customer may pay for two: where one is not paid for any more, the other counts at once, as nothing may be told of it for long. */
async function standingOf(ctx: Context, customerId: string | null, subscription: Subscription): Promise<Standing> {
  const isPaid = subscription.status === 'active' || subscription.status === 'past_due';
  const other = isPaid || customerId === null ? null : await ctx.app.vendors.payments.standing(customerId);
  return other ? [subscription, other] : [subscription];
}

/** Moves the subscription of an account to another plan; null where there is none, or none any more. */
async function changePlan(ctx: Context, account: BillingAccount, bought: Bought): Promise<CheckoutResult | null> {
  if (!account.subscriptionId) return null;
  const asked = askedSince(ctx, account);
  const subscription = await ctx.app.vendors.payments.change(account.subscriptionId, bought);
  const { id: subscriptionId, status, plan = bought.plan } = subscription;
  if (status === 'cancelled') {
    const standing = await standingOf(ctx, account.customerId, subscription);
    await allOrNothing(ctx, (inside) => keepSubscriptions(inside, { asked }, standing));
    callersChanged(ctx);
    const since = await billingAccount(ctx);
    return since.subscriptionId === subscriptionId ? null : changePlan(ctx, since, bought);
  }
  const changed = await inFinalTransaction(ctx, async (inside): Promise<CheckoutResult> => {
    await keepSubscriptions(inside, { asked }, [subscription]);
    return { url: null, action: 'subscription_updated', subscriptionId, plan, status: shownState(status) };
  });
  callersChanged(ctx);
  return changed;
}

/** A customer for an account that has none, or has one that the payment service has lost. */
async function newCustomer(ctx: Context, account: BillingAccount, lost?: string): Promise<string> {
  const customerId = await ctx.app.vendors.payments.customer(account, lost);
  await keepCustomer(ctx, customerId, lost);
  return customerId;
}

/** Contract POST /billing/portal: 409 until there is a customer, and where the payment service has lost the one there was. */
export async function openPortal(ctx: Context): Promise<{ url: string }> {
  const { customerId, subscriptionId } = await billingAccount(ctx);
  const url = customerId && (await ctx.app.vendors.payments.portal({ customerId, subscriptionId, returnUrl: returnUrl(ctx) }));
  check(url, () => conflict('customer', 'is not known to the payment service yet: start with a checkout'));
  return { url };
}

/** Counts what the vendor did not sign by its address, apart from the address's other requests. Throws the refusal, or 429. */
async function refuse({ app, request }: Context, refusal: unknown): Promise<never> {
  if (refusal instanceof AppError && refusal.status === 400) await limitAddress(app.limiter, 'payments', request.ip);
  throw refusal;
}

/**
 * Takes what the payments vendor sent: believed by its signature, counted once. What is about nobody we know is let go. Throws 400 for
 * what the vendor did not sign, and 429 once more of that came from an address than it has requests: what is signed is never limited.
 */
export async function takeNotice(ctx: Context, body: Buffer, signature: string): Promise<void> {
  const asked = ctx.now();
  const notice = await ctx.app.vendors.payments.notice(body, signature).catch((refusal: unknown) => refuse(ctx, refusal));
  if (!notice) return;
  const customer = await customerContext(ctx, notice.customerId);
  if (!customer)
    return void ctx.app.log.warn({ customer: notice.customerId, notice: notice.id }, 'a payment notice for an unknown customer');
  const at = notice.isNews ? askedSince(customer, await billingAccount(customer)) : asked;
  const standing = await standingOf(customer, notice.customerId, notice.subscription);
  await inOwnTransaction(customer, (inside) => keepSubscriptions(inside, { notice: notice.id, asked: at }, standing));
  callersChanged(customer);
}

/** The job of a subscription that `lookForMissed` found, or of which a notice was set aside as something was asked later, by the clocks. */
export const lookAtSubscription: JobHandler<Look> = async (ctx, { subscriptionId, endsNone }) => {
  const account = await billingAccount(ctx);
  const asked = askedSince(ctx, account);
  const subscription = await ctx.app.vendors.payments.subscription(subscriptionId);
  if (!subscription || (endsNone && subscription.status === 'cancelled')) return;
  const standing = await standingOf(ctx, account.customerId, subscription);
  await inOwnTransaction(ctx, (inside) => keepSubscriptions(inside, { asked }, standing));
  callersChanged(ctx);
};
