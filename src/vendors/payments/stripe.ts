import type Stripe from 'stripe';
import type { StripeConfig } from '../../kernel/base/config.js';
import { AppError, badRequest, paymentRequired } from '../../kernel/base/errors.js';
import { exact } from '../../kernel/base/money.js';
import type { Bill, Bought, Interval, Notice, Order, PaymentsVendor, SoldPlan, Subscription } from './payments.js';

const statuses: Partial<Record<Stripe.Subscription.Status, Subscription['status']>> = {
  active: 'active',
  trialing: 'active',
  incomplete: 'unpaid',
  unpaid: 'unpaid',
  paused: 'unpaid',
  canceled: 'cancelled',
  incomplete_expired: 'cancelled',
};

const dateOf = (seconds: number) => new Date(seconds * 1000);

const idOf = (value: string | { id: string } | null | undefined) => (typeof value === 'string' ? value : value?.id);

/** What is asked for under a key of ours is done once at Stripe. */
const once = (what: string, key: string | undefined) => (key === undefined ? {} : { idempotencyKey: `crm-${what}-${key}` });

/** Null where Stripe has not got what a request names, by this parameter where it names several things: it never was, or was deleted. */
const unlessMissing = <T>(asked: Promise<T>, named?: string): Promise<T | null> =>
  asked.catch((error: unknown) => {
    const { code, param } = error as { code?: string; param?: string };
    if (code !== 'resource_missing' || (named !== undefined && param !== named)) throw error;
    return null;
  });

/** When a subscription ends, in seconds, if it is to end: by a mark for the end of its period, or, of the newer kind, by a date alone. */
function endOf({ status, cancel_at: at, cancel_at_period_end: isMarked, items }: Stripe.Subscription): number | null {
  if (statuses[status] === 'cancelled') return null;
  return at ?? (isMarked ? (items.data[0]?.current_period_end ?? null) : null);
}

/** Takes back that a subscription is to end. Stripe takes one of the two parameters in a request. */
function goingOn(before: Stripe.Subscription): Pick<Stripe.SubscriptionUpdateParams, 'cancel_at' | 'cancel_at_period_end'> {
  if (endOf(before) === null) return {};
  return before.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' };
}

/** What Stripe says of a customer who has nothing to pay with; it has no code of its own for that. */
const noCard = /no attached payment source/;

/** For a day Stripe answers a key with the refusal. */
const notPaid =
  'The payment was refused, and the plan is as it was: give another way to pay in the portal, and ask again, by another Idempotency-Key';

/** One that Stripe does not know: nobody pays for it. */
const lost = (id: string): Subscription => ({ id, status: 'cancelled', startedAt: dateOf(0), currentPeriodEnd: null });

const minorUnits = new Map([
  // Not ugx: it has no minor unit, and Stripe tells it in hundredths all the same.
  ...['bif', 'clp', 'djf', 'gnf', 'jpy', 'kmf', 'krw', 'mga', 'pyg', 'rwf', 'vnd', 'vuv', 'xaf', 'xof', 'xpf'].map(
    (name) => [name, 1] as const,
  ),
  ...['bhd', 'jod', 'kwd', 'omr', 'tnd'].map((name) => [name, 1000] as const),
]);

/** How many of the units that Stripe tells amounts in make one of a currency. */
const unitsOf = (currency: string) => minorUnits.get(currency) ?? 100;

/** Payments by Stripe. Its library is loaded when it is first needed. */
export class StripePayments implements PaymentsVendor {
  #client?: Promise<Stripe>;

  constructor(private readonly config: StripeConfig) {}

  customer({ id, name, email }: { id: string; name: string; email: string }, before?: string): Promise<string> {
    return this.#ask(async (stripe) => {
      // Under a key Stripe takes the same words alone: a name and an address may be others by the next try, or somebody else's.
      // Not `customer`: earlier releases sent name and address under that key, and for a day Stripe refuses it with other parameters.
      // For a day Stripe answers a key with the customer that was lost.
      const key = before === undefined ? id : `${id}-after-${before}`;
      const customer = await stripe.customers.create({ metadata: { workspace: id } }, once('workspace', key));
      await stripe.customers.update(customer.id, { name, email });
      return customer.id;
    });
  }

  checkout({ customerId, plan, interval, returnUrl, key }: Order): Promise<string | null> {
    return this.#ask(async (stripe) => {
      const order: Stripe.Checkout.SessionCreateParams = {
        mode: 'subscription',
        customer: customerId,
        line_items: [{ price: this.config.prices[`${plan}_${interval}`], quantity: 1 }],
        success_url: `${returnUrl}?checkout=success`,
        cancel_url: `${returnUrl}?checkout=cancelled`,
      };
      // One order for each customer: what was refused for one that was lost is refused under its key for a day.
      const session = await unlessMissing(
        stripe.checkout.sessions.create(order, once('checkout', key && `${customerId}-${key}`)),
        'customer',
      );
      if (!session) return null;
      if (!session.url) throw new Error('Stripe answered a checkout session without an address');
      return session.url;
    });
  }

  change(subscriptionId: string, { plan, interval, key }: Bought): Promise<Subscription> {
    return this.#ask(async (stripe) => {
      const before = await unlessMissing(stripe.subscriptions.retrieve(subscriptionId));
      if (!before) return lost(subscriptionId);
      // Stripe refuses to change one that has ended.
      if (statuses[before.status] === 'cancelled') return this.#subscription(before);
      const price = this.config.prices[`${plan}_${interval}`];
      const items = [{ id: before.items.data[0]?.id, price }];
      // In one request: what is charged for the rest of the time goes by when it ends.
      const takenBack = goingOn(before);
      const changed: Stripe.SubscriptionUpdateParams = {
        ...{ items, ...takenBack, proration_behavior: 'always_invoice' },
        // Else a plan is given that is not paid.
        payment_behavior: 'error_if_incomplete',
      };
      // Under one key Stripe takes the same parameters alone. Not `change`: earlier releases sent others under that.
      const order = ['change-if-paid', ...Object.keys(takenBack)].join('-');
      const answered = await stripe.subscriptions.update(subscriptionId, changed, once(order, key));
      // Stripe's answer of the time when it was asked first: by now the subscription may stand otherwise.
      const isReplay = answered.lastResponse.headers['idempotent-replayed'] === 'true';
      return this.#subscription(isReplay ? await stripe.subscriptions.retrieve(subscriptionId) : answered);
    });
  }

  standing(customer: string): Promise<Subscription | null> {
    return this.#ask(async (stripe) => {
      // The newest first, and none that is cancelled.
      const found = await unlessMissing(stripe.subscriptions.list({ customer, limit: 100 }), 'customer');
      const ours = (found?.data ?? []).map((one) => this.#subscription(one)).filter(({ plan }) => plan);
      return ours.find(({ status }) => status === 'active') ?? ours.find(({ status }) => status === 'past_due') ?? null;
    });
  }

  subscription(subscriptionId: string): Promise<Subscription> {
    return this.#ask(async (stripe) => {
      const found = await unlessMissing(stripe.subscriptions.retrieve(subscriptionId));
      return found ? this.#subscription(found) : lost(subscriptionId);
    });
  }

  portal({ customerId: customer, returnUrl }: { customerId: string; returnUrl: string }): Promise<string | null> {
    const asked = { customer, return_url: returnUrl };
    return this.#ask(async (stripe) => (await unlessMissing(stripe.billingPortal.sessions.create(asked), 'customer'))?.url ?? null);
  }

  bills(customerId: string): Promise<Bill[]> {
    return this.#ask(async (stripe) => (await stripe.invoices.list({ customer: customerId, limit: 12 })).data.map(billOf));
  }

  /** A message only says that something happened: how the subscription stands is asked, so that their order does not matter. */
  notice(body: Buffer, signature: string): Promise<Notice | null> {
    return this.#ask(async (stripe) => {
      const event = await stripe.webhooks.constructEventAsync(body, signature, this.config.webhookSecret);
      const subscriptionId = subscriptionOf(event);
      if (!subscriptionId) return null;
      const subscription = await stripe.subscriptions.retrieve(subscriptionId);
      return { id: event.id, customerId: idOf(subscription.customer)!, subscription: this.#subscription(subscription) };
    });
  }

  #subscription(told: Stripe.Subscription): Subscription {
    const { id, status, created, items } = told;
    const [item] = items.data;
    const [name] = Object.entries(this.config.prices).find(([, price]) => price === item?.price.id) ?? [];
    const [plan, interval] = (name?.split('_') ?? []) as [SoldPlan?, Interval?];
    const [end, endsAt] = [item?.current_period_end, endOf(told)];
    return {
      id,
      status: statuses[status] ?? 'past_due',
      startedAt: dateOf(created),
      plan,
      interval,
      currentPeriodEnd: end ? dateOf(end) : null,
      endsAt: endsAt === null ? null : dateOf(endsAt),
    };
  }

  async #ask<T>(work: (stripe: Stripe) => Promise<T>): Promise<T> {
    this.#client ??= this.#connect();
    const stripe = await this.#client;
    try {
      return await work(stripe);
    } catch (error) {
      const { type, message = '' } = error as { type?: string; message?: string };
      if (type === 'StripeSignatureVerificationError') throw badRequest('The signature is not that of the payment service');
      if (type === 'StripeCardError' || noCard.test(message)) throw paymentRequired(notPaid);
      throw Object.assign(new AppError('vendor_unavailable', 'The payment service does not answer as it should'), { cause: error });
    }
  }

  async #connect(): Promise<Stripe> {
    const { default: Client } = await import('stripe');
    const { secretKey, apiBase } = this.config;
    const base = apiBase ? new URL(apiBase) : undefined;
    const protocol = base?.protocol === 'http:' ? 'http' : 'https';
    const place = base && {
      protocol: protocol as 'http' | 'https',
      host: base.hostname,
      port: base.port || (protocol === 'http' ? 80 : 443),
    };
    return new Client(secretKey, { ...place, maxNetworkRetries: 2, timeout: 10_000, telemetry: false });
  }
}

/** The subscription that an event is about, if it is about one. */
function subscriptionOf(event: Stripe.Event): string | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
      return idOf(event.data.object.subscription);
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
      return event.data.object.id;
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return idOf(event.data.object.parent?.subscription_details?.subscription);
    default:
      return undefined;
  }
}

function billOf(invoice: Stripe.Invoice): Bill {
  const { id, number, created, total, currency, status, hosted_invoice_url: url } = invoice;
  const amount = exact(total).div(unitsOf(currency)).toFixed(2);
  return {
    id: id ?? '',
    number,
    date: dateOf(created),
    amount,
    currency: currency.toUpperCase(),
    status: status ?? 'draft',
    url: url ?? null,
  };
}
