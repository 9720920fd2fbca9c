import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import type { StripeSubscription } from '../../src/vendors/payments/stripeSubscription.js';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, dataOf, day, expectNothingWritten, expectRefusal, minute, server, type TestServer } from '../support/index.js';
import { toldByStripe } from '../support/stripe.js';

const secrets = { secretKey: 'sk_test_of_the_tests', webhookSecret: 'whsec_of_the_tests' };
const stripe = new StripeSimulator({ clock: systemClock, publicUrl: 'http://127.0.0.1:9', ...secrets });
let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { stripe: await stripe.config() } });
  acme = await api.seed.account({ plan: 'trial' });
});
afterAll(async () => {
  await api.close();
  stripe.close();
});

const status = async (account = acme) => dataOf(await account.owner.get('/billing/status'));
const checkout = (body: object, account = acme) => account.owner.post('/billing/checkout', body);
const customer = (account = acme) => `cus_${account.id}`;
const last = (path: string) => stripe.asked.filter((asked) => asked.path === path).at(-1)!;
const page = /^http:\/\/127\.0\.0\.1:\d+\/pay\/cs_\d+$/;
const endOf = ({ items }: StripeSubscription) => items.data[0]!.current_period_end;

const { deliver, tell } = toldByStripe(() => api, stripe);

describe('asking Stripe', () => {
  it('for a checkout makes the customer once and answers the hosted page', async () => {
    for (const interval of ['monthly', 'yearly']) {
      expect(dataOf(await checkout({ planId: 'premium', interval })).url).toMatch(page);
      expect(last('/v1/checkout/sessions').form.get('line_items[0][price]')).toBe(`price_premium_${interval}`);
    }
    const made = stripe.asked.filter(({ path }) => path === '/v1/customers');
    expect(made.length).toBe(1);
    expect(made[0]!.headers).toMatchObject({ authorization: 'Bearer sk_test_of_the_tests', 'idempotency-key': `crm-workspace-${acme.id}` });
    expect(Object.fromEntries(made[0]!.form)).toEqual({ 'metadata[workspace]': acme.id });
    expect(Object.fromEntries(last(`/v1/customers/${customer()}`).form)).toEqual({ name: 'Acme', email: acme.ownerEmail });
    const { form } = last('/v1/checkout/sessions');
    expect(Object.fromEntries(form)).toMatchObject({
      ...{ mode: 'subscription', customer: customer(), 'line_items[0][quantity]': '1' },
      success_url: `${api.app.config.publicUrl}/billing?checkout=success`,
    });
    expect(await status()).toMatchObject({ plan: 'trial', hasSubscription: false });
  });

  it('for a customer who could not be kept is told of the same one, whoever asks next', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'standard' }, account));
    await api.app.database.prisma.account.update({ where: { id: account.id }, data: { stripeCustomerId: null } });
    const admin = await account.member('admin');
    expect(dataOf(await admin.post('/billing/checkout', { planId: 'standard' })).url).toMatch(page);
    expect(last('/v1/checkout/sessions').form.get('customer')).toBe(customer(account));
    expect(last(`/v1/customers/${customer(account)}`).form.get('email')).toBe(admin.email);
  });

  it('for the portal answers the hosted one', async () => {
    expect(dataOf(await acme.owner.post('/billing/portal')).url).toBe(`${api.app.config.publicUrl}/billing`);
    expect(last('/v1/billing_portal/sessions').form.get('customer')).toBe(customer());
  });
});

describe('a subscription at Stripe', () => {
  it('is, after any message about it, kept as Stripe tells it now', async () => {
    const subscription = stripe.subscribe(customer(), 'premium_yearly');
    await tell('checkout.session.completed', { object: 'checkout.session', subscription: subscription.id, customer: customer() });
    expect(await status()).toMatchObject({
      ...{
        plan: 'premium',
        billingStatus: 'active',
        interval: 'yearly',
        currentPeriodEnd: new Date(endOf(subscription) * 1000).toISOString(),
        hasSubscription: true,
      },
      invoiceHistory: [{ id: `in_${subscription.id}`, number: `A-${subscription.id}`, amount: 1490, currency: 'USD', status: 'paid' }],
    });
    subscription.status = 'past_due';
    const invoice = {
      object: 'invoice',
      parent: { type: 'subscription_details', subscription_details: { subscription: subscription.id } },
    };
    await tell('invoice.payment_failed', invoice);
    expect(await status()).toMatchObject({ billingStatus: 'past_due', health: { level: 'critical', action: 'update_payment_method' } });
    subscription.status = 'active';
    await tell('invoice.paid', invoice);
    expect((await status()).billingStatus).toBe('active');
  });

  it('moves to another plan at once, prorated', async () => {
    const subscriptionId = [...stripe.subscriptions.keys()][0]!;
    expect(dataOf(await checkout({ planId: 'enterprise' }))).toEqual({
      ...{ url: null, action: 'subscription_updated', subscriptionId, plan: 'enterprise', status: 'active' },
    });
    expect(Object.fromEntries(last(`/v1/subscriptions/${subscriptionId}`).form)).toEqual({
      ...{ 'items[0][id]': `si_${subscriptionId}`, 'items[0][price]': 'price_enterprise_monthly', proration_behavior: 'always_invoice' },
      payment_behavior: 'error_if_incomplete',
    });
    expect(await status()).toMatchObject({ plan: 'enterprise', interval: 'monthly' });
  });

  it('hears each message once', async () => {
    const subscription = [...stripe.subscriptions.values()][0]!;
    const message = stripe.message('customer.subscription.updated', subscription);
    expect((await deliver(message)).status).toBe(200);
    await expectNothingWritten(api, async () => expect((await deliver(message)).status).toBe(200));
  });

  it('is never what was asked earlier, once something was asked later', async () => {
    const subscription = [...stripe.subscriptions.values()][0]!;
    api.clock.advance(-5 * minute);
    subscription.status = 'past_due';
    await tell('customer.subscription.updated', subscription);
    api.clock.reset();
    expect((await status()).billingStatus).toBe('active');
    subscription.status = 'active';
  });

  it('outlives the end of an older one, and ends with its own', async () => {
    const subscription = [...stripe.subscriptions.values()][0]!;
    await tell('customer.subscription.deleted', stripe.subscribe(customer(), 'standard_monthly', 'canceled'));
    expect(await status()).toMatchObject({ plan: 'enterprise', billingStatus: 'active' });
    subscription.status = 'canceled';
    await tell('customer.subscription.deleted', subscription);
    expect(await status()).toMatchObject({ billingStatus: 'cancelled', hasSubscription: false });
    expectRefusal(await acme.owner.post('/products', { name: 'Late' }), 402);
    expect(dataOf(await checkout({ planId: 'standard' })).url).toMatch(page);
  });
});

const makes = async (account: Account) => (await account.owner.post('/contacts', { firstName: 'Ada' })).status;
const updated = (subscription: StripeSubscription) => tell('customer.subscription.updated', subscription);

describe('a change of plan under an Idempotency-Key', () => {
  it('is one at Stripe, also where nothing could be kept of it', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'standard' }, account));
    const subscription = stripe.subscribe(customer(account), 'standard_monthly');
    await updated(subscription);
    const change = () => account.owner.post('/billing/checkout', { planId: 'premium' }, { 'idempotency-key': 'one change of plan' });
    dataOf(await change());
    // As if the process had died, or the database gone, before it was kept.
    await api.app.database.prisma.idempotencyKey.deleteMany({ where: { accountId: account.id } });
    dataOf(await change());
    const asked = stripe.asked.filter(({ method, path }) => method === 'POST' && path === `/v1/subscriptions/${subscription.id}`);
    const [first, second] = asked.map(({ headers }) => headers['idempotency-key']);
    expect([first, asked.length]).toEqual([expect.stringMatching(/^crm-change-/), 2]);
    expect(second).toBe(first);
  });
});

describe('a subscription that is not paid', () => {
  it('changes nothing where its first payment never came: the trial goes on', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'enterprise' }, account));
    const subscription = stripe.subscribe(customer(account), 'enterprise_monthly', 'incomplete');
    const trial = { plan: 'trial', billingStatus: 'trialing', hasSubscription: false };
    for (const now of ['incomplete', 'incomplete_expired']) {
      subscription.status = now;
      await updated(subscription);
      expect(await status(account)).toMatchObject(trial);
      expect([await makes(account), dataOf(await checkout({ planId: 'premium' }, account)).url]).toEqual([
        201,
        expect.stringMatching(page),
      ]);
    }
    const other = stripe.subscribe(customer(account), 'premium_monthly', 'incomplete');
    await updated(other);
    other.status = 'active';
    await updated(other);
    expect(await status(account)).toMatchObject({ plan: 'premium', billingStatus: 'active', hasSubscription: true });
  });

  it.each(['unpaid', 'paused'])('lets nothing be made once nobody tries to have it paid any more, and is kept: %s', async (now) => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'standard' }, account));
    const subscription = stripe.subscribe(customer(account), 'standard_monthly');
    await updated(subscription);
    subscription.status = now;
    await updated(subscription);
    expect(await status(account)).toMatchObject({
      ...{ plan: 'standard', billingStatus: 'past_due', hasSubscription: true },
      health: { level: 'critical', title: 'Subscription unpaid', action: 'update_payment_method' },
    });
    expectRefusal(await account.owner.post('/contacts', { firstName: 'Ada' }), 402);
    expect((await account.owner.get('/contacts')).status).toBe(200);
    expect(dataOf(await checkout({ planId: 'premium' }, account)).action).toBe('subscription_updated');
    subscription.status = 'active';
    await updated(subscription);
    expect([await makes(account), (await status(account)).billingStatus]).toEqual([201, 'active']);
  });
});

describe('of two subscriptions that are paid the older one', () => {
  it('never takes the place of the newer one, whatever is told of it', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'standard' }, account));
    const older = stripe.subscribe(customer(account), 'standard_monthly');
    api.clock.advance(minute);
    const newer = stripe.subscribe(customer(account), 'premium_monthly');
    newer.created = older.created + 60;
    for (const subscription of [older, newer]) await updated(subscription);
    for (const now of ['active', 'past_due', 'unpaid']) {
      older.status = now;
      await updated(older);
      expect(await status(account)).toMatchObject({ plan: 'premium', billingStatus: 'active' });
    }
    newer.status = 'canceled';
    await tell('customer.subscription.deleted', newer);
    expect(await status(account)).toMatchObject({ billingStatus: 'cancelled', hasSubscription: false });
    older.status = 'active';
    await updated(older);
    expect(await status(account)).toMatchObject({ plan: 'standard', billingStatus: 'active', hasSubscription: true });
    api.clock.reset();
  });
});

describe('what comes to /webhooks/stripe', () => {
  it('changes nothing unless Stripe signed just that, just now', async () => {
    const { payload, signature } = stripe.message('customer.subscription.updated', stripe.subscribe(customer(), 'premium_monthly'));
    await expectNothingWritten(api, async () => {
      expectRefusal(await deliver({ payload, signature: '' }), 400);
      expectRefusal(await deliver({ payload: payload.replace('updated', 'deleted'), signature }), 400);
      expectRefusal(await deliver({ payload, signature: signature.replace(/v1=(.)/, (_, digit) => `v1=${digit === '0' ? 1 : 0}`) }), 400);
      expectRefusal(await deliver({ payload, signature: signature.replace(/t=\d+/, 't=1') }), 400);
    });
  });

  it('is taken and forgotten when it is about nobody here, or of no interest', async () => {
    await expectNothingWritten(api, async () => {
      await tell('customer.subscription.created', stripe.subscribe('cus_unknown', 'premium_monthly'));
      await tell('customer.created', { object: 'customer', id: customer() });
    });
  });

  it('is 502 while Stripe fails, as the rest is; the status does without the bills', async () => {
    const other = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout({ planId: 'standard' }, other));
    stripe.failing = 400;
    expectRefusal(await checkout({ planId: 'standard' }, other), 502);
    expectRefusal(await other.owner.post('/billing/portal'), 502);
    expect(await status(other)).toMatchObject({ plan: 'trial', invoiceHistory: [] });
    expectRefusal(
      await deliver(stripe.message('customer.subscription.updated', stripe.subscribe(customer(other), 'premium_monthly'))),
      502,
    );
    stripe.failing = 0;
    expect((await status(other)).invoiceHistory.length).toBe(1);
  });

  it('comes to a server without simulated pages', async () => {
    expectRefusal(await api.anybody().raw({ path: '/billing/simulator?page=x.y' }), 404);
  });
});

describe('the configuration of Stripe', () => {
  it('is whole or absent', () => {
    expect(readConfig({}).stripe).toBeUndefined();
    expect(() => readConfig({ STRIPE_SECRET_KEY: 'sk_test_1' })).toThrow('STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY');
    const env = Object.fromEntries(
      ['STANDARD', 'PREMIUM', 'ENTERPRISE'].flatMap((plan) =>
        ['MONTHLY', 'YEARLY'].map((time) => [`STRIPE_PRICE_${plan}_${time}`, `price_${plan}`]),
      ),
    );
    const { stripe } = readConfig({ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1', ...env });
    expect(stripe).toMatchObject({ secretKey: 'sk_test_1', webhookSecret: 'whsec_1', prices: { premium_yearly: 'price_PREMIUM' } });
  });
});

it('forgets messages a month after them', async () => {
  const known = () => api.app.database.prisma.billingEvent.count({ where: { accountId: acme.id } });
  await sweep(api.app);
  expect(await known()).toBeGreaterThan(0);
  api.clock.advance(31 * day);
  try {
    await sweep(api.app);
    expect(await known()).toBe(0);
  } finally {
    api.clock.reset();
  }
});
