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

/** Changes a subscription as a request asks. What it does not name stays as it is, its end among it. */
export function change(subscription: StripeSubscription, form: URLSearchParams): void {
  if (['canceled', 'incomplete_expired'].includes(subscription.status))
    throw new Refusal(400, { message: 'A canceled subscription can only update its cancellation_details and metadata.' });
  if (form.has('cancel_at') && form.has('cancel_at_period_end'))
    throw new Refusal(400, {
      param: 'cancel_at',
      message: 'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    });
  subscription.items.data[0]!.price.id = form.get('items[0][price]')!;
  const isTakenBack = subscription.cancel_at_period_end ? form.get('cancel_at_period_end') === 'false' : form.get('cancel_at') === '';
  if (isTakenBack) Object.assign(subscription, { cancel_at: null, cancel_at_period_end: false });
}
