import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import type { StripeSubscription } from '../../src/vendors/payments/stripeSubscription.js';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { toldByStripe } from '../support/stripe.js';

const secrets = { secretKey: 'sk_test_of_what_is_told', webhookSecret: 'whsec_of_what_is_told' };
const stripe = new StripeSimulator({ clock: systemClock, publicUrl: 'http://127.0.0.1:9', ...secrets });
let api: TestServer;
let acme: Account;
let subscription: StripeSubscription;
beforeAll(async () => {
  api = await server({ config: { stripe: await stripe.config() } });
  acme = await api.seed.account({ plan: 'trial' });
  dataOf(await acme.owner.post('/billing/checkout', { planId: 'standard' }));
  subscription = stripe.subscribe(`cus_${acme.id}`, 'standard_monthly');
});
afterAll(async () => {
  await api.close();
  stripe.close();
});

const { tell: deliver } = toldByStripe(() => api, stripe);

/** What is told as Stripe says how the subscription stands. */
const toldAs = (status: string) =>
  toldIn(acme, () => {
    subscription.status = status;
    return deliver('customer.subscription.updated', subscription);
  });
const changesOf = ({ rows }: { rows: Loose[] }) => rows.map(({ name, changes }) => [name, changes]);
const told = (changes: object) => [['workspace.updated', changes]];

describe('what the payment service changes of a workspace', () => {
  it('is told once, of the workspace, as billing shows it', async () => {
    const { rows, entries } = await toldAs('active');
    const end = new Date(subscription.items.data[0]!.current_period_end * 1000).toISOString();
    expect(rows).toMatchObject([
      {
        ...{ name: 'workspace.updated', entityType: 'workspace', entityId: acme.id },
        data: { id: acme.id, plan: 'standard', memberCount: 1 },
        changes: {
          plan: { from: 'trial', to: 'standard' },
          billingStatus: { from: 'trialing', to: 'active' },
          interval: { from: null, to: 'monthly' },
          currentPeriodEnd: { from: null, to: end },
        },
      },
    ]);
    expect(entries).toEqual([`workspace.updated ${acme.id}`]);
  });

  it('is told no more than it changes, and not where it is said again, or stands in the same words', async () => {
    expect(changesOf(await toldAs('active'))).toEqual([]);
    expect(changesOf(await toldAs('past_due'))).toEqual(told({ billingStatus: { from: 'active', to: 'past_due' } }));
    expect(changesOf(await toldAs('unpaid'))).toEqual([]);
    expect(changesOf(await toldAs('active'))).toEqual(told({ billingStatus: { from: 'past_due', to: 'active' } }));
  });

  it('is not told of a subscription that does not count', async () => {
    const none = stripe.subscribe(`cus_${acme.id}`, 'premium_monthly', 'canceled');
    expect(changesOf(await toldIn(acme, () => deliver('customer.subscription.deleted', none)))).toEqual([]);
  });

  it('is told where somebody moves to another plan, through both APIs', async () => {
    const rest = await toldIn(acme, async () => dataOf(await acme.owner.post('/billing/checkout', { planId: 'premium' })));
    expect(changesOf(rest)).toEqual(told({ plan: { from: 'standard', to: 'premium' } }));
    const mutation = 'mutation { startCheckout(input: { planId: enterprise }) { action } }';
    const graphql = await toldIn(acme, async () => expect((await acme.owner.gql(mutation)).errors).toBeUndefined());
    expect(changesOf(graphql)).toEqual(told({ plan: { from: 'premium', to: 'enterprise' } }));
  });
});

describe('a change of plan that is asked for again under its Idempotency-Key, since nothing could be kept of it', () => {
  it('takes nothing back that came after it', async () => {
    const headers = { 'idempotency-key': 'moved and moved again' };
    const change = () => acme.owner.post('/billing/checkout', { planId: 'premium' }, headers);
    dataOf(await change());
    await api.app.database.prisma.idempotencyKey.deleteMany({ where: { accountId: acme.id } });
    // By the hosted portal.
    subscription.items.data[0]!.price.id = 'price_enterprise_monthly';
    await deliver('customer.subscription.updated', subscription);
    const again = await toldIn(acme, async () => expect(dataOf(await change())).toMatchObject({ plan: 'enterprise' }));
    expect([dataOf(await acme.owner.get('/billing/status')).plan, changesOf(again)]).toEqual(['enterprise', []]);
  });
});

describe('what is told of it', () => {
  it('is heard through both APIs by who may see how a workspace is paid: every session, and no key', async () => {
    const [member, key] = [await acme.member(), await acme.key()];
    const address = '/events?names=workspace.updated';
    const [last] = dataOf(await member.get(`${address}`)).data.slice(-1);
    expect(last).toMatchObject({ name: 'workspace.updated', entityId: acme.id, data: { plan: 'enterprise' } });
    const document = '{ events(names: ["workspace.updated"]) { nodes { entityId record { id ... on Workspace { plan memberCount } } } } }';
    const { nodes } = (await member.gql(document)).data.events;
    expect(nodes.at(-1)).toEqual({ entityId: acme.id, record: { id: acme.id, plan: 'enterprise', memberCount: 2 } });
    expectRefusal(await key.get(address), 403);
    expectGraphQLRefusal(await key.gql(document), 403);
    const all = dataOf(await key.get('/events?per_page=200')).data as Loose[];
    expect(all.filter(({ name }) => name === 'workspace.updated')).toEqual([]);
  });

  it('is written with what tells it, or not at all', async () => {
    await api.app.database.execute(`create function test_untold() returns trigger language plpgsql as $$ begin
        raise exception using errcode = '53100'; end $$;
      create trigger test_untold before insert on outbox_events for each row when (new.name = 'workspace.updated') execute function test_untold()`);
    subscription.status = 'past_due';
    const { payload, signature } = stripe.message('customer.subscription.updated', subscription);
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json; charset=utf-8' };
    const refused = await api.anybody().raw({ method: 'POST', path: '/webhooks/stripe', headers, payload });
    await api.app.database.execute('drop trigger test_untold on outbox_events; drop function test_untold()');
    expect(refused.status).toBe(503);
    expect(dataOf(await acme.owner.get('/billing/status')).billingStatus).toBe('active');
    // As the payment service sends it again.
    const again = await toldIn(
      acme,
      async () => void (await api.anybody().raw({ method: 'POST', path: '/webhooks/stripe', headers, payload })),
    );
    expect(changesOf(again)).toEqual(told({ billingStatus: { from: 'active', to: 'past_due' } }));
  });
});
