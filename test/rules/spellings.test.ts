import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, basePath, dataOf, expectRefusal, type Loose, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('an address with a slash at its end', () => {
  it('is the one without: of lists, records, creations, and the other API', async () => {
    const { id } = dataOf(await acme.owner.post('/contacts/', { firstName: 'Ada' }));
    for (const path of ['/contacts', `/contacts/${id}`, `/contacts/${id}/score`, '/tags', '/schema/public']) {
      const [plain, slashed] = [await acme.owner.get(path), await acme.owner.get(`${path}/`)];
      expect([slashed.status, slashed.body]).toEqual([plain.status, plain.body]);
      expect((await acme.owner.get(`${path}/?per_page=1`)).status).toBe(200);
    }
    expect(dataOf(await acme.owner.patch(`/contacts/${id}/`, { city: 'Rome' })).city).toBe('Rome');
    expect(dataOf(await acme.owner.post(`/contacts/${id}/tags/`, { tagIds: [(await acme.tag()).id] }))).toHaveLength(1);
    const payload = JSON.stringify({ query: '{ tags { totalCount } }' });
    const headers = { 'content-type': 'application/json', 'content-length': String(payload.length) };
    expect((await acme.owner.raw({ method: 'POST', path: '/graphql/', payload, headers })).status).toBe(200);
    expectRefusal(await acme.owner.del('/contacts/'), 404);
    expectRefusal(await acme.owner.get(`/contacts/${id}//`), 404);
  });
});

describe('a parameter that is written name[]', () => {
  it('is the one without the brackets', async () => {
    await acme.contact({ firstName: 'Bea', tags: ['red'], city: 'Porto' });
    await acme.contact({ firstName: 'Cleo', tags: ['blue'] });
    const names = async (query: string) => dataOf(await acme.owner.get(`/contacts?sort=firstName&order=asc&${query}`)).data.map((c: Loose) => c.firstName); // biome-ignore format: one line
    for (const query of [
      'tags=red,blue',
      'tags[]=red&tags[]=blue',
      'tags[]=red,blue',
      'tags=red&tags[]=blue',
      'tags%5B%5D=red&tags%5B%5D=blue',
      'tags[0]=red&tags[1]=blue',
      'tags%5B1%5D=red&tags%5B0%5D=blue&tags[7]=',
      'tags[0]=red&tags=blue',
    ]) {
      expect([query, await names(query)]).toEqual([query, ['Bea', 'Cleo']]);
    }
    expect(await names('search[]=bea')).toEqual(['Bea']);
    expect(dataOf(await acme.owner.get('/contacts?per_page[]=1')).data).toHaveLength(1);
    expectRefusal(await acme.owner.get('/contacts?search[]=a&search[]=b'), 400, 'search');
    expect(await names('cf[a]=1&tags[]=red')).toEqual([]);
  });

  it('and name[0] is an item of a list, with the commas that it has; in lists and in files', async () => {
    await acme.contact({ firstName: 'Dora', tags: ['Lyon, Paris'], email: 'dora@example.com' });
    const firstNames = (reply: Reply) => dataOf(reply).data.map((c: Loose) => c.firstName);
    expect(firstNames(await acme.owner.get('/contacts?tags[0]=Lyon,%20Paris'))).toEqual(['Dora']);
    const [one] = dataOf(await acme.owner.get('/contacts?include[0]=company&search=dora')).data;
    expect(one).toHaveProperty('companyRecord', null);
    const pipeline = await acme.pipeline();
    await acme.deal({ pipeline });
    expect(dataOf(await acme.owner.get('/deals?include[0]=contact')).data[0]).toHaveProperty('contact');
    const { text } = await acme.owner.get('/contacts/export?tags[0]=Lyon,%20Paris');
    expect([text.trim().split('\r\n').length, text.includes('dora@example.com')]).toEqual([2, true]);
  });

  it('but a parameter that is one value takes neither a number nor a key, and a list no key: 400, named as it was written', async () => {
    for (const path of ['/contacts', '/contacts/export']) {
      for (const name of ['smart_view[x]', 'sort[x]', 'company[0]', 'tags[x]', 'cf[a][b]', 'search[', 'include[x][y]']) {
        if (name.startsWith('include') && path !== '/contacts') continue;
        expectRefusal(await acme.owner.get(`${path}?${name}=a`), 400, name);
      }
    }
    expectRefusal(await acme.owner.get('/contacts?page[x]=1'), 400, 'page[x]');
    expect((await acme.owner.get('/contacts?unknown[x]=1&unknown[0]=1')).status).toBe(200);
  });

  it('and the JSON of an object stands beside its members', async () => {
    await acme.contact({ firstName: 'Eve', customFields: { tier: 'gold', seats: 'two' } });
    const total = async (query: string) => dataOf(await acme.owner.get(`/contacts?${query}`)).meta.total;
    const tier = encodeURIComponent('{"tier":"gold"}');
    expect([await total(`cf=${tier}&cf[seats]=two`), await total(`cf=${tier}&cf[seats]=ten`), await total('cf[tier]=gold')]).toEqual([
      1, 0, 1,
    ]);
  });
});

describe('a plus in a query string', () => {
  it('may be left as it is where a word of the parameter has one', async () => {
    const { id } = await acme.company({ name: 'Huge', size: '1001+' });
    await acme.company({ name: 'Small', size: '1-10' });
    for (const size of ['1001+', '1001%2B', '%201001%2B%20']) {
      expect([size, dataOf(await acme.owner.get(`/companies?size=${size}`)).data.map((c: Loose) => c.id)]).toEqual([size, [id]]);
    }
    for (const size of ['1001', '1001++', '1-10+1']) expectRefusal(await acme.owner.get(`/companies?size=${size}`), 400, 'size');
    expect(dataOf(await acme.owner.get('/companies?size=1-10+')).data).toHaveLength(1);
  });
});

describe('a number beyond all numbers', () => {
  it('is 400 and named, wherever it stands in a body', async () => {
    const send = (path: string, payload: string) =>
      acme.owner.raw({
        method: 'POST',
        path,
        payload,
        headers: { 'content-type': 'application/json', 'content-length': String(payload.length) },
      });
    const digits = '9'.repeat(400);
    for (const huge of ['1e400', '-1e400', '1E+999', digits, `1${'0'.repeat(250)}e99`]) {
      expectRefusal(
        await send(`${basePath}/contacts`, `{"firstName":"Ada","customFields":{"a":{"b":[${huge}]}}}`),
        400,
        'customFields.a.b.0',
      );
      expectRefusal(await send(`${basePath}/products`, `{"name":"a","price":${huge}}`), 400, 'price');
      expectRefusal(await send(`${basePath}/tags`, `{"name":"a","unknown":${huge}}`), 400, 'unknown');
      const document = 'mutation ($f: JSONObject) { createContact(input: { firstName: \\"a\\", customFields: $f }) { id } }';
      const reply = await send('/graphql', `{"query":"${document}","variables":{"f":{"a":${huge}}}}`);
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('variables.f.a')]);
      const { errors } = await acme.owner.gql(`mutation { createContact(input: { firstName: "a", customFields: { a: ${huge} } }) { id } }`);
      expect(errors?.[0].extensions).toMatchObject({ status: 400, field: 'customFields' });
    }
    expect((await send(`${basePath}/contacts`, '{"firstName":"Ada 1e400","customFields":{"a":1e300,"b":"1e400"}}')).status).toBe(201);
  });
});

it('Attribution is merged key by key on a change, as custom fields are', async () => {
  const { id } = await acme.contact({ firstName: 'Ada', attribution: { utm_source: 'ads', utm_medium: 'cpc', clickIds: { g: '1' } } });
  const patch = async (attribution: unknown) => dataOf(await acme.owner.patch(`/contacts/${id}`, { attribution })).attribution;
  expect(await patch({ utm_term: 'crm' })).toMatchObject({ utm_source: 'ads', utm_medium: 'cpc', utm_term: 'crm', clickIds: { g: '1' } });
  expect(await patch({ utm_source: null, clickIds: { f: '2' } })).toMatchObject({
    utm_source: null,
    utm_medium: 'cpc',
    clickIds: { f: '2' },
  });
  expect(await patch({ utm_medium: 'mail', utm_term: null })).toMatchObject({ utm_medium: 'mail', utm_term: null });
  expect(await patch({})).toMatchObject({ utm_medium: 'mail' });
  expect(await patch({ utm_medium: null, clickIds: null })).toBeNull();
  expect(await patch({ referrer: 'https://example.com' })).toMatchObject({ referrer: 'https://example.com' });
  expect(await patch(null)).toBeNull();
});

describe('a phone number in a search', () => {
  it('is read with the country of the account', async () => {
    const german = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: german.id }, data: { defaultCountry: 'DE' } });
    const owner = await german.login();
    const { phone, id: contactId } = dataOf(await owner.post('/contacts', { firstName: 'Emmy', phone: '0170 1234567' }));
    expect(phone).toBe('+491701234567');
    dataOf(await owner.post('/invoices', { contactId, items: [{ description: 'a', quantity: 1, unitPrice: 1 }] }));
    for (const term of [
      '0170 1234567',
      '0170/1234567',
      '(0170) 123',
      '0170123',
      '0049 170 1234567',
      '0049170',
      '+49 170 12',
      '1701234567',
      '234567',
    ]) {
      const search = encodeURIComponent(term);
      if (!term.includes('/')) expect([term, dataOf(await owner.get(`/contacts?search=${search}`)).meta.total]).toEqual([term, 1]);
      if (!term.includes('/')) expect([term, dataOf(await owner.get(`/invoices?search=${search}`)).meta.total]).toEqual([term, 1]);
    }
    for (const term of ['0171 1234567', '0043 170', '999999']) {
      expect(dataOf(await owner.get(`/contacts?search=${encodeURIComponent(term)}`)).meta.total).toBe(0);
    }
  });
});

describe('a search for what looks like a phone number', () => {
  const found = async (term: string, list = 'contacts') =>
    dataOf(await acme.owner.get(`/${list}?search=${encodeURIComponent(term)}`)).data.map((c: Loose) => c.lastName ?? c.contactId);

  it('finds names and addresses that are written so, and phone numbers by their digits', async () => {
    const gym = await acme.contact({ lastName: '24-7 Fitness' });
    await acme.contact({ lastName: 'Wei', email: '123.456@qq.com' });
    await acme.contact({ lastName: 'Caller', phone: '+12025550247' });
    await acme.contact({ lastName: '(3+4) 5' });
    for (const [term, names] of [
      ['24-7', ['Caller', '24-7 Fitness']],
      ['24-7 f', ['24-7 Fitness']],
      ['123.456', ['Wei']],
      ['123.45', ['Wei']],
      ['(3+4) 5', ['(3+4) 5']],
      ['202-555-0247', ['Caller']],
      ['+1 (202) 555', ['Caller']],
      ['24.7', ['Caller']],
    ] as const) {
      expect([term, await found(term)]).toEqual([term, names]);
    }
    dataOf(await acme.owner.post('/invoices', { contactId: gym.id, items: [{ description: 'a', quantity: 1, unitPrice: 1 }] }));
    expect(await found('24-7', 'invoices')).toEqual([gym.id]);
    const document = '{ contacts(filter: { search: "24-7" }) { totalCount } contactAggregate(filter: { search: "24-7" }) { count } }';
    const { data } = await acme.owner.gql(document);
    expect([data.contacts.totalCount, data.contactAggregate[0].count]).toEqual([2, 2]);
  });
});

it('A search of deals finds the title, and the name of the contact and of the company, at no further statement', async () => {
  const pipeline = await acme.pipeline();
  const contact = await acme.contact({ firstName: 'Émilie', lastName: 'du Châtelet', email: 'voltaire@example.com' });
  const company = await acme.company({ name: 'Zephyr Works' });
  const gone = await acme.contact({ firstName: 'Gone', lastName: 'Girl' });
  for (const [title, links] of [
    ['Machine', {}],
    ['By contact', { contactId: contact.id }],
    ['By company', { companyId: company.id }],
    ['By somebody gone', { contactId: gone.id }],
  ] as const) {
    await acme.deal({ pipeline, title, ...links });
  }
  dataOf(await acme.owner.del(`/contacts/${gone.id}`));
  const titles = async (search: string) => dataOf(await acme.owner.get(`/deals?sort=title&order=asc&search=${encodeURIComponent(search)}`)).data.map((d: Loose) => d.title); // biome-ignore format: one line
  for (const [search, found] of [
    ['mach', ['Machine']],
    ['châtelet', ['By contact']],
    ['ÉMILIE DU', ['By contact']],
    ['ém', ['By contact']],
    ['zephyr', ['By company']],
    ['work', ['By company']],
    ['voltaire', []],
    ['girl', []],
    ['by ', ['By company', 'By contact', 'By somebody gone']],
  ] as const) {
    expect([search, await titles(search)]).toEqual([search, found]);
  }
  const [plain, searched] = [
    await api.statements(() => acme.owner.get('/deals?status=open')),
    await api.statements(() => titles('zephyr')),
  ];
  expect(searched).toBe(plain);
});
