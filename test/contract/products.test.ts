import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown, account = acme) => account.owner.post('/products', body);
const made = async (body: object, account = acme) => dataOf(await create(body, account));
const patch = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/products/${id}`, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/products/${id}`));
const names = async (query: string, account: Account) =>
  dataOf(await account.owner.get(`/products?${query}`)).data.map((product: { name: string }) => product.name);

describe('POST /products', () => {
  it('keeps every field as it was sent', async () => {
    const fields = {
      name: 'n'.repeat(200),
      description: 'd'.repeat(5000),
      price: 1234.56,
      sku: 's'.repeat(100),
      unit: 'hour',
      taxable: false,
      currency: 'EUR',
      isActive: false,
      metadata: { shelf: 4, nested: { deep: [1, null, 'x'] } },
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toEqual({
      ...fields,
      active: false,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: reply.body.data.createdAt,
      archivedAt: null,
    });
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
  });

  it('needs a name and fills in the rest', async () => {
    for (const body of [{}, { name: '' }, { name: null }, { price: 5 }]) expectRefusal(await create(body), 400, 'name');
    const product = await made({ name: 'Plain' });
    expect(product).toMatchObject({ description: null, price: null, sku: null, unit: null, metadata: null, currency: 'USD' });
    expect(product).toMatchObject({ taxable: true, active: true, isActive: true });
  });

  it('takes active for isActive, and shows both', async () => {
    expect(await made({ name: 'Old', active: false })).toMatchObject({ active: false, isActive: false });
    expect(await made({ name: 'Old', isActive: false })).toMatchObject({ active: false, isActive: false });
  });

  it('takes a price as number or text, exactly', async () => {
    expect((await made({ name: 'Text', price: '0.10' })).price).toBe(0.1);
    expect((await made({ name: 'Most', price: '9999999999999999.99' })).price).toBe(Number('9999999999999999.99'));
    for (const price of [999999999999.99, 50000000000000.98, 9007199254740991, '90071992547409.93'])
      expect((await made({ name: 'Large', price })).price).toBe(Number(price));
    for (const price of [-0.01, 1.005, 'ten', '1e3', true, 1e17, 90071992547409.94, 2 ** 53])
      expectRefusal(await create({ name: 'Bad', price }), 400, 'price');
  });

  it('refuses what is too long or of another type, and writes nothing', async () => {
    const wrong: Record<string, unknown>[] = [
      ...[{ name: 'n'.repeat(201) }, { description: 'd'.repeat(5001) }, { sku: 's'.repeat(101) }, { unit: 'u'.repeat(51) }],
      ...[{ currency: 'c'.repeat(11) }, { currency: 'euro' }, { taxable: 'yes' }, { isActive: 'no' }, { metadata: [] }, { metadata: 'x' }],
    ];
    await expectNothingWritten(api, async () => {
      for (const fields of wrong) expectRefusal(await create({ name: 'Bad', ...fields }), 400, Object.keys(fields)[0]);
      expectRefusal(await create({ name: 'Bad', metadata: { k: 'x'.repeat(65 * 1024) } }), 413, 'metadata');
    });
  });
});

describe('POST /products with nulls', () => {
  it('takes a null for what has a default as left out', async () => {
    expect(await made({ name: 'Plain', currency: null, isActive: null, taxable: null })).toMatchObject({
      ...{ currency: 'USD', isActive: true, taxable: true },
    });
  });
});

describe('PATCH /products/{id}', () => {
  it('changes what is given, and null clears', async () => {
    const { id, ...before } = await made({ name: 'Chair', price: 10, sku: 'C-1', metadata: { a: 1 } });
    const after = await patch(id, { price: 12, sku: null, metadata: null });
    expect(after).toEqual({ ...before, id, price: 12, sku: null, metadata: null, updatedAt: after.updatedAt });
    expect(await read(id)).toEqual(after);
  });

  it('leaves a product as it is when nothing differs', async () => {
    const product = await made({ name: 'Table', price: 10 });
    await expectNothingWritten(api, async () => {
      expect(await patch(product.id, {})).toEqual(product);
      expect(await patch(product.id, { name: 'Table', price: '10.00', active: true })).toEqual(product);
    });
  });

  it('refuses to empty what is never empty', async () => {
    const { id } = await made({ name: 'Lamp' });
    for (const body of [{ name: '' }, { name: null }]) expectRefusal(await acme.owner.patch(`/products/${id}`, body), 400, 'name');
  });
});

describe('DELETE /products/{id}', () => {
  it('archives: out of the catalog, inactive, still there by its id', async () => {
    const account = await api.seed.account();
    const { id } = await made({ name: 'Gone' }, account);
    await made({ name: 'Here' }, account);
    const reply = await account.owner.del(`/products/${id}`);
    expect(reply.body).toEqual({ data: { id, archived: true } });
    expect(await names('', account)).toEqual(['Here']);
    expect(await names('is_active=false', account)).toEqual(['Gone']);
    const kept = dataOf(await account.owner.get(`/products/${id}`));
    expect(kept).toMatchObject({ name: 'Gone', active: false, isActive: false, archivedAt: expect.stringMatching(/Z$/) });
  });

  it('may be said twice, and an archived product can be brought back', async () => {
    const { id } = await made({ name: 'Phoenix' });
    dataOf(await acme.owner.del(`/products/${id}`));
    await expectNothingWritten(api, async () => {
      expect(dataOf(await acme.owner.del(`/products/${id}`))).toEqual({ id, archived: true });
    });
    expect(await patch(id, { active: true })).toMatchObject({ active: true, archivedAt: null });
    expect(await names('search=phoenix', acme)).toEqual(['Phoenix']);
  });
});

describe('GET /products', () => {
  let shop: Account;
  beforeAll(async () => {
    shop = await api.seed.account();
    for (const [name, sku, active] of [
      ['Oak desk', 'DSK-100', true],
      ['Pine DESK', 'DSK-200', false],
      ['Setup 100%', null, true],
    ] as const) {
      await made({ name, sku, active }, shop);
    }
  });

  it('answers pages, newest first, with the exact total', async () => {
    const { data, meta } = dataOf(await shop.owner.get('/products?per_page=2'));
    expect(data.map((product: { name: string }) => product.name)).toEqual(['Setup 100%', 'Pine DESK']);
    expect(meta).toMatchObject({ page: 1, per_page: 2, total: 3, totalPages: 2 });
    expect(await names('per_page=2&page=2', shop)).toEqual(['Oak desk']);
    expect(await names(`per_page=2&cursor=${meta.next_cursor}`, shop)).toEqual(['Oak desk']);
  });

  it('sorts by price, those without one last both ways', async () => {
    const own = await api.seed.account();
    for (const [name, price] of Object.entries({ Dear: 300, Free: 0, Unpriced: undefined, Cheap: 20.5 })) await made({ name, price }, own);
    expect(await names('sort=price&order=asc', own)).toEqual(['Free', 'Cheap', 'Dear', 'Unpriced']);
    expect(await names('sort=price&order=desc', own)).toEqual(['Dear', 'Cheap', 'Free', 'Unpriced']);
  });

  it('searches name and SKU without regard to case', async () => {
    expect(await names('search=desk&sort=name&order=asc', shop)).toEqual(['Oak desk', 'Pine DESK']);
    expect(await names('search=dsk-2', shop)).toEqual(['Pine DESK']);
    expect(await names('search=100', shop)).toEqual(['Setup 100%', 'Oak desk']);
    expect(await names('search=0%25', shop)).toEqual([]);
    expect(await names('search=00%25', shop)).toEqual(['Setup 100%']);
    expect(await names('search=oa', shop)).toEqual(['Oak desk']);
    expect(await names('search=ak', shop)).toEqual([]);
  });

  it('filters by is_active, whatever it is called', async () => {
    for (const name of ['is_active', 'isActive', 'active']) {
      expect(await names(`${name}=true`, shop)).toEqual(['Setup 100%', 'Oak desk']);
      expect(await names(`${name}=0`, shop)).toEqual(['Pine DESK']);
    }
    expectRefusal(await shop.owner.get('/products?is_active=maybe'), 400, 'is_active');
  });

  it('takes one statement', async () => {
    dataOf(await shop.owner.get('/products'));
    expect(await api.statements(async () => dataOf(await shop.owner.get('/products?search=desk')))).toBe(1);
  });
});

describe('products in GraphQL', () => {
  it('are made, changed, listed and archived', async () => {
    const shop = await api.seed.account();
    const run = async (text: string) => {
      const { data, errors } = await shop.owner.gql(text);
      expect(errors).toBeUndefined();
      return data;
    };
    const { createProduct } = await run('mutation { createProduct(input: { name: "Desk", price: "99.90" }) { id price active } }');
    expect(createProduct).toMatchObject({ price: 99.9, active: true });
    const id = createProduct.id;
    expect((await run(`mutation { updateProduct(id: "${id}", input: { price: null }) { price } }`)).updateProduct).toEqual({ price: null });
    expect((await run('{ products(filter: { search: "desk" }) { totalCount nodes { id } } }')).products).toEqual({
      totalCount: 1,
      nodes: [{ id }],
    });
    expect((await run(`mutation { archiveProduct(id: "${id}") { archived } }`)).archiveProduct).toEqual({ archived: true });
    expect((await run('{ products { totalCount } }')).products.totalCount).toBe(0);
    expect((await run(`{ product(id: "${id}") { isActive } }`)).product).toEqual({ isActive: false });
    expectGraphQLRefusal(await shop.owner.gql('mutation { createProduct(input: { name: "x", price: -1 }) { id } }'), 400, 'price');
  });
});
