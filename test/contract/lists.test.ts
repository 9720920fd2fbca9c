import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  for (let i = 0; i < 7; i++) await acme.contact({ firstName: `n${i}` });
});
afterAll(() => api.close());

const page = async (query: string) => dataOf(await acme.owner.get(`/contacts?${query}`));
const first = async (query: string) => (await page(query)).data.map((c: Loose) => c.firstName);

describe('the page size', () => {
  it.each([
    ['', 50],
    ['per_page=3', 3],
    ['limit=3', 3],
    ['per_page=2&limit=9', 2],
    ['per_page=200', 200],
    ['per_page=201', 200],
    ['per_page=999999999', 200],
    ['per_page=99999999999', 200],
    ['limit=100', 100],
    ['limit=101', 100],
    ['per_page=', 50],
  ])('of "%s" is %i', async (query, size) => {
    const { data, meta } = await page(query);
    expect(meta).toMatchObject({ per_page: size, total: 7, totalPages: Math.ceil(7 / size) });
    expect(data).toHaveLength(Math.min(size, 7));
  });

  it.each(['0', '-1', '1.5', 'abc', '1e3', '0x10', ' ', 'NaN'])('of %s is refused, and so is such a page', async (value) => {
    const text = encodeURIComponent(value);
    for (const name of ['per_page', 'limit', 'page']) expectRefusal(await acme.owner.get(`/contacts?${name}=${text}`), 400, name);
  });

  it('given twice is refused', async () => {
    expectRefusal(await acme.owner.get('/contacts?per_page=1&per_page=2'), 400, 'per_page');
  });
});

describe('the page number', () => {
  it('shows each record on one page, and none beyond the last', async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((n) => first(`sort=firstName&order=asc&per_page=3&page=${n}`)));
    expect(pages).toEqual([['n0', 'n1', 'n2'], ['n3', 'n4', 'n5'], ['n6'], []]);
    expect((await page('page=4&per_page=3')).meta).toEqual({ page: 4, per_page: 3, total: 7, totalPages: 3, next_cursor: null });
  });

  it('is refused where no list is so long', async () => {
    expectRefusal(await acme.owner.get('/contacts?page=2000000000&per_page=200'), 400, 'page');
  });
});

describe('the cursor', () => {
  it('goes on after its record, until there is none', async () => {
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta }: Loose = await page(`sort=firstName&order=desc&per_page=2&cursor=${cursor}`);
      names.push(...data.map((c: Loose) => c.firstName));
      cursor = meta.next_cursor;
    }
    expect(names).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
  });

  it('of another order, another sort or another list is refused', async () => {
    const { next_cursor: cursor } = (await page('per_page=2&sort=firstName&order=asc')).meta;
    expectRefusal(await acme.owner.get(`/contacts?sort=firstName&order=desc&cursor=${cursor}`), 400, 'cursor');
    expectRefusal(await acme.owner.get(`/contacts?sort=lastName&order=asc&cursor=${cursor}`), 400, 'cursor');
    // Companies are sorted as contacts are, by default.
    const { next_cursor: newest } = (await page('per_page=2')).meta;
    expectRefusal(await acme.owner.get(`/companies?cursor=${newest}`), 400, 'cursor');
    const { errors } = await acme.owner.gql('query ($after: String) { companies(after: $after) { nodes { id } } }', { after: newest });
    expect(errors![0].extensions).toMatchObject({ status: 400, details: [{ field: 'after', code: 'invalid_format' }] });
  });

  it('and a page number exclude each other', async () => {
    const { next_cursor: cursor } = (await page('per_page=2')).meta;
    expectRefusal(await acme.owner.get(`/contacts?page=2&cursor=${cursor}`), 400, 'page');
  });

  it('goes on beside the first page, which clients send where their caller names none', async () => {
    const { next_cursor: cursor } = (await page('per_page=2')).meta;
    expect(await page(`page=1&per_page=2&cursor=${cursor}`)).toEqual(await page(`per_page=2&cursor=${cursor}`));
  });

  it('of another account shows nothing of it', async () => {
    const { next_cursor: cursor } = (await page('per_page=2')).meta;
    const other = await api.seed.account();
    const own = await other.contact({ firstName: 'own' });
    const { data } = dataOf(await other.owner.get(`/contacts?cursor=${cursor}`));
    expect(data.every((c: Loose) => c.id === own.id)).toBe(true);
  });
});

describe('a cursor', () => {
  it.each([
    ['nonsense', 'nonsense'],
    ['JSON that is none of ours', Buffer.from('{"id":1}').toString('base64url')],
    ['an id that is none', Buffer.from('["contacts","createdAt","desc",null,"x"]').toString('base64url')],
    [
      'a key that is no text',
      Buffer.from('["contacts","createdAt","desc",1,"00000000-0000-7000-8000-000000000000"]').toString('base64url'),
    ],
    [
      'a key that is no time',
      Buffer.from('["contacts","createdAt","desc","x","00000000-0000-7000-8000-000000000000"]').toString('base64url'),
    ],
    ['a NUL', Buffer.from('["contacts","createdAt","desc","\\u0000","00000000-0000-7000-8000-000000000000"]').toString('base64url')],
    ['a megabyte', 'A'.repeat(10_000)],
  ])('that is %s is refused', async (_what, cursor) => {
    expectRefusal(await acme.owner.get(`/contacts?cursor=${cursor}`), 400, 'cursor');
  });

  it.each([
    ['contacts', 'createdAt', '2026-99-99 99:99:99+00'],
    ['contacts', 'createdAt', '2026-02-30 10:00:00+00'],
    ['contacts', 'createdAt', '2026-02-20 24:30:00.5+00'],
    ['contacts', 'createdAt', '2026-02-20 10:00:00+99'],
    ['contacts', 'leadScore', '9999999999'],
    ['invoices', 'dueDate', '2026-02-30'],
  ])('of %s by %s with %s, which is no value of that type, is refused', async (list, sort, key) => {
    const cursor = Buffer.from(JSON.stringify([list, sort, 'desc', key, '00000000-0000-7000-8000-000000000000'])).toString('base64url');
    expectRefusal(await acme.owner.get(`/${list}?sort=${sort}&order=desc&cursor=${cursor}`), 400, 'cursor');
    const document = `query ($after: String) { ${list}(sort: ${sort}, order: desc, after: $after) { nodes { id } } }`;
    expectGraphQLRefusal(await acme.owner.gql(document, { after: cursor }), 400, 'after');
  });
});

describe('the sort', () => {
  it.each([
    ['sort=password', 'sort'],
    ['sort=firstName,lastName', 'sort'],
    ['order=up', 'order'],
    ['order=asc;drop%20table%20contacts', 'order'],
    ['sort=firstName&sort=lastName', 'sort'],
    ['sort[]=firstName', undefined],
  ])('%s', async (query, field) => {
    const reply = await acme.owner.get(`/contacts?${query}`);
    if (field) expectRefusal(reply, 400, field);
    else expect(reply.status).toBeLessThan(500);
  });
});

describe('a total', () => {
  it('is exact through creations, deletions, restorations and filters', async () => {
    const other = await api.seed.account();
    const total = async (query = '') => dataOf(await other.owner.get(`/contacts?per_page=1${query}`)).meta.total;
    expect(await total()).toBe(0);
    const contacts = [await other.contact({ firstName: 'a' }), await other.contact({ firstName: 'b', source: 'web' })];
    expect([await total(), await total('&source=web')]).toEqual([2, 1]);
    await other.owner.del(`/contacts/${contacts[1].id}`);
    expect([await total(), await total('&source=web')]).toEqual([1, 0]);
    await other.owner.post(`/contacts/${contacts[1].id}/restore`);
    expect([await total(), await total('&source=web')]).toEqual([2, 1]);
    expect((await other.owner.post('/contacts', { firstName: 'c', companyId: crypto.randomUUID() })).status).toBe(400);
    expect(await total()).toBe(2);
    expect((await other.owner.gql('{ contacts { totalCount } }')).data.contacts.totalCount).toBe(2);
  });
});

describe('the total', () => {
  const many = 10_001;
  beforeAll(async () => {
    await api.app.database.prisma.$executeRaw`
      insert into tasks (account_id, id, title, created_by, created_at, updated_at)
      select ${acme.id}::uuid, gen_random_uuid(), 'Call', ${acme.ownerId}::uuid, now(), now() from generate_series(1, ${many}::int)`;
  });
  const tasks = async (query: string) => dataOf(await acme.owner.get(`/tasks?per_page=2&${query}`));

  it('is counted to 10,000 where an estimate is enough, and further where it is kept anyway', async () => {
    expect((await tasks('status=todo')).meta).toMatchObject({ total: many, totalPages: 5001 });
    expect((await tasks('status=todo&count=exact')).meta.total).toBe(many);
    expect((await tasks('status=todo&count=estimated')).meta).toMatchObject({ total: 10_000, totalPages: 5000 });
    expect((await tasks('count=estimated')).meta.total).toBe(many);
    expect((await page('search=n1&count=estimated')).meta.total).toBe(1);
    const { data } = await acme.owner.gql('{ tasks(filter: { status: todo }, count: estimated, first: 1) { totalCount nodes { id } } }');
    expect((data as Loose).tasks).toMatchObject({ totalCount: 10_000, nodes: [{}] });
  });

  it('is left out where nobody wants it; the page is the same', async () => {
    const [counted, without] = [await tasks('status=todo'), await tasks('status=todo&count=none')];
    expect(without).toEqual({ data: counted.data, meta: { ...counted.meta, total: null, totalPages: null } });
    const bare = await acme.owner.get('/automations?count=none');
    expect([bare.status, bare.headers['x-total-count'], bare.headers['x-page']]).toEqual([200, undefined, '1']);
    expectRefusal(await acme.owner.get('/tasks?count=roughly'), 400, 'count');
  });
});
