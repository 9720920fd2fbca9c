import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** What the contacts have in a custom field that a query finds, in the order of their making. */
async function valuesIn(key: string, query: string): Promise<unknown[]> {
  const { data } = dataOf(await acme.owner.get(`/contacts?sort=createdAt&order=asc&${query}`));
  return data.map(({ customFields }: Loose) => customFields[key]).filter((value: unknown) => value !== undefined);
}

const byFilters = (condition: object) => `filters=${encodeURIComponent(JSON.stringify(condition))}`;

describe('a custom field of several values', () => {
  it('is found by each of them, in cf[…] as in filters', async () => {
    const field = {
      entityType: 'contact',
      fieldKey: 'sizes',
      label: 'Sizes',
      fieldType: 'multiselect',
      options: { choices: ['01', 'XL'] },
    };
    dataOf(await acme.owner.post('/custom-fields', field));
    const kept = [['01', 'XL'], ['XL'], ['01']];
    for (const sizes of kept) await acme.contact({ firstName: 'Ada', customFields: { sizes } });
    for (const [value, found] of [
      ['XL', kept.slice(0, 2)],
      ['01', [kept[0], kept[2]]],
      ['1', []],
      ['X', []],
    ] as const) {
      expect([value, await valuesIn('sizes', `cf[sizes]=${value}`)]).toEqual([value, found]);
      expect([value, await valuesIn('sizes', byFilters({ field: 'customFields.sizes', value }))]).toEqual([value, found]);
    }
    await acme.contact({ firstName: 'Ada', customFields: { marks: ['7', 7, true] } });
    for (const value of ['7', 'true']) expect(await valuesIn('marks', `cf[marks]=${value}`)).toEqual([['7', 7, true]]);
    expect((await acme.owner.get('/contacts/export?cf[sizes]=XL')).text.trim().split('\r\n')).toHaveLength(3);
  });
});

describe('a number in a custom field', () => {
  const kept = [1 / 3, 0.1 + 0.2 - 0.3, 1e-7, 1e21, 1763800000000000, '1234567890123456.5'];
  const field = 'customFields.size';
  const found = (condition: object) => valuesIn('size', byFilters(condition));
  beforeAll(async () => {
    for (const size of kept) await acme.contact({ firstName: String(size), customFields: { size } });
  });

  it('is compared as a number however many digits it has', async () => {
    expect(await found({ field, op: 'lt', value: 1 })).toEqual(kept.slice(0, 3));
    expect(await found({ not: { field, op: 'lt', value: 1 } })).toEqual(kept.slice(3));
    expect(await found({ field, op: 'between', value: [1e15, 2e15] })).toEqual(kept.slice(4));
  });

  it.each(kept.slice(0, 5))('is found by what the record shows: %s', async (value) => {
    expect(await found({ field, value })).toEqual([value]);
    expect(await found({ field, op: 'in', value: [value, 7] })).toEqual([value]);
    expect(await found({ field, op: 'neq', value })).toEqual(kept.filter((one) => one !== value));
    expect(await valuesIn('size', `cf[size]=${encodeURIComponent(value)}`)).toEqual([value]);
    expect(await valuesIn('size', `cf=${encodeURIComponent(JSON.stringify({ size: value }))}`)).toEqual([value]);
  });
});
