import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import { endWithPeriod, type StripeSubscription } from '../../src/vendors/payments/stripeSubscription.js';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  minute,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { toldByStripe } from '../support/stripe.js';

const secrets = { secretKey: 'sk_test_of_changes', webhookSecret: 'whsec_of_changes' };
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
const checkout = (account: Account, planId: string, headers = {}) => account.owner.post('/billing/checkout', { planId }, headers);
const updated = (subscription: StripeSubscription) => tell('customer.subscription.updated', subscription);

/** An account that pays, and its subscription. */
async function paying(): Promise<[Account, StripeSubscription]> {
  const account = await api.seed.account({ plan: 'trial' });
  dataOf(await checkout(account, 'standard'));
  const subscription = stripe.subscribe(`cus_${account.id}`, 'standard_monthly');
  await updated(subscription);
  return [account, subscription];
}

const kinds: [string, boolean][] = [
  ['by a mark', true],
  ['by its date', false],
];

describe('a subscription that was cancelled at the portal, and ends with the time that is paid,', () => {
  it.each(kinds)('is active and says when it ends (%s), which is told once', async (_how, isMarked) => {
    const [account, subscription] = await paying();
    endWithPeriod(subscription, isMarked);
    const endsAt = new Date(subscription.items.data[0]!.current_period_end * 1000).toISOString();
    const { rows } = await toldIn(account, async () => {
      for (let n = 0; n < 2; n++) await updated(subscription);
    });
    expect(rows.map(({ name, changes }) => [name, changes])).toEqual([['workspace.updated', { endsAt: { from: null, to: endsAt } }]]);
    const description = `It ends on ${endsAt.slice(0, 10)}, unless a plan is taken before.`;
    expect(await status(account)).toMatchObject({
      ...{ plan: 'standard', billingStatus: 'active', endsAt },
      health: { level: 'warning', title: 'Subscription ends', description, action: 'subscribe' },
    });
  });

  it.each(kinds)('goes on for who takes a plan before (%s): another, or the same', async (_how, isMarked) => {
    for (const plan of ['premium', 'standard']) {
      const [account, subscription] = await paying();
      endWithPeriod(subscription, isMarked);
      await updated(subscription);
      expect(dataOf(await checkout(account, plan))).toMatchObject({ action: 'subscription_updated', plan, status: 'active' });
      expect(subscription).toMatchObject({ cancel_at: null, cancel_at_period_end: false });
      expect(await status(account)).toMatchObject({ plan, endsAt: null, health: { level: 'ok' } });
    }
  });

  it('has no end to come once it has ended', async () => {
    const [account, subscription] = await paying();
    endWithPeriod(subscription);
    await updated(subscription);
    subscription.status = 'canceled';
    await tell('customer.subscription.deleted', subscription);
    expect(await status(account)).toMatchObject({ billingStatus: 'cancelled', endsAt: null, health: { title: 'Subscription ended' } });
  });
});

describe('a subscription that was not asked about for a day', () => {
  /** As it is kept by a server that has just learned to keep the end. */
  async function forget({ id }: Account): Promise<void> {
    const data = { subscriptionEndsAt: null, billingAskedAt: new Date(api.clock.now().getTime() - day - minute) };
    await api.app.database.prisma.account.update({ where: { id }, data });
  }
  const looks = async ({ id }: StripeSubscription) => {
    const text = `select state::text as state from pgboss.job where name = 'lookAtSubscription' and data @> $1::jsonb`;
    return (await api.app.database.execute(text, [JSON.stringify({ data: { subscriptionId: id } })])).rows;
  };

  /** The periods of the queue begin at midnight and noon. */
  const halfDay = () => Math.floor(Date.now() / (day / 2));

  it('is asked about behind whoever reads the status: its end is told', async () => {
    const [account, subscription] = await paying();
    endWithPeriod(subscription);
    await updated(subscription);
    const { endsAt } = await status(account);
    expect(await looks(subscription)).toEqual([]);
    await forget(account);
    const { rows } = await toldIn(account, async () => {
      expect(await status(account)).toMatchObject({ endsAt: null, health: { level: 'ok' } });
      await eventually(async () => (await status(account)).endsAt === endsAt);
    });
    expect(rows.map(({ name, changes }) => [name, changes])).toEqual([['workspace.updated', { endsAt: { from: null, to: endsAt } }]]);
    expect((await status(account)).health).toMatchObject({ level: 'warning', title: 'Subscription ends' });
  });

  it('is asked about once in half a day, and goes on where Stripe does not know it', async () => {
    const [account, subscription] = await paying();
    stripe.subscriptions.delete(subscription.id);
    await forget(account);
    const began = halfDay();
    for (let n = 0; n < 3; n++) await status(account);
    const periods = 1 + halfDay() - began;
    await eventually(async () => (await looks(subscription)).every(({ state }: Loose) => state === 'completed'));
    const { length } = await looks(subscription);
    expect([length > 0, length <= periods]).toEqual([true, true]);
    expect(await status(account)).toMatchObject({ plan: 'standard', billingStatus: 'active', hasSubscription: true });
  });
});

describe('a change of plan that took back a cancellation, and is asked for again under its Idempotency-Key,', () => {
  it('takes back no cancellation that came after it', async () => {
    const [account, subscription] = await paying();
    const change = () => checkout(account, 'premium', { 'idempotency-key': 'one change and no other' });
    endWithPeriod(subscription);
    dataOf(await change());
    // As if the process had died, or the database gone, before it was kept.
    await api.app.database.prisma.idempotencyKey.deleteMany({ where: { accountId: account.id } });
    dataOf(await change());
    expect(subscription).toMatchObject({ cancel_at: null });
    await api.app.database.prisma.idempotencyKey.deleteMany({ where: { accountId: account.id } });
    endWithPeriod(subscription);
    dataOf(await change());
    expect(subscription.cancel_at).not.toBeNull();
    expect((await status(account)).endsAt).not.toBeNull();
  });
});

describe('a plan that is dearer, and is not paid,', () => {
  it.each(['refused', 'none'] as const)('is not given: the subscription is as it was, its end among it (the card: %s)', async (card) => {
    const [account, subscription] = await paying();
    endWithPeriod(subscription);
    await updated(subscription);
    stripe.cards.set(subscription.customer, card);
    const [before, kept] = [await status(account), structuredClone(subscription)];
    await expectNothingWritten(api, async () => {
      const refused = await checkout(account, 'enterprise');
      expectRefusal(refused, 402);
      expect(refused.body).toMatchObject({ code: 'payment_required', error: expect.stringMatching(/^The payment was refused/) });
    });
    expect([await status(account), subscription]).toEqual([before, kept]);
  });

  it('is given under another Idempotency-Key, once it can be paid', async () => {
    const [account, subscription] = await paying();
    const change = (key: string) => checkout(account, 'enterprise', { 'idempotency-key': key });
    stripe.cards.set(subscription.customer, 'refused');
    expectRefusal(await change('with the first card'), 402);
    stripe.cards.delete(subscription.customer);
    expectRefusal(await change('with the first card'), 402);
    expect(dataOf(await change('with the other card'))).toMatchObject({ plan: 'enterprise', status: 'active' });
    expect(await status(account)).toMatchObject({ plan: 'enterprise', billingStatus: 'active' });
  });

  it('stands in the way of no cheaper one', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    dataOf(await checkout(account, 'premium'));
    const subscription = stripe.subscribe(`cus_${account.id}`, 'premium_monthly');
    await updated(subscription);
    stripe.cards.set(subscription.customer, 'refused');
    expect(dataOf(await checkout(account, 'standard'))).toMatchObject({ plan: 'standard', status: 'active' });
  });
});
