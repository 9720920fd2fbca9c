import { Count, Draft, Entity, Flag, Input, Instant, Money, Nested, OneOf, oneOf, Stamp, Text, Url } from '../../kernel/model/fields.js';
import { Plan } from '../plans/plan.model.js';

export const PlanId = oneOf(
  'PlanId',
  { standard: 'The smallest plan that is sold', premium: 'A larger plan', enterprise: 'The plan without limits' },
  'The plans that are sold',
);
export const BillingInterval = oneOf('BillingInterval', { monthly: 'Each month', yearly: 'Each year' }, 'How often a plan is paid');
export const HealthLevel = oneOf(
  'BillingHealthLevel',
  { ok: 'Nothing is to do', warning: 'Something is to do soon', critical: 'Something is to do now' },
  'How urgent the state of billing is',
);
export const HealthAction = oneOf(
  'BillingHealthAction',
  { upgrade: 'Take a larger plan', update_payment_method: 'Give another way to pay', subscribe: 'Subscribe to a plan' },
  'What to do about billing',
);
export const BillingState = oneOf(
  'BillingState',
  {
    trialing: 'It is in its trial, or that has ended without a subscription',
    active: 'It is paid for',
    past_due: 'A payment is missing',
    cancelled: 'Its subscription has ended',
  },
  'How an account is paid for',
);

@Entity('How billing stands, in words')
export class BillingHealth {
  @OneOf(HealthLevel, 'How urgent it is', { required: true }) level: keyof typeof HealthLevel;
  @Text(100, 'What is the matter', { required: true }) title: string;
  @Text(300, 'What it means', { required: true }) description: string;
  @OneOf(HealthAction, 'What to do') action: keyof typeof HealthAction | null;
}

@Entity('How much there is of what plans limit')
export class PlanUsage {
  @Count('Live contacts', { required: true }) contacts: number;
  @Count('Live pipelines', { required: true }) pipelines: number;
  @Count('Members, invited ones among them', { required: true }) users: number;
}

@Entity('What the plan allows; null is no limit')
export class PlanLimits {
  @Count('Contacts') contacts: number | null;
  @Count('Pipelines') pipelines: number | null;
  @Count('Members') users: number | null;
}

@Entity('A bill for the product')
export class BillingInvoice {
  @Text(200, 'Its id at the payment service', { required: true }) id: string;
  @Text(200, 'Its number') number: string | null;
  @Stamp('When it was made') date: Date;
  @Money('What it comes to', { required: true }) amount: string;
  @Text(10, 'ISO 4217 code', { required: true }) currency: string;
  @Text(30, 'draft, open, paid, void or uncollectible', { required: true }) status: string;
  @Url(2000, 'Where it can be seen') url: string | null;
}

/** Contract "Billing status". */
@Entity('What the workspace pays for')
export class BillingStatus {
  @OneOf(Plan, 'The plan', { required: true }) plan: keyof typeof Plan;
  @Text(50, "The plan's name", { required: true }) planName: string;
  @OneOf(BillingState, 'How it is paid', { required: true }) billingStatus: keyof typeof BillingState;
  @OneOf(BillingInterval, 'How often the plan is paid') interval: keyof typeof BillingInterval | null;
  @Instant('When the paid time ends or is paid again') currentPeriodEnd: Date | null;
  @Instant('When the subscription ends, where it was cancelled and has not ended yet; null where it is paid again') endsAt: Date | null;
  @Count('Days left of the trial; null on a plan') trialDaysRemaining: number | null;
  @Flag('Whether there is a subscription at the payment service', { required: true }) hasSubscription: boolean;
  @Nested(
    () => BillingHealth,
    () => BillingHealth,
    'How that stands',
    { required: true },
  )
  health: BillingHealth;
  @Nested(
    () => PlanUsage,
    () => PlanUsage,
    'What there is',
    { required: true },
  )
  usage: PlanUsage;
  @Nested(
    () => PlanLimits,
    () => PlanLimits,
    'What the plan allows',
    { required: true },
  )
  limits: PlanLimits;
}

class CheckoutFields {
  @OneOf(PlanId, 'The plan', { required: true }) planId: keyof typeof PlanId;
  @OneOf(BillingInterval, 'How often it is paid; monthly by default', { required: true, optional: true })
  interval: keyof typeof BillingInterval;
}

@Input('What to subscribe to')
export class CheckoutInput extends Draft(CheckoutFields) {}

/** Contract POST /billing/checkout: an address where a new subscription is paid, or what became of an existing one. */
@Entity('A hosted checkout page, or the changed subscription')
export class CheckoutResult {
  @Url(4000, 'The hosted checkout page; null where a subscription was changed') url: string | null;
  @Text(50, 'subscription_updated where a subscription was changed') action: string | null;
  @Text(200, 'The changed subscription') subscriptionId: string | null;
  @OneOf(PlanId, 'Its plan') plan: keyof typeof PlanId | null;
  @Text(20, 'Its status') status: string | null;
}

@Entity('A hosted page')
export class PortalResult {
  @Url(4000, 'Its address', { required: true }) url: string;
}
