import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import type { StripeConfig } from '../../src/kernel/base/config.js';
import type { Loose } from './client.js';

const webhookSecret = 'whsec_of_the_tests';
const prices = Object.fromEntries(
  ['standard', 'premium', 'enterprise'].flatMap((plan) =>
    ['monthly', 'yearly'].map((interval) => [`${plan}_${interval}`, `price_${plan}_${interval}`]),
  ),
) as StripeConfig['prices'];

/** One request as it came. */
export interface Asked {
  method: string;
  path: string;
  form: URLSearchParams;
  headers: IncomingMessage['headers'];
}

/** A stand-in for Stripe's API on the loopback: it keeps customers and subscriptions, and tells what it was asked. */
export class StripeDouble {
  readonly asked: Asked[] = [];
  readonly subscriptions = new Map<string, Loose>();
  /** Answers this status to everything while it is set. */
  failing = 0;
  #made = 0;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<StripeConfig> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    const { port } = this.#server.address() as AddressInfo;
    return { secretKey: 'sk_test_double', webhookSecret, prices, apiBase: `http://127.0.0.1:${port}` };
  }

  stop = () =>
    new Promise<void>((stopped) => {
      this.#server.close(() => stopped());
      this.#server.closeAllConnections();
    });

  /** A subscription as Stripe would keep it. */
  subscribe(customer: string, plan: keyof StripeConfig['prices'], status = 'active', id = `sub_${++this.#made}`): Loose {
    const item = {
      id: `si_${id}`,
      object: 'subscription_item',
      price: { id: prices[plan], object: 'price' },
      current_period_end: 1_900_000_000,
    };
    const subscription = { id, object: 'subscription', customer, status, items: { object: 'list', data: [item] } };
    this.subscriptions.set(id, subscription);
    return subscription;
  }

  /** A message as Stripe would send it: its bytes and its signature. */
  message(type: string, object: object, id = `evt_${++this.#made}`): { payload: string; signature: string } {
    const payload = JSON.stringify({
      id,
      object: 'event',
      type,
      created: 1_800_000_000,
      api_version: '2026-10-28.endive',
      data: { object },
    });
    const signature = new Stripe('sk_test_double').webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    return { payload, signature };
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!.split('?')[0]!;
    const form = new URLSearchParams(chunks.length > 0 ? Buffer.concat(chunks).toString() : request.url!.split('?')[1]);
    this.asked.push({ method: request.method!, path, form, headers: request.headers });
    const body = this.failing ? undefined : this.#reply(`${request.method} ${path}`, form);
    const status = this.failing || (body ? 200 : 404);
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
    response.end(JSON.stringify(body ?? { error: { type: 'api_error', message: 'No such thing' } }));
  }

  #reply(address: string, form: URLSearchParams): Loose {
    const subscription = this.subscriptions.get(/\/v1\/subscriptions\/(\w+)$/.exec(address)?.[1] ?? '');
    if (subscription && address.startsWith('POST')) subscription.items.data[0].price.id = form.get('items[0][price]');
    if (subscription) return subscription;
    switch (address) {
      case 'POST /v1/customers':
        return { id: `cus_${form.get('metadata[workspace]')}`, object: 'customer' };
      case 'POST /v1/checkout/sessions':
        return { id: 'cs_1', object: 'checkout.session', url: `https://checkout.example/${form.get('line_items[0][price]')}` };
      case 'POST /v1/billing_portal/sessions':
        return { id: 'bps_1', object: 'billing_portal.session', url: `https://portal.example/${form.get('customer')}` };
      case 'GET /v1/invoices':
        return { object: 'list', has_more: false, data: [bill] };
      default:
        return undefined;
    }
  }
}

const bill = {
  ...{ id: 'in_1', object: 'invoice', number: 'A-0001', created: 1_790_000_000, total: 14_900, currency: 'usd', status: 'paid' },
  hosted_invoice_url: 'https://invoice.example/in_1',
};
