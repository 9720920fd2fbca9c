import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, day, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let late: Account;
beforeAll(async () => {
  api = await server();
  late = await api.seed.account({ plan: 'trial' });
});
afterAll(() => api.close());

const creates: [string, object][] = [
  ['/contacts', { firstName: 'a' }],
  ['/companies', { name: 'a' }],
  ['/pipelines', { name: 'a' }],
  ['/tasks', { title: 'a' }],
  ['/notes', { body: 'a' }],
  ['/activities', { type: 'call', title: 'a' }],
  ['/tags', { name: 'a' }],
  ['/products', { name: 'a' }],
  ['/invoices', { items: [{ description: 'a', quantity: 1, unitPrice: 1 }] }],
  ['/forms', { name: 'a' }],
  ['/smart-lists', { name: 'a', filters: { field: 'city', op: 'eq', value: 'Paris' } }],
  ['/custom-fields', { entityType: 'deal', fieldKey: 'a', label: 'a', fieldType: 'text' }],
  ['/imports', { rows: [{ firstName: 'a' }] }],
  ['/users/invite', { email: 'late@example.com' }],
];

/** What makes something inside of something else: an address and a body, of what was there before the trial ended. */
async function nested(account: Account): Promise<[method: string, path: string, body: object][]> {
  const { id: contactId } = await account.contact({ firstName: 'Ada' });
  const pipeline = await account.pipeline();
  const deal = await account.deal({ pipeline });
  const invoice = await account.invoice();
  const firstName = 'Ada';
  return [
    ['POST', `/pipelines/${pipeline.id}/stages`, { name: 'Late' }],
    ['POST', '/deals', { title: 'Late', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, contactId }],
    ['POST', `/invoices/${invoice.id}/payments`, { amount: 1 }],
    ['POST', '/contact', { firstName, email: 'nobody.yet@example.com' }],
    ['PATCH', `/contacts/${contactId}`, { tags: ['never seen before'] }],
    ['POST', '/contact', { ...(await restorable(account)), tags: ['never seen before'] }],
    ['POST', `/deals/${await deletedDeal(account, deal.id)}/restore`, {}],
  ];
}

/** A contact that is matched, and so only changed. */
async function restorable(account: Account) {
  const email = 'matched@example.com';
  await account.contact({ firstName: 'Bea', email });
  return { email };
}

async function deletedDeal(account: Account, id: string): Promise<string> {
  dataOf(await account.owner.del(`/deals/${id}`));
  return id;
}

it('An expired trial lets nothing be made inside of what is there, and no tag by its name', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const inside = await nested(account);
  await account.tag('known');
  const { id } = await account.contact({ firstName: 'Cid' });
  api.clock.advance(15 * day);
  const owner = await account.login();
  await expectNothingWritten(api, async () => {
    for (const [method, path, body] of inside) expectRefusal(await owner.send(method, path, body), 402);
  });
  expect(dataOf(await owner.patch(`/contacts/${id}`, { tags: ['KNOWN'] })).tags).toMatchObject([{ name: 'known' }]);
  api.clock.reset();
});

it('An expired trial answers 402 on every create; reads stay', async () => {
  api.clock.advance(15 * day);
  const owner = await late.login();
  await expectNothingWritten(api, async () => {
    for (const [path, body] of creates) expectRefusal(await owner.post(path, body), 402);
  });
  for (const path of ['/contacts', '/tasks', '/notes', '/tags']) expect((await owner.get(path)).status).toBe(200);
  api.clock.reset();
});
