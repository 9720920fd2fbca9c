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

describe('a phone number', () => {
  it.each(['030/5226237', '030 5226237', '+49 30/5226237', 'tel:+49305226237', '030\u20135226237'])('is found as %s', async (term) => {
    dataOf(await acme.owner.post('/contact', { phone: '030/5226237' }));
    expect(await found(term)).toHaveLength(1);
  });
});
