import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { StripeSimulator, type StripeSubscription } from '../../src/vendors/payments/stripeSimulator.js';
import { type Account, dataOf, minute, server, type TestServer } from '../support/index.js';
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
