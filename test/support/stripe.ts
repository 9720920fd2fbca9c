import { expect } from '@jest/globals';
import type { StripeSimulator } from '../../src/vendors/payments/stripeSimulator.js';
import type { Loose } from './client.js';
import type { TestServer } from './server.js';

/** How a server is told what Stripe has to tell. */
export function toldByStripe(api: () => TestServer, stripe: StripeSimulator) {
  const deliver = ({ payload, signature }: { payload: string; signature: string }) => {
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json; charset=utf-8' };
    return api().anybody().raw({ method: 'POST', path: '/webhooks/stripe', headers, payload });
  };
  const tell = async (type: string, object: Loose) => {
    const reply = await deliver(stripe.message(type, object));
    expect(reply).toMatchObject({ status: 200, body: { received: true } });
  };
  return { deliver, tell };
}
