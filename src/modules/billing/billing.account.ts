import { dayMs, hourMs, secondMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import { tryToNote } from '../../kernel/context/unavailableLog.js';
import { flag, instant, json, nullable, type RowOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Sweep } from '../../kernel/database/sweep.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import type { Interval, Paid, SoldPlan, Subscription } from '../../vendors/payments/payments.js';
import { tellWorkspace } from '../auth/auth.service.js';
import type { Plan } from '../plans/plan.model.js';
import type { BillingState } from './billing.model.js';

/** How an account is paid for, as it is kept: an unpaid one is shown as past due. */
type KeptState = keyof typeof BillingState | 'unpaid';

/** What an account keeps of its billing. */
const billing = {
  ...{
    id: uuid,
    name: text,
    plan: word<keyof typeof Plan>(),
    billingStatus: word<KeptState>(),
    interval: nullable(word<Interval>()),
  },
  currentPeriodEnd: nullable(instant),
  endsAt: nullable(instant),
  trialEndsAt: nullable(instant),
  customerId: nullable(text),
  subscriptionId: nullable(text),
  askedAt: nullable(instant),
  email: text,
};
export type BillingAccount = RowOf<typeof billing>;

const own = statement({
  name: 'billingOfAccount',
  takes: { user: uuid },
  row: billing,
  text: ({ account, user }) => sql`
    select a.id, a.name, a.plan, a.billing_status as "billingStatus", a.billing_interval as interval,
      a.current_period_end as "currentPeriodEnd", a.subscription_ends_at as "endsAt", a.trial_ends_at as "trialEndsAt",
      a.stripe_customer_id as "customerId", a.stripe_subscription_id as "subscriptionId", a.billing_asked_at as "askedAt",
      (select u.email from users u where u.id = ${user}) as email
    from accounts a where a.id = ${account}`,
});

/** The caller's account as billing sees it, with the caller's address. */
export const billingAccount = async (ctx: Context): Promise<BillingAccount> => (await ctx.rows(own, { user: ctx.caller.userId }))[0]!;

/**
 * When the vendor is asked by who has read the account, as it is kept: after whatever was asked for what was read, also where that was
 * by a process whose clock is ahead.
 */
export const askedSince = (ctx: Context, { askedAt }: BillingAccount): Date =>
  new Date(Math.max(ctx.now().getTime(), (askedAt?.getTime() ?? 0) + 1));

/** A state in the words of the product, which has one for all that is owed. */
export const shownState = <State extends KeptState>(state: State) => (state === 'unpaid' ? 'past_due' : state) as Exclude<State, 'unpaid'>;

/** The subscription of an account, as far as the account knows it. */
export const subscriptionOf = ({ subscriptionId, plan, interval, currentPeriodEnd }: BillingAccount): Paid | null =>
  subscriptionId ? { id: subscriptionId, plan: plan as SoldPlan, interval: interval ?? undefined, currentPeriodEnd } : null;

const setCustomer = statement({
  name: 'setCustomer',
  takes: { customer: text, lost: nullable(text) },
  changes: true,
  text: ({ account, customer, lost }) =>
    sql`update accounts set stripe_customer_id = ${customer} where id = ${account} and stripe_customer_id is not distinct from ${lost}`,
});

/** Keeps the customer of an account that had none, or one that the vendor has lost. */
export async function keepCustomer(ctx: Context, customer: string, lost: string | null = null): Promise<void> {
  await ctx.rows(setCustomer, { customer, lost });
}

/** How an account stands as billing shows it. */
const stand = {
  plan: word<keyof typeof Plan>(),
  billingStatus: word<KeptState>(),
  interval: nullable(word<Interval>()),
  currentPeriodEnd: nullable(instant),
  endsAt: nullable(instant),
};
type Stand = RowOf<typeof stand>;

/** The billing state of an account. A plan that was given without a subscription is no trial: it counts as active. */
export const keptState = ({ plan, billingStatus }: Pick<Stand, 'plan' | 'billingStatus'>): KeptState =>
  plan !== 'trial' && billingStatus === 'trialing' ? 'active' : billingStatus;

// One statement, so that a message counts whole or not at all. What was asked of the vendor earlier never replaces what was
// asked later: `isEarlier` says that it was set aside for that. What is told of a subscription that is not kept counts only where it
// is paid, or was and is the only one: one whose first payment never came belongs to no account yet. Of two that are paid the newer
// one is kept.
const apply = statement({
  name: 'keepSubscription',
  takes: {
    notice: nullable(text),
    asked: instant,
    now: instant,
    id: text,
    status: text,
    keptId: nullable(text),
    started: instant,
    plan: nullable(text),
    interval: nullable(text),
    periodEnd: nullable(instant),
    ends: nullable(instant),
  },
  row: { before: json<Stand>(), after: nullable(json<Stand>()), isNew: flag, isEarlier: flag },
  changes: true,
  first: ({ account, notice, asked, now, id, status, keptId, started, plan, interval, periodEnd, ends }) => sql`
    with first as (
      insert into billing_events (account_id, id, created_at) select ${account}, ${notice}, ${now} where ${notice} is not null
      on conflict do nothing returning id
    ), old as (
      select id, billing_asked_at as asked_at, ${notice} is null or exists (select 1 from first) as is_new,
        json_build_object('plan', plan, 'billingStatus', billing_status, 'interval', billing_interval,
          'currentPeriodEnd', current_period_end, 'endsAt', subscription_ends_at) as stand
      from accounts where id = ${account} for no key update
    ), kept as (
      update accounts a set billing_status = ${status}, plan = coalesce(${plan}, a.plan),
        billing_interval = coalesce(${interval}, a.billing_interval), current_period_end = ${periodEnd}, billing_asked_at = ${asked},
        updated_at = ${now}, stripe_subscription_id = ${keptId}, subscription_started_at = ${started}, subscription_ends_at = ${ends}
      from old where a.id = old.id and old.is_new and coalesce(a.billing_asked_at <= ${asked}, true)
        and (a.stripe_subscription_id = ${id} or ${status} = 'past_due' and a.stripe_subscription_id is null
          or ${status} = 'active' and (a.stripe_subscription_id is null or a.billing_status <> 'active'
            or coalesce(a.subscription_started_at < ${started}, true)))
      returning a.plan, a.billing_status as "billingStatus", a.billing_interval as interval, a.current_period_end as "currentPeriodEnd",
        a.subscription_ends_at as "endsAt")`,
  text: ({ asked }) => sql`
    select old.stand as before, (select row_to_json(kept) from kept) as after, old.is_new as "isNew",
      old.is_new and coalesce(old.asked_at > ${asked}, false) as "isEarlier" from old`,
});

/** How a subscription stands, and where nobody pays for it any more, the one that is paid for instead, if any. */
export type Standing = readonly [Subscription, Subscription?];

/** A subscription that is to be looked at again. */
export interface Look {
  subscriptionId: string;
  /** Whether it is only looked at for what may have been missed: who does not know it, as by the keys of another customer, ends none. */
  endsNone?: boolean;
}

/** How long one look may take. */
const expireInSeconds = 120;

/** Whoever asked later may have told by then; while the vendor fails, it is asked for some hours. */
const lookJob = { startAfter: 30, retryLimit: 8, retryDelay: 30, expireInSeconds };

/** Tried again by the next one who reads. */
const missedJob = { singletonSeconds: (12 * hourMs) / secondMs, retryLimit: 0, expireInSeconds, as: { userId: null } };

/**
 * Has a subscription looked at that was not asked about for a day: it may have changed before a release that keeps more of it, and the
 * vendor tells nothing again.
 */
export async function lookForMissed(ctx: Context, { subscriptionId, askedAt }: BillingAccount): Promise<void> {
  if (subscriptionId === null || (askedAt && ctx.now().getTime() - askedAt.getTime() < dayMs)) return;
  const look = { subscriptionId, endsNone: true } satisfies Look;
  const job = { ...missedJob, singletonKey: subscriptionId };
  await tryToNote(ctx.app, () => ctx.enqueue('lookAtSubscription', look, job), 'a look at a subscription could not be noted');
}

/**
 * Keeps how one subscription stands. What was asked earlier than what is kept, by the clocks, which may be apart, is looked at again: no
 * other message may come.
 */
async function keepOne(inside: Context, notice: string | null, asked: Date, subscription: Subscription) {
  const { id, status, startedAt: started, plan = null, interval = null, currentPeriodEnd: periodEnd, endsAt: ends = null } = subscription;
  const keptId = status === 'cancelled' ? null : id;
  const given = { notice, asked, now: inside.now(), id, status, keptId, started, plan, interval, periodEnd, ends };
  const row = (await inside.rows(apply, given))[0]!;
  if (row.isEarlier) await inside.enqueue('lookAtSubscription', { subscriptionId: id } satisfies Look, lookJob);
  return row;
}

/**
 * Keeps how a subscription stands, and after it the one that counts in its place, in a unit of work, once for each of the vendor's
 * messages (`notice`, where one told it); `asked` is when the vendor was asked. Tells once what of it is another as it is shown.
 */
export async function keepSubscriptions(
  inside: Context,
  { notice = null, asked }: { notice?: string | null; asked: Date },
  [subscription, other]: Standing,
): Promise<void> {
  const own = await keepOne(inside, notice, asked, subscription);
  const instead = other && own.isNew && !own.isEarlier ? await keepOne(inside, null, asked, other) : undefined;
  const after = instead?.after ?? own.after;
  if (!after) return;
  const asShown = ({ plan, billingStatus, interval, currentPeriodEnd, endsAt }: Stand) => ({
    plan,
    billingStatus: shownState(keptState({ plan, billingStatus })),
    interval,
    currentPeriodEnd: currentPeriodEnd && new Date(currentPeriodEnd),
    endsAt: endsAt && new Date(endsAt),
  });
  const changes = changesBetween(asShown(own.before), asShown(after), Object.keys(stand));
  if (!isNothing(changes)) await tellWorkspace(inside, changes);
}

/** The payments vendor sends a message again for some days; it is known ten times as long. */
const resentMs = 30 * dayMs;

/** Messages of the vendor that will not come again. */
export const oldNotices: Sweep = {
  rows: ({ before, most }) => sql`delete from billing_events e using (
      select account_id, id from billing_events where created_at < ${before} limit ${most}
    ) old where e.account_id = old.account_id and e.id = old.id returning 1`,
  before: (now) => new Date(now.getTime() - resentMs),
};
