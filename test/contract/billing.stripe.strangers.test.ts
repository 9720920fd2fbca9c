import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import { expectRefusal, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { toldByStripe } from '../support/stripe.js';

const secrets = { secretKey: 'sk_test_of_the_tests', webhookSecret: 'whsec_of_the_tests' };
const stripe = new StripeSimulator({ clock: systemClock, publicUrl: 'http://127.0.0.1:9', ...secrets });
let few: TestServer;
beforeAll(async () => {
  few = await server({ limits: { general: 3 }, config: { stripe: await stripe.config() } });
});
afterAll(async () => {
  await few.close();
  stripe.close();
});

const { deliver, tell } = toldByStripe(() => few, stripe);
const customer = { object: 'customer', id: 'cus_of_nobody' };

/** How many posts were answered with a status, as the metrics tell it. */
async function answeredWith(status: number): Promise<number> {
  const { values } = await few.metrics.requests.get();
  const isOfThem = ({ metricName, labels }: (typeof values)[number]) =>
    metricName?.endsWith('_count') && labels.route === 'POST /webhooks/stripe' && labels.status === status;
  return values.find(isOfThem)?.value ?? 0;
}

describe('messages that Stripe did not sign', () => {
  it('are limited by their address, and counted; those that it signed are not limited', async () => {
    const { payload, signature } = stripe.message('customer.created', customer);
    for (const wrong of ['', 'forged', signature.replace(/t=\d+/, 't=1')]) expectRefusal(await deliver({ payload, signature: wrong }), 400);
    const refused = await deliver({ payload, signature: '' });
    expectRefusal(refused, 429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++) await tell('customer.created', customer);
    expectRefusal(await deliver({ payload, signature: 'forged' }), 429);
    await eventually(async () => (await answeredWith(400)) === 3 && (await answeredWith(429)) === 2 && (await answeredWith(200)) === 5);
    expect((await few.metrics.refusals.get()).values).toMatchObject([{ labels: { route: 'POST /webhooks/stripe' }, value: 2 }]);
  });

  it('take none of the other requests of their address', async () => {
    expect((await few.anybody().get('/openapi.json')).status).not.toBe(429);
  });
});
