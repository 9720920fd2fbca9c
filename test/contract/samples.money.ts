import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

const aProduct = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/products', { name: `Widget ${n}`, price: 12.5, sku: `W-${n}` })).id as string;
const onProduct: MakeSample = async (account, n) => ({ params: { id: await aProduct(account, n) } });

const onInvoice: MakeSample = async (account, n) => ({
  params: { id: (await account.invoice({ contactId: (await account.contact({ firstName: `Payer ${n}` })).id })).id },
});

/** Samples of products, invoices and billing. */
export const moneySamples: Record<string, MakeSample> = {
  'GET /products': async (account, n) => ({ query: `search=w-${n}&is_active=true`, params: await aProduct(account, n).then(() => ({})) }),
  'POST /products': (_account, n) => ({
    body: { name: `Made ${n}`, price: '19.99', sku: `M-${n}`, unit: 'each', taxable: false, active: true, metadata: { shelf: [n] } },
  }),
  'GET /products/{id}': onProduct,
  'PATCH /products/{id}': async (account, n) => ({ ...(await onProduct(account, n)), body: { price: 20, isActive: false } }),
  'DELETE /products/{id}': onProduct,

  'GET /invoices': async (account, n) => {
    const { id } = (await onInvoice(account, n)).params!;
    dataOf(await account.owner.post(`/invoices/${id}/payments`, { amount: 1, method: 'cash', paidAt: '2026-01-05' }));
    return { query: `search=Payer ${n}&status=draft&date_from=2020-01-01&sort=dueDate&order=asc` };
  },
  'POST /invoices': async (account, n) => ({
    body: {
      contactId: (await account.contact({ firstName: 'Payer' })).id,
      items: [
        { description: 'Widget', quantity: 3, unitPrice: '19.99', productId: await aProduct(account, n) },
        { description: 'Discount', quantity: '1', unitPrice: -5 },
      ],
      ...{ taxRate: 0.0875, dueDate: '2030-01-31', currency: 'EUR', notes: 'Thank you', terms: 'Net 30', invoiceNumber: `2030/${n}` },
    },
  }),
  'GET /invoices/{id}': onInvoice,
  'PATCH /invoices/{id}': async (account, n) => ({
    ...(await onInvoice(account, n)),
    body: { items: [{ description: 'Other', quantity: 2.5, unitPrice: 4 }], notes: null, taxRate: '0.2' },
  }),
  'POST /invoices/{id}/send': onInvoice,
  'POST /invoices/{id}/void': onInvoice,
  'GET /invoices/{id}/payments': onInvoice,
  'POST /invoices/{id}/payments': async (account, n) => ({
    ...(await onInvoice(account, n)),
    body: { amount: '60.00', method: 'bank_transfer', reference: `R-${n}`, notes: 'First half', paidAt: '2026-01-05T10:00:00Z' },
  }),

  'GET /billing/status': () => ({}),
  'POST /billing/checkout': () => ({ body: { planId: 'premium', interval: 'yearly' } }),
  'POST /billing/portal': async (account) => {
    dataOf(await account.owner.post('/billing/checkout', { planId: 'standard' }));
    return {};
  },
};
