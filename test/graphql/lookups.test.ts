import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let ids: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const [company, pipeline] = [await acme.company(), await acme.pipeline()];
  const contact = await acme.contact({ firstName: 'Ada', companyId: company.id, tags: ['VIP'] });
  ids = { contact: contact.id, company: company.id, pipeline: pipeline.id };
});
afterAll(() => api.close());

/** How many look-ups that others' may go with are about a table while something is done: the least of three runs. */
async function lookupsOf(table: string, work: () => Promise<unknown>): Promise<number> {
  const asked = jest.spyOn(api.app.reads, 'text');
  const counts: number[] = [];
  try {
    for (let run = 0; run < 3; run++) {
      asked.mockClear();
      await work();
      counts.push(asked.mock.calls.filter(([{ text }]) => text.includes(` from ${table} t `)).length);
    }
  } finally {
    asked.mockRestore();
  }
  return Math.min(...counts);
}

type Case = [what: string, record: 'contact' | 'company' | 'pipeline', selection: string];

const few: Case[] = [
  ['columns and a short list', 'contact', 'firstName name tags { id name }'],
  ['a record that it leads to', 'contact', 'firstName companyRecord { name owner { id } }'],
  ['a list of a hundred at most, each with what it leads to', 'pipeline', 'name stages { id pipeline { name } }'],
];

const many: Case[] = [
  ['a page', 'contact', 'notes(first: 1) { nodes { id } }'],
  ['the total of a page', 'contact', 'notes(first: 1) { totalCount }'],
  ['a page of a record that it leads to', 'contact', 'companyRecord { contacts(first: 1) { totalCount } }'],
  ['a count', 'company', 'contactCount'],
  ['a sum', 'company', 'totalDealValue'],
  ['the count of a record that it leads to', 'contact', 'companyRecord { openDealCount }'],
  ['lists within a list, of ten thousand together', 'pipeline', 'stages { pipeline { stages { id } } }'],
];

const tables = { contact: 'contacts', company: 'companies', pipeline: 'pipelines' };

describe('a document about one record', () => {
  const ask = (record: Case[1], selection: string) => async () => {
    const { data, errors } = await acme.owner.gql(`{ ${record}(id: "${ids[record]}") { ${selection} } }`);
    expect([errors, data[record] === null]).toEqual([undefined, false]);
  };

  it.each(few)('is a look-up, in one statement, with %s', async (_, record, selection) => {
    expect(await lookupsOf(tables[record], ask(record, selection))).toBe(1);
    expect(await api.statements(ask(record, selection))).toBe(1);
  });

  it.each(many)('is none, but still one statement, with %s', async (_, record, selection) => {
    expect(await lookupsOf(tables[record], ask(record, selection))).toBe(0);
    expect(await api.statements(ask(record, selection))).toBe(1);
  });
});

describe('what reads one record for an endpoint', () => {
  it('is a look-up where few rows are read', async () => {
    expect(await lookupsOf('contacts', async () => dataOf(await acme.owner.get(`/contacts/${ids.contact}`)))).toBe(1);
  });

  it('is none where records are counted with it, be it to change the record', async () => {
    const path = `/companies/${ids.company}`;
    expect(await lookupsOf('companies', async () => dataOf(await acme.owner.get(path)))).toBe(0);
    expect(await lookupsOf('companies', async () => dataOf(await acme.owner.patch(path, { industry: 'Steel' })))).toBe(0);
  });
});
