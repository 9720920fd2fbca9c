import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  dataOf(await acme.owner.patch('/settings/workspace', { defaultCountry: 'DE' }));
});
afterAll(() => api.close());

const found = async (term: string): Promise<string[]> =>
  dataOf(await acme.owner.get(`/contacts?search=${encodeURIComponent(term)}`)).data.map(({ id }: Loose) => id);

describe('a name whose accents stand apart, as in files made on a Mac', () => {
  it('is kept, found, tagged and mailed as the same', async () => {
    const name = 'Zoë Été';
    const contact = { firstName: name.normalize('NFD'), email: 'zoë@example.com'.normalize('NFD'), tags: ['Été'.normalize('NFD')] };
    const made = dataOf(await acme.owner.post('/contacts', contact));
    expect(made).toMatchObject({ firstName: name, email: 'zoë@example.com' });
    expect(await found('Été')).toEqual([made.id]);
    expect(await found('Été'.normalize('NFD'))).toEqual([made.id]);
    const other = dataOf(await acme.owner.post('/contacts', { firstName: 'Ada', tags: ['Été'] }));
    expect(other.tags).toEqual(made.tags);
  });

  it('is the same in Korean, where letters stand apart', async () => {
    const [name, tag] = ['김민수', '고객'];
    const made = dataOf(await acme.owner.post('/contacts', { firstName: name.normalize('NFD'), tags: [tag.normalize('NFD')] }));
    expect(made).toMatchObject({ firstName: name, tags: [{ name: tag }] });
    for (const term of [name, name.normalize('NFD'), '김민', '김민'.normalize('NFD')]) expect(await found(term)).toEqual([made.id]);
    const other = dataOf(await acme.owner.post('/contacts', { firstName: 'Ada', tags: [tag] }));
    expect(other.tags).toEqual(made.tags);
  });
});

describe.each(['NFC', 'NFD'])('a condition with a text in %s', (form) => {
  const [name, tag] = ['Zoë Grün'.normalize(form), 'Größe'.normalize(form)];
  const [city, place] = ['Zürich'.normalize(form), 'Köln'.normalize(form)];
  let id: string;
  beforeAll(async () => {
    const customFields = { city: 'Zürich'.normalize('NFD'), places: ['Köln'.normalize('NFD')] };
    const made = await acme.contact({ firstName: 'Zoë Grün', tags: ['Größe'], customFields });
    expect(made.customFields).toEqual({ city: 'Zürich', places: ['Köln'] });
    id = made.id;
  });
  afterAll(async () => dataOf(await acme.owner.del(`/contacts/${id}`)));

  const ids = async (query: string) => dataOf(await acme.owner.get(`/contacts?${query}`)).data.map((one: Loose) => one.id);

  it.each([
    [{ field: 'firstName', value: name }, { firstName: { eq: name } }],
    [{ field: 'firstName', op: 'in', value: [name, 'x'] }, { firstName: { in: [name, 'x'] } }],
    [{ field: 'firstName', op: 'contains', value: name.slice(-4) }, { firstName: { contains: name } }],
    [{ field: 'firstName', op: 'starts_with', value: name }, { firstName: { starts_with: name } }],
    [{ field: 'tags', value: tag }, { tags: { eq: tag } }],
    [{ field: 'customFields.city', value: city }, { customFields: { city: { eq: city } } }],
    [{ field: 'customFields.city', op: 'in', value: [city, 'x'] }, { customFields: { city: { in: [city, 'x'] } } }],
    [{ field: 'customFields.city', op: 'contains', value: city }, { customFields: { city: { contains: city } } }],
    [{ field: 'customFields.places', value: place }, { customFields: { places: { eq: place } } }],
  ])('finds what looks the same: %j', async (filters, where) => {
    expect(await ids(`filters=${encodeURIComponent(JSON.stringify(filters))}`)).toEqual([id]);
    expect(await ids(`filters=${encodeURIComponent(JSON.stringify({ not: filters }))}`)).not.toContain(id);
    const { data } = await acme.owner.gql('query ($where: ContactWhere) { contacts(where: $where) { nodes { id } } }', { where });
    expect(data).toEqual({ contacts: { nodes: [{ id }] } });
  });

  it('is the same in cf[…]', async () => {
    expect(await ids(`cf[city]=${encodeURIComponent(city)}`)).toEqual([id]);
  });
});

describe('a phone number', () => {
  it.each(['030/5226237', '030 5226237', '+49 30/5226237', 'tel:+49305226237', '030\u20135226237'])('is found as %s', async (term) => {
    dataOf(await acme.owner.post('/contact', { phone: '030/5226237' }));
    expect(await found(term)).toHaveLength(1);
  });
});
