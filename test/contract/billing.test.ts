import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  day,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  minute,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const status = async (client: Client) => dataOf(await client.get('/billing/status'));
const checkout = (client: Client, body: unknown) => client.post('/billing/checkout', body);
const open = (method: string, url: string) => api.anybody().raw({ method, path: url.slice(new URL(url).origin.length) });

/** An account on trial that has bought a plan on the simulator's page. */
async function subscribed(planId = 'standard', interval = 'monthly'): Promise<Account> {
  const account = await api.seed.account({ plan: 'trial' });
  const { url } = dataOf(await checkout(account.owner, { planId, interval }));
  expect((await open('POST', url)).status).toBe(200);
  return account;
}

describe('GET /billing/status', () => {
  it('tells a trial how many days are left, what is used and what is allowed', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    await account.contact();
    await account.member();
    expect(await status(account.owner)).toEqual({
      ...{ plan: 'trial', planName: 'Trial', billingStatus: 'trialing', interval: null, currentPeriodEnd: null, endsAt: null },
      ...{ trialDaysRemaining: 14, hasSubscription: false, invoiceHistory: [] },
      ...{ usage: { contacts: 1, pipelines: 0, users: 2 }, limits: { contacts: 1000, pipelines: 3, users: 3 } },
      health: { level: 'ok', title: 'All is well', description: 'Nothing has to be done.', action: null },
    });
  });

  it('is for every member with a session, and for no key', async () => {
    const account = await api.seed.account();
    expect(await status(await account.member())).toMatchObject({ plan: 'enterprise', billingStatus: 'active', trialDaysRemaining: null });
    expect((await status(account.owner)).limits).toEqual({ contacts: null, pipelines: null, users: null });
    const key = await account.key();
    expectRefusal(await key.get('/billing/status'), 403);
    expectRefusal(await checkout(key, { planId: 'premium' }), 403);
    expectRefusal(await key.post('/billing/portal'), 403);
    expectGraphQLRefusal(await key.gql('{ billingStatus { plan } }'), 403);
  });

  it.each([
    ['standard', { contacts: 10_000, pipelines: 10, users: 10 }],
    ['premium', { contacts: 100_000, pipelines: 50, users: 50 }],
  ])('tells what %s allows, once it is bought', async (plan, limits) => {
    expect(await status((await subscribed(plan)).owner)).toMatchObject({ plan, limits });
  });

  it('warns when the trial or a limit comes to its end', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const health = async () => (await status(await account.login())).health;
    for (let i = 0; i < 2; i++) await account.member();
    expect(await health()).toMatchObject({ level: 'warning', action: 'upgrade', description: '3 of 3 users are used.' });
    api.clock.advance(11.5 * day);
    expect(await health()).toMatchObject({ level: 'warning', action: 'upgrade', title: 'Trial ends soon' });
    api.clock.advance(3 * day);
    expect(await health()).toMatchObject({ level: 'critical', action: 'upgrade', title: 'Trial ended' });
    expect((await status(await account.login())).trialDaysRemaining).toBe(0);
    api.clock.reset();
  });
});

describe('POST /billing/checkout', () => {
  it('answers the address of a page that sells the plan', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const { url, ...rest } = dataOf(await checkout(account.owner, { planId: 'premium', interval: 'yearly' }));
    expect(rest).toEqual({ action: null, subscriptionId: null, plan: null, status: null });
    expect(url.startsWith(`${api.app.config.publicUrl}/billing/simulator?page=`)).toBe(true);
    const page = await open('GET', url);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('Subscribe to Premium, paid yearly.');
    expect((await status(account.owner)).plan).toBe('trial');
    expect((await open('POST', url)).text).toContain('The plan is active.');
    const after = await status(account.owner);
    expect(after).toMatchObject({
      plan: 'premium',
      billingStatus: 'active',
      interval: 'yearly',
      hasSubscription: true,
      trialDaysRemaining: null,
    });
    expect(after.invoiceHistory).toMatchObject([{ amount: 1490, currency: 'USD', status: 'paid' }]);
    const year = Date.parse(after.currentPeriodEnd) - api.clock.now().getTime();
    expect(Math.round(year / day)).toBeGreaterThanOrEqual(365);
  });

  it('counts a page once, however often it is confirmed, and no page that is forged or old', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const { url } = dataOf(await checkout(account.owner, { planId: 'standard' }));
    expect((await open('POST', url)).status).toBe(200);
    await expectNothingWritten(api, async () => expect((await open('POST', url)).status).toBe(200));
    await expectNothingWritten(api, async () => {
      const [text, seal] = [url.slice(0, url.lastIndexOf('.')), url.slice(url.lastIndexOf('.') + 1)];
      for (const forged of [`${url}x`, `${text}.`, `${text.slice(0, -2)}.${seal}`]) expectRefusal(await open('POST', forged), 400);
      api.clock.advance(2 * day);
      expectRefusal(await open('POST', url), 400);
      expectRefusal(await open('GET', url), 400);
      api.clock.reset();
    });
  });
});

describe('what POST /billing/checkout does besides', () => {
  it('changes an existing subscription at once', async () => {
    const account = await subscribed();
    const { subscriptionId, ...changed } = dataOf(await checkout(account.owner, { planId: 'enterprise', interval: 'yearly' }));
    expect(changed).toEqual({ url: null, action: 'subscription_updated', plan: 'enterprise', status: 'active' });
    expect(subscriptionId).toMatch(/^sim_sub_/);
    expect(await status(account.owner)).toMatchObject({ plan: 'enterprise', interval: 'yearly' });
  });

  it('lifts the limits of the trial at once', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    for (let i = 0; i < 2; i++) await account.member();
    expectRefusal(await account.owner.post('/users/invite', { email: 'fourth@example.com' }), 402);
    const { url } = dataOf(await checkout(account.owner, { planId: 'standard' }));
    await open('POST', url);
    dataOf(await account.owner.post('/users/invite', { email: 'fourth@example.com' }));
  });

  it('refuses what is no plan, no interval, and whoever does not manage billing', async () => {
    const account = await api.seed.account();
    for (const body of [{}, { planId: 'trial' }, { planId: null }, { planId: 7 }])
      expectRefusal(await checkout(account.owner, body), 400, 'planId');
    expectRefusal(await checkout(account.owner, { planId: 'premium', interval: 'weekly' }), 400, 'interval');
    expectRefusal(await checkout(await account.member(), { planId: 'premium' }), 403);
    expectRefusal(await (await account.member()).post('/billing/portal'), 403);
    dataOf(await checkout(await account.member('admin'), { planId: 'premium' }));
  });
});

describe('POST /billing/portal', () => {
  it('needs a customer, and leads to where the subscription can be cancelled', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    expectRefusal(await account.owner.post('/billing/portal'), 409);
    const { url: shop } = dataOf(await checkout(account.owner, { planId: 'standard' }));
    expect((await open('GET', dataOf(await account.owner.post('/billing/portal')).url)).text).toContain('There is none');
    await open('POST', shop);
    const { url } = dataOf(await account.owner.post('/billing/portal'));
    expect((await open('GET', url)).text).toContain('Cancel the subscription');
    await open('POST', url);
    expect(await status(account.owner)).toMatchObject({
      ...{ plan: 'standard', billingStatus: 'cancelled', hasSubscription: false, invoiceHistory: [] },
      health: { level: 'critical', action: 'subscribe' },
    });
    expectRefusal(await account.owner.post('/contacts', { firstName: 'Late' }), 402);
    dataOf(await account.owner.get('/contacts'));
    await open('POST', dataOf(await checkout(account.owner, { planId: 'standard' })).url);
    expect(await status(account.owner)).toMatchObject({ billingStatus: 'active', hasSubscription: true });
    await account.contact();
  });
});

describe('billing in GraphQL', () => {
  it('tells and sells the same', async () => {
    const account = await subscribed('premium');
    const { data } = await account.owner.gql('{ billingStatus { plan health { level } usage { users } invoiceHistory { amount } } }');
    expect(data.billingStatus).toEqual({
      plan: 'premium',
      health: { level: 'ok' },
      usage: { users: 1 },
      invoiceHistory: [{ amount: 149 }],
    });
    const changed = await account.owner.gql('mutation { startCheckout(input: { planId: standard }) { action plan status } }');
    expect(changed.data.startCheckout).toEqual({ action: 'subscription_updated', plan: 'standard', status: 'active' });
  });
});

it('ends a subscription that was bought of a process whose clock is ahead', async () => {
  api.clock.advance(5 * minute);
  const account = await subscribed();
  api.clock.reset();
  expect((await open('POST', dataOf(await account.owner.post('/billing/portal')).url)).status).toBe(200);
  expect(await status(account.owner)).toMatchObject({ billingStatus: 'cancelled', hasSubscription: false });
});

it('has no Stripe endpoint where payments are simulated', async () => {
  expectRefusal(await api.anybody().raw({ method: 'POST', path: '/webhooks/stripe', payload: '{}' }), 404);
});

describe('the page that the payment service leads back to', () => {
  it.each([
    ['?checkout=success', 'Thank you', 'has taken your order'],
    ['?checkout=cancelled', 'Your plan', 'Nothing was ordered'],
    ['?checkout=toString', 'Your plan', 'as soon as the payment service has told us'],
    ['', 'Your plan', 'as soon as the payment service has told us'],
  ])('says what came of it: %s', async (query, title, words) => {
    const { status, headers, text } = await api.anybody().raw({ path: `/billing${query}` });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(words);
  });
});
