import { type Exact, exact } from '../../kernel/base/money.js';
import type { Interval, SoldPlan } from './payments.js';
import { prices } from './simulated.js';
import { Refusal } from './stripeRefusal.js';

/** A subscription as Stripe keeps it. */
export interface StripeSubscription {
  id: string;
  object: 'subscription';
  customer: string;
  status: string;
  created: number;
  /** When it ends, in seconds since 1970: by its mark for the end of the period, or, of the newer kind of subscription, by this alone. */
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  items: {
    object: 'list';
    data: { id: string; object: 'subscription_item'; price: { id: string; object: 'price' }; current_period_end: number }[];
  };
}

/** Has it end with the time that is paid for, as who cancels at the hosted portal has: it is active until then. */
export function endWithPeriod(subscription: StripeSubscription, isMarked = false): void {
  subscription.cancel_at = subscription.items.data[0]!.current_period_end;
  subscription.cancel_at_period_end = isMarked;
}

/** What a price of the simulator comes to. */
export function amountOf(price: string): Exact {
  const [, plan, interval] = price.split('_') as [string, SoldPlan, Interval];
  return exact(prices[plan][interval]);
}

/** What Stripe says where a customer cannot pay: the card is refused, or there is none. */
const unpayable = {
  refused: () => new Refusal(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' }),
  none: () =>
    new Refusal(400, { code: 'resource_missing', message: 'This customer has no attached payment source or default payment method.' }),
};
export type Unpayable = keyof typeof unpayable;

/**
 * Changes a subscription as a request asks. What it does not name stays as it is, its end among it. A dearer plan is paid at once: where
 * the customer cannot pay, the change is made all the same, and the payment is missing, unless the request wants it refused then.
 */
export function change(subscription: StripeSubscription, form: URLSearchParams, card?: Unpayable): void {
  if (['canceled', 'incomplete_expired'].includes(subscription.status))
    throw new Refusal(400, { message: 'A canceled subscription can only update its cancellation_details and metadata.' });
  if (form.has('cancel_at') && form.has('cancel_at_period_end'))
    throw new Refusal(400, {
      param: 'cancel_at',
      message: 'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    });
  const [item] = subscription.items.data;
  const price = form.get('items[0][price]')!;
  if (card && amountOf(price).gt(amountOf(item!.price.id))) {
    if (card === 'none' || form.get('payment_behavior') === 'error_if_incomplete') throw unpayable[card]();
    subscription.status = 'past_due';
  }
  item!.price.id = price;
  const isTakenBack = subscription.cancel_at_period_end ? form.get('cancel_at_period_end') === 'false' : form.get('cancel_at') === '';
  if (isTakenBack) Object.assign(subscription, { cancel_at: null, cancel_at_period_end: false });
}
