import type { Client, Loose } from './client.js';
import { type Account, dataOf } from './seed.js';

/** An account with few records that lead to each other in many ways, so that a document can go round and round among them. */
export interface Filled {
  caller: Client;
  /** What the root fields with an id are asked about. */
  ids: Record<string, string>;
}

/** Fills an account. */
export async function fill(acme: Account): Promise<Filled> {
  const { owner } = acme;
  const [company, pipeline] = [await acme.company(), await acme.pipeline()];
  const product = dataOf(await owner.post('/products', { name: 'Seat', price: 10 }));
  const same = { firstName: 'Ada', lastName: 'L', email: 'ada@example.com', company: 'Same', companyId: company.id };
  const more = { assignedTo: acme.ownerId, tags: ['a', 'b', 'c'], customFields: { text: 'x'.repeat(500) } };
  const [contact] = await times(6, () => acme.contact({ ...same, ...more }));
  const about = { contactId: contact.id, companyId: company.id, assignedTo: acme.ownerId };
  const line = { productId: product.id, quantity: 1, unitPrice: 100 };
  const [deal] = await times(8, () => acme.deal({ pipeline, ...about, products: [{ ...line, name: 'Seat' }] }));
  await times(4, () => acme.task({ contactId: contact.id, dealId: deal.id }));
  await times(4, () => owner.post('/notes', { contactId: contact.id, content: 'A note' }));
  const items = await times(5, async () => ({ ...line, description: 'A line' }));
  const invoice = await acme.invoice({ items, contactId: contact.id, companyId: company.id, dealId: deal.id });
  await times(12, async () => dataOf(await owner.post(`/invoices/${invoice.id}/payments`, { amount: 0.01 })));
  const list = dataOf(await owner.post('/smart-lists', { name: 'All', filters: { field: 'firstName', op: 'eq', value: 'Ada' } }));
  const ids = {
    ...{ contact: contact.id, contactScore: contact.id, company: company.id, pipeline: pipeline.id, stages: pipeline.id, deal: deal.id },
    ...{ product: product.id, invoice: invoice.id, invoicePayments: invoice.id, smartList: list.id, user: acme.ownerId },
  };
  return { caller: await acme.key(), ids };
}

async function times(count: number, make: () => Promise<Loose>): Promise<Loose[]> {
  const made: Loose[] = [];
  for (let i = 0; i < count; i++) made.push(await make());
  return made;
}
