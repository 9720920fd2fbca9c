import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, day, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

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
  ['/smart-lists', { name: 'a', filters: { field: 'city', op: 'eq', value: 'Paris' } }],
  ['/custom-fields', { entityType: 'deal', fieldKey: 'a', label: 'a', fieldType: 'text' }],
  ['/imports', { rows: [{ firstName: 'a' }] }],
  ['/users/invite', { email: 'late@example.com' }],
];

it('An expired trial answers 402 on every create; reads stay', async () => {
  api.clock.advance(15 * day);
  const owner = await late.login();
  await expectNothingWritten(api, async () => {
    for (const [path, body] of creates) expectRefusal(await owner.post(path, body), 402);
  });
  for (const path of ['/contacts', '/tasks', '/notes', '/tags']) expect((await owner.get(path)).status).toBe(200);
  api.clock.reset();
});
