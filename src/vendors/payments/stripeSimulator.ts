import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/base/clock.js';
import type { StripeConfig } from '../../kernel/base/config.js';
import { type JsonReply, type LoopbackExchange, LoopbackServer } from '../loopback.js';
import { type Interval, intervals, soldPlans } from './payments.js';
import { later, months } from './simulated.js';
import { missing, outcomeOf } from './stripeRefusal.js';
import { amountOf, change, endWithPeriod, type StripeSubscription, type Unpayable } from './stripeSubscription.js';

type Sold = keyof StripeConfig['prices'];

const priceIds = Object.fromEntries(
  soldPlans.flatMap((plan) => intervals.map((interval) => [`${plan}_${interval}`, `price_${plan}_${interval}`])),
) as StripeConfig['prices'];

/** A request as it came. */
export interface StripeRequest {
  method: string;
  path: string;
  form: URLSearchParams;
  headers: IncomingMessage['headers'];
}

/** An order that waits to be paid on its hosted page. */
interface Session {
  customer: string;
  price: string;
  successUrl: string;
}

interface Options {
  clock: Clock;
  /** Where the server is told what happens. */
  publicUrl: string;
  secretKey: string;
  webhookSecret: string;
}

/** What it is told over HTTP. */
interface Instruction {
  session?: string;
  customer?: string;
  status?: string | number;
  card?: Unpayable | 'good';
}

/** What was asked under a key, and answered. */
interface Kept {
  asked: string;
  status: number;
  answer: string;
}

const otherUse = { type: 'idempotency_error', message: 'A key can only be used with the parameters that it was first used with' };

/** Answers what comes under a known key: the same request alone is taken. */
const replay = (kept: Kept, asked: string, reply: JsonReply): void =>
  kept.asked === asked
    ? reply(kept.status, JSON.parse(kept.answer) as object, { 'idempotent-replayed': 'true' })
    : reply(400, { error: otherUse });

/** In how many units Stripe tells one of a currency, where it is not a hundred. */
const units: Record<string, number> = { jpy: 1, kwd: 1000 };

const secondsOf = (date: Date) => Math.floor(date.getTime() / 1000);

/**
 * Stripe in its own wire form on the loopback: customers, checkouts, subscriptions, the portal and bills. Whoever opens the page of a
 * checkout has paid. It does what it is told to over HTTP: `POST /simulator/pay` (`{ session }`), `/simulator/subscription`
 * (`{ customer, status }`: how the customer's latest subscription stands since, such as past_due or canceled), `/simulator/cancel`
 * (`{ customer }`: who cancels it at the portal, so that it ends with the paid time), `/simulator/card` (`{ customer, card }`: refused,
 * none, or good again), `/simulator/down` (`{ status }`: answers that to everything, 0 ends it). The server is told with Stripe's
 * signature, and its HTTP status answered as `{ status }`.
 */
export class StripeSimulator {
  /** What it was asked, the oldest first. */
  readonly asked: StripeRequest[] = [];
  readonly subscriptions = new Map<string, StripeSubscription>();
  /** What it bills in: the prices are the same numbers in each. */
  currency = 'usd';
  /** Answers this status to everything while it is set. */
  failing = 0;
  /** Customers who cannot pay, and why. */
  readonly cards = new Map<string, Unpayable>();
  readonly #sessions = new Map<string, Session>();
  /** Whether each is still there, or was deleted. */
  readonly #customers = new Map<string, boolean>();
  /** By their keys. */
  readonly #kept = new Map<string, Kept>();
  #made = 0;
  #base = '';
  readonly #server = new LoopbackServer((exchange) => this.#answer(exchange));

  constructor(private readonly options: Options) {}

  /** What leads a server to it. Begins to listen when first asked. */
  async config(port = 0): Promise<StripeConfig & { apiBase: string }> {
    const { secretKey, webhookSecret } = this.options;
    this.#base = await this.#server.base(port);
    return { secretKey, webhookSecret, prices: priceIds, apiBase: this.#base };
  }

  close(): void {
    this.#server.close();
  }

  /** Makes a subscription of a customer. */
  subscribe(customer: string, sold: Sold, status = 'active'): StripeSubscription {
    const id = this.#id('sub');
    const now = this.options.clock.now();
    const ends = secondsOf(later(now, months[sold.split('_')[1] as Interval]));
    const price = { id: priceIds[sold], object: 'price' as const };
    const item = { id: `si_${id}`, object: 'subscription_item' as const, price, current_period_end: ends };
    const items = { object: 'list' as const, data: [item] };
    const goesOn = { cancel_at: null, cancel_at_period_end: false };
    const subscription: StripeSubscription = { id, object: 'subscription', customer, status, created: secondsOf(now), items, ...goesOn };
    this.subscriptions.set(id, subscription);
    this.#customers.set(customer, true);
    return subscription;
  }

  /** Deletes a customer, as the dashboard does: its subscriptions end, and nothing more can be done for it. */
  deleteCustomer(customer: string): void {
    this.#customers.set(customer, false);
    for (const one of this.subscriptions.values()) if (one.customer === customer) one.status = 'canceled';
  }

  /** A message as Stripe sends it: its bytes and its signature. */
  message(type: string, object: object): { payload: string; signature: string } {
    const created = secondsOf(this.options.clock.now());
    const about = { id: this.#id('evt'), object: 'event', type, created, api_version: '2026-10-28.endive' };
    const payload = JSON.stringify({ ...about, data: { object } });
    const signed = createHmac('sha256', this.options.webhookSecret).update(`${created}.${payload}`).digest('hex');
    return { payload, signature: `t=${created},v1=${signed}` };
  }

  #id = (kind: string) => `${kind}_${++this.#made}`;

  async #tell(type: string, object: object): Promise<number> {
    const { payload, signature } = this.message(type, object);
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json; charset=utf-8' };
    return (await fetch(`${this.options.publicUrl}/webhooks/stripe`, { method: 'POST', headers, body: payload })).status;
  }

  async #answer({ request, url, body, reply }: LoopbackExchange): Promise<void> {
    const { pathname: path } = url;
    const paid = /^\/pay\/(\w+)$/.exec(path)?.[1];
    if (paid) {
      const session = this.#sessions.get(paid);
      await this.#pay(paid);
      return reply(session ? 303 : 404, {}, session ? { location: session.successUrl } : {});
    }
    if (path.startsWith('/simulator/')) return reply(200, { status: await this.#told(path, JSON.parse(body) as Instruction) });
    const form = new URLSearchParams(body || url.search);
    this.asked.push({ method: request.method!, path, form, headers: request.headers });
    const isKnown = request.headers.authorization === `Bearer ${this.options.secretKey}`;
    const key = request.headers['idempotency-key'];
    const kept = isKnown && !this.failing && typeof key === 'string' ? this.#kept.get(key) : undefined;
    const asked = `${request.method} ${path} ${form}`;
    if (kept) return replay(kept, asked, reply);
    if (!isKnown || this.failing) {
      const message = isKnown ? 'It is down' : 'Invalid API key';
      return reply(this.failing || 401, { error: { type: 'invalid_request_error', message } });
    }
    const { status, body: answer } = outcomeOf(() => this.#reply(`${request.method} ${path}`, form));
    if (typeof key === 'string') this.#kept.set(key, { asked, status, answer: JSON.stringify(answer) });
    reply(status, answer);
  }

  /** Does what it is told; the status that the server answered, where it told it of something. */
  async #told(path: string, { session, customer = '', status, card }: Instruction): Promise<number> {
    if (path === '/simulator/pay') return this.#pay(session);
    if (path === '/simulator/down') {
      this.failing = Number(status);
      return 200;
    }
    if (path === '/simulator/card' && card) {
      if (card === 'good') this.cards.delete(customer);
      else this.cards.set(customer, card);
      return 200;
    }
    const subscription = [...this.subscriptions.values()].findLast((one) => one.customer === customer);
    if (!['/simulator/subscription', '/simulator/cancel'].includes(path) || !subscription) return 404;
    if (path === '/simulator/cancel') endWithPeriod(subscription);
    else subscription.status = String(status);
    return this.#tell(`customer.subscription.${subscription.status === 'canceled' ? 'deleted' : 'updated'}`, subscription);
  }

  /** The customer pays an order, once. */
  async #pay(id = ''): Promise<number> {
    const session = this.#sessions.get(id);
    if (!session || !this.#sessions.delete(id)) return 404;
    const { customer, price } = session;
    const sold = Object.entries(priceIds).find(([, known]) => known === price)![0] as Sold;
    const { id: subscription } = this.subscribe(customer, sold);
    return this.#tell('checkout.session.completed', { id, object: 'checkout.session', customer, subscription });
  }

  #reply(address: string, form: URLSearchParams): object | undefined {
    const [, kind, id] = /\/v1\/(subscriptions|customers)\/([\w-]+)$/.exec(address) ?? [];
    if (id) return kind === 'customers' ? this.#customer(id) : this.#subscription(address, id, form);
    switch (address) {
      case 'POST /v1/customers':
        return this.#newCustomer(`cus_${form.get('metadata[workspace]')}`);
      case 'POST /v1/checkout/sessions':
        return this.#session(form);
      case 'POST /v1/billing_portal/sessions':
        this.#customer(form.get('customer'), 'customer');
        return { id: this.#id('bps'), object: 'billing_portal.session', url: form.get('return_url') };
      case 'GET /v1/subscriptions':
        return { object: 'list', has_more: false, url: '/v1/subscriptions', data: this.#listed(form) };
      case 'GET /v1/invoices':
        return { object: 'list', has_more: false, data: this.#bills(form.get('customer')) };
      default:
        return undefined;
    }
  }

  #subscription(address: string, id: string, form: URLSearchParams): StripeSubscription {
    const subscription = this.subscriptions.get(id);
    if (!subscription) throw missing('subscription', id);
    if (address.startsWith('POST')) change(subscription, form, this.cards.get(subscription.customer));
    return subscription;
  }

  /** Each has an id of its own, also where another of the workspace was deleted. */
  #newCustomer(first: string): object {
    let id = first;
    for (let nth = 2; this.#customers.has(id); nth++) id = `${first}_${nth}`;
    this.#customers.set(id, true);
    return { id, object: 'customer' };
  }

  #customer(id: string | null, param?: string): object {
    if (!id || !this.#customers.get(id)) throw missing('customer', id, param);
    return { id, object: 'customer' };
  }

  /** An order, unless nobody sells what is ordered. */
  #session(form: URLSearchParams): object {
    const [customer, price] = [form.get('customer'), form.get('line_items[0][price]')];
    this.#customer(customer, 'customer');
    if (!customer || !Object.values(priceIds).some((known) => known === price)) throw missing('price', price, 'line_items[0][price]');
    const id = this.#id('cs');
    this.#sessions.set(id, { customer, price: price!, successUrl: form.get('success_url')! });
    return { id, object: 'checkout.session', url: `${this.#base}/pay/${id}` };
  }

  /** The subscriptions of a customer who is there or was, the newest first. */
  #own(customer: string | null): StripeSubscription[] {
    if (!this.#customers.has(customer ?? '')) throw missing('customer', customer, 'customer');
    const own = [...this.subscriptions.values()].filter((one) => one.customer === customer).reverse();
    return own.sort((one, other) => other.created - one.created);
  }

  /** As many of them as are asked for: without a `status` those that are not cancelled. */
  #listed(form: URLSearchParams): StripeSubscription[] {
    const status = form.get('status');
    const isAsked = (one: StripeSubscription) => (status ? status === 'all' || status === one.status : one.status !== 'canceled');
    return this.#own(form.get('customer'))
      .filter(isAsked)
      .slice(0, Number(form.get('limit') ?? 10));
  }

  /** A bill for each subscription of a customer, the newest first. */
  #bills(customer: string | null): object[] {
    return this.#own(customer).map(({ id, created, items: { data } }) => {
      const { currency } = this;
      const total = amountOf(data[0]!.price.id)
        .times(units[currency] ?? 100)
        .toNumber();
      const bill = { id: `in_${id}`, object: 'invoice', number: `A-${id}`, created, total, currency, status: 'paid' };
      return { ...bill, hosted_invoice_url: `${this.#base}/invoices/${id}` };
    });
  }
}
