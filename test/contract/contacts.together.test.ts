import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let accounts: Account[];
beforeAll(async () => {
  api = await server();
  accounts = [];
  for (let n = 0; n < 5; n++) accounts.push(await api.seed.account());
  for (const { owner } of accounts)
    dataOf(await owner.post('/custom-fields', { entityType: 'contact', label: 'Seats', fieldKey: 'seats', fieldType: 'number' }));
});
afterAll(() => api.close());

it('contacts that several accounts make at the same time are written together, each with the rules of its account', async () => {
  const create = ({ owner }: Account, n: number) => owner.post('/contacts', { firstName: `n${n}`, customFields: { seats: n } });
  // Who knows the rules only looks at whether they have changed.
  for (const account of accounts) await create(account, 0);
  const { database } = api.app;
  const { text } = database;
  const [shared, refused]: [number[], unknown[]] = [[], []];
  const noted: typeof text = (query) => {
    if (!query.text.includes("set_config('lock_timeout'")) return text(query);
    shared.push(query.text.length);
    return text(query).catch((error: unknown) => Promise.reject(refused.push(error) && error));
  };
  Object.assign(database, { text: noted });
  for (let round = 0; round < 3; round++) {
    const made = await Promise.all(accounts.flatMap((account) => [1, 2, 3].map((n) => create(account, n))));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
  }
  Object.assign(database, { text });
  expect([shared.length > 0, new Set(shared).size, refused]).toEqual([true, 1, []]);
  for (const { owner } of accounts) {
    const { data } = dataOf(await owner.get('/contacts?sort=firstName&order=asc'));
    expect(data.map(({ firstName, customFields }: Loose) => [firstName, customFields.seats])).toEqual(
      [0, 1, 2, 3].flatMap((n) => Array.from({ length: n === 0 ? 1 : 3 }, () => [`n${n}`, n])),
    );
  }
});
