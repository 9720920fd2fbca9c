import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

async function gone() {
  const [contact, company, deal, member] = [await acme.contact(), await acme.company(), await acme.deal(), await acme.member()];
  for (const path of [`/contacts/${contact.id}`, `/companies/${company.id}`, `/deals/${deal.id}`, `/users/${member.userId}`])
    dataOf(await acme.owner.del(path));
  return { contactId: contact.id, companyId: company.id, dealId: deal.id, assignedTo: member.userId };
}

it('What is deleted or removed can be linked to no more: 400 naming the field', async () => {
  const ids = await gone();
  const [task, contact] = [await acme.task(), await acme.contact()];
  const bodies: [string, object, (keyof typeof ids)[]][] = [
    ['/tasks', { title: 'a' }, ['contactId', 'dealId', 'assignedTo']],
    ['/notes', { body: 'a' }, ['contactId', 'dealId']],
    ['/activities', { type: 'call', title: 'a' }, ['contactId', 'dealId']],
    ['/contacts', { firstName: 'a' }, ['companyId', 'assignedTo']],
  ];
  await expectNothingWritten(api, async () => {
    for (const [path, body, fields] of bodies)
      for (const field of fields) expectRefusal(await acme.owner.post(path, { ...body, [field]: ids[field] }), 400, field);
    for (const field of ['contactId', 'dealId', 'assignedTo'] as const)
      expectRefusal(await acme.owner.patch(`/tasks/${task.id}`, { [field]: ids[field] }), 400, field);
    for (const field of ['companyId', 'assignedTo'] as const)
      expectRefusal(await acme.owner.patch(`/contacts/${contact.id}`, { [field]: ids[field] }), 400, field);
  });
});

it('A link that a record has already may be sent again', async () => {
  const contact = await acme.contact();
  const task = await acme.task({ contactId: contact.id });
  dataOf(await acme.owner.del(`/contacts/${contact.id}`));
  const again = dataOf(await acme.owner.patch(`/tasks/${task.id}`, { title: 'b', contactId: contact.id }));
  expect(again).toMatchObject({ title: 'b', contactId: contact.id });
});

it('So may the links of an invoice', async () => {
  const [contact, company, deal] = [await acme.contact(), await acme.company(), await acme.deal()];
  const links = { contactId: contact.id, companyId: company.id, dealId: deal.id };
  const { id, items } = await acme.invoice(links);
  for (const path of [`/contacts/${contact.id}`, `/companies/${company.id}`, `/deals/${deal.id}`]) dataOf(await acme.owner.del(path));
  expect(dataOf(await acme.owner.patch(`/invoices/${id}`, { ...links, items, notes: 'x' }))).toMatchObject({ ...links, notes: 'x' });
  const { contactId: other } = await gone();
  await expectNothingWritten(api, async () =>
    expectRefusal(await acme.owner.patch(`/invoices/${id}`, { contactId: other }), 400, 'contactId'),
  );
});
