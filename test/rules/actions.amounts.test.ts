import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const field = { entityType: 'contact', fieldKey: 'owed', label: 'Owed', fieldType: 'number' };
  dataOf(await acme.owner.post('/custom-fields', field));
});
afterAll(() => api.close());

describe('an amount that a merge field names', () => {
  it.each([
    ['USD', 119.9, '119.90'],
    ['USD', 120, '120.00'],
    ['JPY', 1200, '1200'],
    ['JPY', 115.5, '115.50'],
  ])('has its decimals in a mail and a task, and stays a number in a field: %s %d', async (currency, total, written) => {
    const body = 'Please pay {{invoice.total}} {{invoice.currency}}: {{invoice.items.0.quantity}} at {{invoice.items.0.unitPrice}}';
    const notes = `Over ${written} ${currency}`;
    const actions = [
      { type: 'send_email', config: { subject: 'Due: {{record.total}}', body } },
      { type: 'create_task', config: { title: 'Watch {{invoice.total}}' } },
      { type: 'update_field', config: { field: 'customFields.owed', value: '{{invoice.total}}' } },
    ];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'invoice.created', conditions: { notes } }, actions });
    const { id } = await acme.contact({ firstName: 'Ada', email: `ada.${currency}.${total}@example.com` });
    await acme.invoice({ contactId: id, currency, notes, items: [{ description: 'x', quantity: 1, unitPrice: total }] });
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'success', error: null });
    const mails: Loose = dataOf(await acme.owner.get(`/messages?contact_id=${id}`)).data;
    expect(mails).toMatchObject([{ subject: `Due: ${written}`, body: `Please pay ${written} ${currency}: 1 at ${written}` }]);
    expect(run!.actions[1].result.title).toBe(`Watch ${written}`);
    expect(dataOf(await acme.owner.get(`/contacts/${id}`)).customFields.owed).toBe(total);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('has them as an old and a new value too, and what is no amount has none', async () => {
    const title = 'From {{changes.value.from}} to {{changes.value.to}}, {{deal.probability}}, {{deal.products.0.unitPrice}}';
    const actions = [{ type: 'create_task', config: { title } }];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'deal.updated', conditions: { title: 'Grown' } }, actions });
    const { id } = await acme.deal({ title: 'Grown', value: 1500.5, probability: 0.5, products: [{ name: 'Seat', unitPrice: 99.5 }] });
    dataOf(await acme.owner.patch(`/deals/${id}`, { value: 2000 }));
    const [run] = await endedRuns(acme, workflow);
    expect(run!.actions[0].result.title).toBe('From 1500.50 to 2000.00, 0.5, 99.50');
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });
});
