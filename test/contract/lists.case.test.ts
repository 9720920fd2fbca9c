import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, planOf, server, type TestServer, vacuumed } from '../support/index.js';

/* Lower case of ASCII is made without ICU, that of everything else by it: who searches sees no difference. */
const names = ['Plain Name 1', 'PLAIN NAME 2', 'İstanbul', 'ΟΔΟΣ', 'ΑΝΑΣΤΑΣΙΟΥ', 'straße', 'ÄPFEL und Öl', 'ﬁ', 'Mixed ÉTÉ', 'K\u212A'];

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  for (const name of names) {
    const contact = await acme.contact({ firstName: name });
    await acme.company({ name });
    await acme.deal({ title: name, contactId: contact.id });
    await acme.task({ title: name });
    dataOf(await acme.owner.post('/activities', { type: 'call', title: name, description: name, contactId: contact.id }));
    dataOf(await acme.owner.post('/products', { name, sku: name, unitPrice: 1 }));
    dataOf(await acme.owner.post('/tags', { name }));
    await acme.invoice({ invoiceNumber: name });
  }
});
afterAll(() => api.close());

async function found(path: string): Promise<string[]> {
  const listed = dataOf(await acme.owner.get(`${path}${path.includes('?') ? '&' : '?'}per_page=200`)) as Loose[] | { data: Loose[] };
  const data = Array.isArray(listed) ? listed : listed.data;
  return data.map(({ name, title, firstName, invoiceNumber }) => title ?? firstName ?? name ?? invoiceNumber);
}

const termsOf = (name: string) => [name, name.toLowerCase(), name.toLowerCase().slice(0, 3)];

describe.each(['companies', 'deals', 'tasks', 'activities?type=call', 'products', 'tags', 'invoices'])('searching /%s', (path) => {
  it.each(names)('finds %j in any case, and what begins so', async (name) => {
    for (const term of termsOf(name)) {
      const expected = names.filter((one) => ` ${one.toLowerCase()}`.includes(`${[...term].length < 3 ? ' ' : ''}${term.toLowerCase()}`));
      const those = await found(`/${path}${path.includes('?') ? '&' : '?'}search=${encodeURIComponent(term)}`);
      expect([term, those.sort()]).toEqual([term, expected.sort()]);
    }
  });
});

describe('conditions on texts', () => {
  it.each(['contains', 'starts_with', 'ends_with'])('hold whatever the case: %s', async (op) => {
    for (const value of names.flatMap((name) => [name, name.toLowerCase()])) {
      const filters = encodeURIComponent(JSON.stringify({ field: 'title', op, value }));
      expect(await found(`/deals?filters=${filters}`)).toEqual([names.find((one) => one.toLowerCase() === value.toLowerCase())]);
    }
  });
});

/** A sigma is another letter at the end of a word: a part of a word that ends in one may go on. */
const sigmas = [
  ['ΑΝΑΣ', 'ΑΝΑΣΤΑΣΙΟΥ'],
  ['ανας', 'ΑΝΑΣΤΑΣΙΟΥ'],
  ['ανασ', 'ΑΝΑΣΤΑΣΙΟΥ'],
  ['ΑΝΑΣΤΑΣ', 'ΑΝΑΣΤΑΣΙΟΥ'],
  ['ΔΟΣ', 'ΟΔΟΣ'],
  ['δοσ', 'ΟΔΟΣ'],
] as const;

describe('a Greek part of a word that ends in a sigma', () => {
  it.each(sigmas)('%s finds %s in every list', async (term, name) => {
    for (const path of ['contacts', 'companies', 'deals', 'tasks', 'activities?type=call', 'products', 'tags', 'invoices'])
      expect([path, await found(`/${path}${path.includes('?') ? '&' : '?'}search=${encodeURIComponent(term)}`)]).toEqual([path, [name]]);
  });

  it.each(sigmas)('%s is a part of %s for conditions', async (value, title) => {
    for (const op of ['contains', title.startsWith(value.toUpperCase()) ? 'starts_with' : 'ends_with']) {
      const filters = encodeURIComponent(JSON.stringify({ field: 'title', op, value }));
      expect([op, await found(`/deals?filters=${filters}`)]).toEqual([op, [title]]);
    }
  });
});

describe('searches', () => {
  beforeAll(async () => {
    const { id } = await acme.deal({ title: 'One of many' });
    const made = (table: string, columns: string, values: string) =>
      api.app.database.execute(
        `insert into ${table} (account_id, id, created_at, updated_at, ${columns})
        select d.account_id, gen_random_uuid(), now(), now(), ${values} from deals d, generate_series(1, 3000) n where d.id = $1`,
        [id],
      );
    for (const table of ['companies', 'products']) await made(table, 'name', "'One of many ' || n");
    await made('tasks', 'title', "'One of many ' || n");
    await made('deals', 'title, pipeline_id, stage_id', "'One of many ' || n, d.pipeline_id, d.stage_id");
    await made('invoices', 'invoice_number, due_date', "'One of many ' || n, current_date");
    await vacuumed(api, ['companies', 'products', 'tasks', 'deals', 'invoices']);
  });

  it.each(['companies', 'deals', 'tasks', 'products', 'invoices'])('are answered by the index of their words: /%s', async (path) => {
    const plan = await planOf(api, `from ${path}`, () => acme.owner.get(`/${path}?search=plain`));
    expect(plan).toMatch(new RegExp(`on ${path}_search.*\\n +Index Cond: .*lower`));
  });
});
