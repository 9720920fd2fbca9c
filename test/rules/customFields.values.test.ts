import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, least, processorTime, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

it('thousands of choices that are none cost what one does', async () => {
  const choices = Array.from({ length: 300 }, (_, n) => `${n}`.padEnd(190, '_'));
  const field = { entityType: 'contact', fieldKey: 'sizes', label: 'Sizes', fieldType: 'multiselect', options: { choices } };
  dataOf(await acme.owner.post('/custom-fields', field));
  const sizes = Array.from({ length: 12_000 }, (_, n) => n);
  const send = async () => {
    const reply = await acme.owner.post('/contacts', { firstName: 'Ada', customFields: { sizes } });
    expectRefusal(reply, 400, 'customFields.sizes');
    expect(reply.body.error).toContain(`must be one of ${choices.join(', ')}`);
  };
  await send();
  expect(await least(3, () => processorTime(send))).toBeLessThan(100);
});
