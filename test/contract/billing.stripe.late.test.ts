import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import type { StripeSubscription } from '../../src/vendors/payments/stripeSubscription.js';
import { type Account, dataOf, expectRefusal, minute, server, type TestServer, toldIn } from '../support/index.js';
import { eventually } from '../support/live.js';
import { toldByStripe } from '../support/stripe.js';

const secrets = { secretKey: 'sk_test_of_late_messages', webhookSecret: 'whsec_of_late_messages' };
const stripe = new StripeSimulator({ clock: systemClock, publicUrl: 'http://127.0.0.1:9', ...secrets });
let api: TestServer;
beforeAll(async () => {
  api = await server({ config: { stripe: await stripe.config() } });
});
afterAll(async () => {
  await api.close();
  stripe.close();
});

const { tell } = toldByStripe(() => api, stripe);
const status = async (account: Account) => dataOf(await account.owner.get('/billing/status'));
const checkout = (account: Account, planId: string) => account.owner.post('/billing/checkout', { planId });
const create = (account: Account) => account.owner.post('/contacts', { firstName: 'Ada' });
const updated = (subscription: StripeSubscription) => tell('customer.subscription.updated', subscription);

/** An account that pays, and its subscription. */
async function paying(): Promise<[Account, StripeSubscription]> {
  const account = await api.seed.account({ plan: 'trial' });
  dataOf(await checkout(account, 'standard'));
  const subscription = stripe.subscribe(`cus_${account.id}`, 'standard_monthly');
  await updated(subscription);
  return [account, subscription];
}

/** Has the subscriptions looked at that wait to be. */
async function lookAgain(): Promise<void> {
  await api.app.database.execute(
    "update pgboss.job set start_after = now() - interval '1 second' where name = 'lookAtSubscription' and state in ('created', 'retry')",
  );
  api.app.jobs.wake('lookAtSubscription');
}

describe('what is asked by a process whose clock is behind that of the one before', () => {
  it.each([
    ['unpaid', 'active', 201],
    ['past_due', 'canceled', 402],
  ])('is looked at again where a message told it: %s, then %s', async (before, after, made) => {
    const [account, subscription] = await paying();
    api.clock.advance(5 * minute);
    subscription.status = before;
    await updated(subscription);
    api.clock.reset();
    subscription.status = after;
    await updated(subscription);
    expect((await status(account)).billingStatus).toBe('past_due');
    await lookAgain();
    const shown = { active: 'active', canceled: 'cancelled' }[after];
    await eventually(async () => (await status(account)).billingStatus === shown);
    expect((await create(account)).status).toBe(made);
  });

  it('is kept at once where somebody changed the plan', async () => {
    const [account, subscription] = await paying();
    api.clock.advance(5 * minute);
    await updated(subscription);
    api.clock.reset();
    expect(dataOf(await checkout(account, 'premium'))).toMatchObject({ action: 'subscription_updated', plan: 'premium' });
    expect(await status(account)).toMatchObject({ plan: 'premium', billingStatus: 'active' });
  });
});

describe('a customer whom Stripe has not got any more', () => {
  it('has another one in its place, who is told of from then on', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const key = { 'idempotency-key': 'one order' };
    dataOf(await checkout(account, 'standard'));
    stripe.deleteCustomer(`cus_${account.id}`);
    expectRefusal(await account.owner.post('/billing/portal'), 409);
    const order = () => account.owner.post('/billing/checkout', { planId: 'standard' }, key);
    const { url } = dataOf(await order());
    expect(url).toMatch(/\/pay\/cs_\d+$/);
    expect(dataOf(await order()).url).toBe(url);
    expect(stripe.asked.filter(({ path }) => path === '/v1/customers').at(-1)!.headers['idempotency-key']).toBe(
      `crm-workspace-${account.id}-after-cus_${account.id}`,
    );
    expect((await account.owner.post('/billing/portal')).status).toBe(200);
    await updated(stripe.subscribe(`cus_${account.id}_2`, 'standard_monthly'));
    expect(await status(account)).toMatchObject({ plan: 'standard', billingStatus: 'active', hasSubscription: true });
  });

  it('and whose subscription it never had, was one of simulated payments: a plan is sold', async () => {
    const account = await api.seed.account({ plan: 'standard' });
    const simulated = { stripeCustomerId: `sim_cus_${account.id}`, stripeSubscriptionId: `sim_sub_${account.id}`, billingStatus: 'active' };
    await api.app.database.prisma.account.update({ where: { id: account.id }, data: simulated });
    expect(dataOf(await checkout(account, 'premium'))).toMatchObject({ url: expect.stringMatching(/\/pay\/cs_\d+$/), action: null });
    expect(await status(account)).toMatchObject({ billingStatus: 'cancelled', hasSubscription: false });
    await updated(stripe.subscribe(`cus_${account.id}`, 'premium_monthly'));
    expect(await status(account)).toMatchObject({ plan: 'premium', billingStatus: 'active', hasSubscription: true });
  });
});

describe('of two subscriptions that are paid the older one', () => {
  it.each([
    ['canceled', 'customer.subscription.deleted', 'active'],
    ['unpaid', 'customer.subscription.updated', 'active'],
    ['canceled', 'customer.subscription.deleted', 'past_due'],
  ])('counts as soon as the newer one is %s, by %s, and is told once: %s', async (now, message, state) => {
    const [account, older] = await paying();
    const newer = stripe.subscribe(`cus_${account.id}`, 'premium_yearly');
    newer.created = older.created + 60;
    await updated(newer);
    expect(await status(account)).toMatchObject({ plan: 'premium', billingStatus: 'active' });
    older.status = state;
    newer.status = now;
    const { rows } = await toldIn(account, () => tell(message, newer));
    expect(rows.map(({ name }) => name)).toEqual(['workspace.updated']);
    expect(rows[0]!.changes).toMatchObject({ plan: { from: 'premium', to: 'standard' }, interval: { from: 'yearly', to: 'monthly' } });
    expect(await status(account)).toMatchObject({ plan: 'standard', billingStatus: state, hasSubscription: true });
    expect((await create(account)).status).toBe(201);
  });
});

describe('a subscription that has ended at Stripe, of which no message came,', () => {
  it.each(['canceled', 'incomplete_expired'])(
    'is not changed: a new one is sold, and it is kept and told that it has ended (%s)',
    async (now) => {
      const [account, subscription] = await paying();
      subscription.status = now;
      const key = { 'idempotency-key': `a plan ${now}` };
      const { rows } = await toldIn(account, async () => {
        const { url, action } = dataOf(await account.owner.post('/billing/checkout', { planId: 'premium' }, key));
        expect([action, url]).toEqual([null, expect.stringMatching(/\/pay\/cs_\d+$/)]);
      });
      expect(rows.map(({ name, changes }) => [name, changes])).toMatchObject([
        ['workspace.updated', { billingStatus: { from: 'active', to: 'cancelled' } }],
      ]);
      expect(await status(account)).toMatchObject({ plan: 'standard', billingStatus: 'cancelled', hasSubscription: false });
      expectRefusal(await create(account), 402);
    },
  );

  it('gives its place to another one that is paid, which is changed', async () => {
    const [account, older] = await paying();
    const newer = stripe.subscribe(`cus_${account.id}`, 'standard_yearly');
    newer.created = older.created + 60;
    await updated(newer);
    newer.status = 'canceled';
    expect(dataOf(await checkout(account, 'premium'))).toMatchObject({ url: null, subscriptionId: older.id, plan: 'premium' });
    expect(await status(account)).toMatchObject({ plan: 'premium', interval: 'monthly', billingStatus: 'active' });
  });
});

it.each(['usd', 'jpy', 'isk', 'ugx', 'kwd'])('a bill in %s is of as much as Stripe bills in its own units', async (currency) => {
  const [account] = await paying();
  stripe.currency = currency;
  const { invoiceHistory } = await status(account);
  stripe.currency = 'usd';
  expect(invoiceHistory).toMatchObject([{ amount: 49, currency: currency.toUpperCase() }]);
});
