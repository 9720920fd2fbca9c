import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let pipeline: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  pipeline = await acme.pipeline();
});
afterAll(() => api.close());

const create = (body: object) =>
  acme.owner.post('/deals', { title: 'Deal', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, ...body });
const made = async (body: object = {}) => dataOf(await create(body));
const patched = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/deals/${id}`, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/deals/${id}`));
const names = (deal: Loose) => deal.products.map((line: Loose) => line.name);
const line = (fields: object = {}) => ({ name: 'Seat', unitPrice: 10, ...fields });

describe('the products of a deal', () => {
  it('are kept with their amounts, and read in their order', async () => {
    const id = crypto.randomUUID();
    const products = [
      line({ name: 'last', sortOrder: 5, unitPrice: '19.99', quantity: 2.5, discount: '1.10', tax: 3, description: 'A year' }),
      line({ name: 'first', id, sortOrder: 0.5 }),
      line({ name: 'middle' }),
    ];
    const deal = await made({ products });
    expect(deal.products).toEqual([
      { id, name: 'first', description: null, quantity: 1, unitPrice: 10, discount: null, tax: null, sortOrder: 0.5 },
      expect.objectContaining({ name: 'middle', sortOrder: 2 }),
      { id: expect.any(String), name: 'last', description: 'A year', quantity: 2.5, unitPrice: 19.99, discount: 1.1, tax: 3, sortOrder: 5 },
    ]);
    expect((await read(deal.id)).products).toEqual(deal.products);
    const [listed] = dataOf(await acme.owner.get('/deals?per_page=1')).data;
    expect(listed.products).toEqual(deal.products);
  });

  it('come as they came where nothing says otherwise, up to fifty', async () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => line({ name: `Line ${i}` }));
    const deal = await made({ products: many(50) });
    expect(names(await read(deal.id))).toEqual(names({ products: many(50) }));
    await expectNothingWritten(api, async () => expectRefusal(await create({ products: many(51) }), 400, 'products'));
  });

  it('may bear the ids of another deal’s lines, but each once', async () => {
    const [first] = (await made({ products: [line()] })).products;
    expect((await made({ products: [line({ id: first.id })] })).products[0].id).toBe(first.id);
    await expectNothingWritten(api, async () =>
      expectRefusal(await create({ products: [line({ id: first.id }), line({ id: first.id })] }), 400, 'products.1.id'),
    );
  });

  it('name what is wrong with a line', async () => {
    const wrong: [object, string][] = [
      [{ unitPrice: 1 }, 'products.0.name'],
      [{ name: 'a' }, 'products.0.unitPrice'],
      [line({ name: ' ' }), 'products.0.name'],
      [line({ unitPrice: 'ten' }), 'products.0.unitPrice'],
      [line({ unitPrice: 1.005 }), 'products.0.unitPrice'],
      [line({ quantity: -1 }), 'products.0.quantity'],
      [line({ id: 'x' }), 'products.0.id'],
    ];
    await expectNothingWritten(api, async () => {
      for (const [product, field] of wrong) expectRefusal(await create({ products: [product] }), 400, field);
      const huge = line({ quantity: 99999999999999, unitPrice: '9999999999999999' });
      expectRefusal(await create({ products: [huge] }), 400, 'products');
    });
  });
});

describe('the value of a deal', () => {
  const lines = [line({ quantity: 3, unitPrice: '19.99', discount: 5, tax: '4.20' }), line({ quantity: '0.333', unitPrice: 1 })];

  it('is the sum over its lines, each quantity × price − discount + tax, rounded half up', async () => {
    expect((await made({ products: lines })).value).toBe(59.5);
    expect((await made({ products: [line({ quantity: 0.5, unitPrice: 0.01 })] })).value).toBe(0.01);
    expect((await made({ products: [line({ discount: 25 })] })).value).toBe(-15);
    expect((await made({ products: [] })).value).toBeNull();
  });

  it('is what was said where it was said', async () => {
    const deal = await made({ value: 7, products: lines });
    expect(deal.value).toBe(7);
    expect((await patched(deal.id, { products: [line()] })).value).toBe(7);
    expect((await patched(deal.id, { value: null })).value).toBe(10);
    expect((await patched(deal.id, { products: [line({ unitPrice: 4 })] })).value).toBe(4);
    expect(await patched(deal.id, { value: 3 })).toMatchObject({ value: 3, products: [{ unitPrice: 4 }] });
    expect(await patched(deal.id, { value: 0 })).toMatchObject({ value: 0 });
  });

  it('goes with the lines that it came from', async () => {
    const deal = await made({ products: lines });
    expect(await patched(deal.id, { products: [] })).toMatchObject({ value: null, products: [] });
    expect(await patched(deal.id, { products: [line({ quantity: 2 })] })).toMatchObject({ value: 20 });
    expect(await read(deal.id)).toMatchObject({ value: 20, products: [{ quantity: 2 }] });
  });

  it('is given, or follows its lines again, also where the amount stays as it is', async () => {
    const given = await made({ value: 10, products: [line()] });
    const told = await toldIn(acme, async () => expect(await patched(given.id, { value: null })).toEqual(given));
    expect([told.events, told.entries]).toEqual([[], []]);
    expect((await patched(given.id, { products: [line({ unitPrice: 4 })] })).value).toBe(4);
    const summed = await made({ products: [line()] });
    expect(await patched(summed.id, { value: 10 })).toEqual(summed);
    expect((await patched(summed.id, { products: [line({ unitPrice: 4 })] })).value).toBe(10);
  });
});

describe('lines sent again', () => {
  it('as they are change nothing', async () => {
    const deal = await made({ products: [line({ name: 'a' }), line({ name: 'b', tax: 1 })] });
    await expectNothingWritten(api, async () => expect(await patched(deal.id, { products: deal.products })).toEqual(deal));
  });

  it('without their ids are the same lines', async () => {
    const bare = [
      line({ name: 'a' }),
      line({ name: 'b', quantity: 2, tax: '1.50', description: 'A year' }),
      line({ name: 'b', sortOrder: 1 }),
    ];
    const deal = await made({ products: bare });
    const again = bare.map((one) => ({ ...one, unitPrice: '10.0' }));
    await expectNothingWritten(api, async () => expect(await patched(deal.id, { products: again })).toEqual(deal));
  });

  it('in part keep the ids of those that stay, each once', async () => {
    const twin = line({ name: 'twin', sortOrder: 1 });
    const deal = await made({ products: [line({ name: 'first' }), twin, twin] });
    const [first, ...twins] = deal.products.map(({ id }: Loose) => id) as string[];
    const after = await patched(deal.id, { products: [line({ name: 'first' }), twin, twin, line({ name: 'more' })] });
    expect(after.products.map(({ id }: Loose) => id)).toEqual([first, ...twins, expect.any(String)]);
    // An id that the request gives to one line is not another's.
    const moved = await patched(deal.id, { products: [line({ name: 'renamed', id: first }), line({ name: 'first', sortOrder: 0 })] });
    expect(new Set(moved.products.map(({ id }: Loose) => id)).size).toBe(2);
    expect(moved.products.find(({ name }: Loose) => name === 'renamed').id).toBe(first);
    expect(await read(deal.id)).toMatchObject({ products: moved.products });
  });

  it('with a cent more are kept, also where doubles do not tell the amounts apart', async () => {
    const deal = await made({ products: [line({ unitPrice: '70368744177664.01' })] });
    const [{ id }] = deal.products;
    const products = [line({ id, unitPrice: '70368744177664.02', sortOrder: 0 })];
    const told = await toldIn(acme, () => patched(deal.id, { products }));
    expect(told.events).toEqual([`deal.updated ${deal.id}`]);
    expect((told.rows[0]!.changes as Loose).products.to).toMatchObject([{ id, quantity: 1, unitPrice: Number('70368744177664.02') }]);
    const { data } = await acme.owner.gql(`{ deal(id: "${deal.id}") { valueExact products { unitPriceExact } } }`);
    expect(data.deal).toEqual({ valueExact: '70368744177664.02', products: [{ unitPriceExact: '70368744177664.02' }] });
  });

  it('replace all lines of before, and the log says so', async () => {
    const deal = await made({ products: [line({ name: 'a' })] });
    const after = await patched(deal.id, { products: [line({ name: 'b' })] });
    expect([names(after), names(await read(deal.id))]).toEqual([['b'], ['b']]);
    const [entry] = dataOf(await acme.owner.get(`/activities?deal_id=${deal.id}&type=deal.updated`)).data;
    expect(entry.changes.products).toMatchObject({ from: [{ name: 'a' }], to: [{ name: 'b' }] });
  });
});
