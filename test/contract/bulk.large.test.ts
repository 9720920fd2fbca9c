import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const done = async (what: string, body: object) => dataOf(await acme.owner.post(`/bulk/${what}`, body));
const contacts = (n: number, fields: object = {}): Promise<Loose[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => acme.contact({ firstName: `Person ${i}`, ...fields })));
const idsOf = (records: Loose[]): string[] => records.map((record) => record.id);
const text = (letter: string) => letter.repeat(60_000);
const manyFields = Object.fromEntries(Array.from({ length: 5500 }, (_, n) => [`k${n}`, n % 10]));

/** How many changes of a field each transaction made. */
async function changedTogether(entityType: string, field: string): Promise<number[]> {
  const { rows } = await api.app.database.execute(
    `select count(*)::int as count from activities where account_id = $1 and entity_type = $2 and (changes -> $3::text) is not null
    group by xmin::text`,
    [acme.id, entityType, field],
  );
  return (rows as { count: number }[]).map(({ count }) => count);
}

describe('a bulk edit', () => {
  it('of small records is one transaction', async () => {
    await done('contacts/edit', { ids: idsOf(await contacts(100)), changes: { city: 'Lisbon' } });
    expect(await changedTogether('contact', 'city')).toEqual([100]);
  });

  it('changes records of 60 KB a few at a time, tells of each once, and answers in the order of the request', async () => {
    const some = idsOf(await contacts(20, { customFields: { a: text('x') } }));
    const ids = [...some.slice(0, 10), crypto.randomUUID(), ...some.slice(10)];
    const document =
      'mutation ($input: BulkEditContactsInput!) { bulkEditContacts(input: $input) { total failed results { recordId success code } } }';
    const told = await toldIn(acme, async () => {
      const { data } = await acme.owner.gql(document, { input: { ids, changes: { jobTitle: 'CTO' } } });
      const results = ids.map((recordId) =>
        some.includes(recordId) ? { recordId, success: true, code: null } : { recordId, success: false, code: 'not_found' },
      );
      expect(data.bulkEditContacts).toEqual({ total: 21, failed: 1, results });
    });
    expect(told.events).toEqual(some.map((id) => `contact.updated ${id}`).sort());
    expect(told.entries).toEqual(told.events);
    const together = await changedTogether('contact', 'jobTitle');
    expect(Math.max(...together)).toBeLessThanOrEqual(8);
  });

  it('makes a change of thousands of custom fields to one record at a time', async () => {
    const changes = { customFields: manyFields };
    const made = [await acme.deal(), await acme.deal(), await acme.deal()];
    expect(await done('contacts/edit', { ids: idsOf(await contacts(3)), changes })).toEqual({ total: 3, succeeded: 3, failed: 0 });
    expect(await done('deals/edit', { ids: idsOf(made), changes })).toEqual({ total: 3, succeeded: 3, failed: 0 });
    for (const entity of ['contact', 'deal']) expect(await changedTogether(entity, 'customFields.k0')).toEqual([1, 1, 1]);
  });
});

describe('a bulk update of 60 KB a record', () => {
  it('is made record by record, in the order of the request where one is named twice', async () => {
    const [a, b] = idsOf(await contacts(2));
    const updates = [a, 'nobody', b, a].map((id, nth) => ({ id, customFields: { note: text(`${nth}`) } }));
    const { summary, results } = await done('contacts/update', { updates });
    expect(summary).toEqual({ total: 4, succeeded: 3, failed: 1 });
    expect(results.map((one: Loose) => [one.id, one.success])).toEqual([[a, true], ['nobody', false], [b, true], [a, true]]); // biome-ignore format: one line
    const noteOf = async (id?: string) => dataOf(await acme.owner.get(`/contacts/${id}`)).customFields.note;
    expect([await noteOf(a), await noteOf(b)]).toEqual([text('3'), text('2')]);
    expect(await changedTogether('contact', 'customFields.note')).toEqual([1, 1, 1]);
  });
});
