import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const line = { description: 'Hours', quantity: 2, unitPrice: 10 };
const create = (body: unknown, account = acme) => account.owner.post('/invoices', body);
const patch = (id: string, body: unknown) => acme.owner.patch(`/invoices/${id}`, body);
const read = async (id: string) => dataOf(await acme.owner.get(`/invoices/${id}`));
const pay = (id: string, body: unknown) => acme.owner.post(`/invoices/${id}/payments`, body);
const act = (id: string, verb: 'send' | 'void') => acme.owner.post(`/invoices/${id}/${verb}`);
const numbers = async (query: string, account: Account): Promise<string[]> =>
  dataOf(await account.owner.get(`/invoices?${query}`)).data.map((invoice: Loose) => invoice.invoiceNumber);
const unknown = '00000000-0000-7000-8000-000000000000';

describe('POST /invoices', () => {
  it('answers a full draft with its amounts computed', async () => {
    const contact = await acme.contact({ firstName: 'Ada', lastName: 'Byron' });
    const product = dataOf(await acme.owner.post('/products', { name: 'Widget' }));
    const fields = { currency: 'EUR', dueDate: '2030-02-28', taxRate: 0.0875, notes: 'n'.repeat(5000), terms: 't'.repeat(5000) };
    const reply = await create({
      ...fields,
      contactId: contact.id,
      invoiceNumber: 'A-1',
      items: [
        { description: 'Widget', quantity: 3, unitPrice: '33.33', productId: product.id },
        { description: 'Discount', quantity: 0.5, unitPrice: -20.01 },
      ],
    });
    expect(reply.status).toBe(201);
    const { id, items, ...invoice } = reply.body.data;
    expect(invoice).toEqual({
      ...{ ...fields, contactId: contact.id, companyId: null, dealId: null, invoiceNumber: 'A-1', status: 'draft' },
      ...{ contact: { id: contact.id, firstName: 'Ada', lastName: 'Byron' } },
      ...{ subtotal: 89.98, taxAmount: 7.87, total: 97.85, amountPaid: 0, payments: [] },
      ...{ sentAt: null, paidAt: null, voidedAt: null, createdAt: expect.any(String), updatedAt: invoice.createdAt },
    });
    expect(items).toEqual([
      { id: expect.any(String), description: 'Widget', quantity: 3, unitPrice: 33.33, productId: product.id, amount: 99.99 },
      { id: expect.any(String), description: 'Discount', quantity: 0.5, unitPrice: -20.01, productId: null, amount: -10.01 },
    ]);
    expect(await read(id)).toEqual(reply.body.data);
  });

  it('needs at least one item, each with description, quantity and price', async () => {
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { items: null }, { items: [] }, { items: 'x' }]) expectRefusal(await create(body), 400, 'items');
      for (const name of ['description', 'quantity', 'unitPrice']) {
        const { [name as keyof typeof line]: _left, ...rest } = line;
        expectRefusal(await create({ items: [line, rest] }), 400, `items.1.${name}`);
        expectRefusal(await create({ items: [{ ...line, [name]: null }] }), 400, `items.0.${name}`);
      }
      for (const quantity of [0, -1, 0.00001, 'two', 1e15]) {
        expectRefusal(await create({ items: [{ ...line, quantity }] }), 400, 'items.0.quantity');
      }
      expectRefusal(await create({ items: [{ ...line, unitPrice: 0.001 }] }), 400, 'items.0.unitPrice');
      expectRefusal(await create({ items: [{ ...line, unitPrice: -10 }] }), 400, 'items');
      expectRefusal(await create({ items: [{ ...line, quantity: 9e13, unitPrice: 9e15 }] }), 400, 'items');
      expectRefusal(await create({ items: Array(501).fill(line) }), 400, 'items');
    });
  });

  it('refuses fields that are no such thing', async () => {
    const wrong: Record<string, unknown>[] = [
      ...[{ taxRate: -0.01 }, { taxRate: 8.75 }, { taxRate: 0.1234567 }, { taxRate: 'some' }, { dueDate: '2030-02-30' }],
      ...[{ dueDate: 'soon' }, { currency: 'E€R' }, { invoiceNumber: 'n'.repeat(51) }],
      ...[{ notes: 'n'.repeat(5001) }, { terms: 't'.repeat(5001) }, { contactId: 'no-uuid' }, { companyId: 7 }, { dealId: {} }],
    ];
    await expectNothingWritten(api, async () => {
      for (const fields of wrong) expectRefusal(await create({ items: [line], ...fields }), 400, Object.keys(fields)[0]);
    });
  });

  it('names every record that is not of the workspace', async () => {
    const other = await api.seed.account();
    const theirs = await other.contact();
    const [gone, product] = [await acme.contact(), dataOf(await other.owner.post('/products', { name: 'Theirs' }))];
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    await expectNothingWritten(api, async () => {
      for (const contactId of [theirs.id, gone.id, unknown]) expectRefusal(await create({ items: [line], contactId }), 400, 'contactId');
      for (const name of ['companyId', 'dealId']) expectRefusal(await create({ items: [line], [name]: unknown }), 400, name);
      expectRefusal(await create({ items: [line, { ...line, productId: product.id }] }), 400, 'items.1.productId');
    });
  });
});

describe('what POST /invoices fills in and takes', () => {
  it('takes an archived product', async () => {
    const { id: productId } = dataOf(await acme.owner.post('/products', { name: 'Old' }));
    dataOf(await acme.owner.del(`/products/${productId}`));
    expect((await create({ items: [{ ...line, productId }] })).status).toBe(201);
  });

  it("fills in the workspace's tax rate and currency, and 30 days to pay in its time zone", async () => {
    const account = await api.seed.account();
    await api.app.database.prisma.account.update({
      where: { id: account.id },
      data: { defaultTaxRate: '0.2', currency: 'CHF', timezone: 'Pacific/Auckland' },
    });
    api.clock.set('2026-12-05T12:00:00Z');
    const invoice = dataOf(await (await account.login()).post('/invoices', { items: [line] }));
    api.clock.reset();
    expect(invoice).toMatchObject({ taxRate: 0.2, currency: 'CHF', subtotal: 20, taxAmount: 4, total: 24, dueDate: '2027-01-05' });
  });

  it('numbers the invoices of each workspace from INV-000001, past those that were given', async () => {
    const account = await api.seed.account();
    const number = async (fields: Record<string, unknown> = {}) => (await account.invoice(fields)).invoiceNumber;
    expect(await number()).toBe('INV-000001');
    expect(await number({ invoiceNumber: 'INV-000003' })).toBe('INV-000003');
    expectRefusal(await create({ items: [line], invoiceNumber: 'INV-000001' }, account), 400, 'invoiceNumber');
    expectRefusal(await create({ items: [] }, account), 400);
    expect([await number(), await number()]).toEqual(['INV-000002', 'INV-000004']);
    expect((await (await api.seed.account()).invoice()).invoiceNumber).toBe('INV-000001');
  });

  it('is refused with 402 when the trial is over', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const { id } = await account.invoice();
    api.clock.advance(15 * day);
    const owner = await account.login();
    expectRefusal(await owner.post('/invoices', { items: [line] }), 402);
    expectRefusal(await owner.post(`/invoices/${id}/payments`, { amount: 1 }), 402);
    expectRefusal(await owner.post('/products', { name: 'Late' }), 402);
    dataOf(await owner.get(`/invoices/${id}`));
    api.clock.reset();
  });
});

describe('PATCH /invoices/{id}', () => {
  it('changes what is given and computes the amounts anew', async () => {
    const before = await acme.invoice({ notes: 'old' });
    const after = dataOf(await patch(before.id, { taxRate: '0.1', notes: null, dueDate: '2031-01-01', invoiceNumber: 'Mine' }));
    expect(after).toEqual({
      ...before,
      ...{ taxRate: 0.1, notes: null, dueDate: '2031-01-01', invoiceNumber: 'Mine', taxAmount: 12, total: 132, updatedAt: after.updatedAt },
    });
    const replaced = dataOf(await patch(before.id, { items: [{ ...line, quantity: 5 }] }));
    expect(replaced).toMatchObject({ subtotal: 50, taxAmount: 5, total: 55, items: [{ quantity: 5, amount: 50 }] });
    expect(await read(before.id)).toEqual(replaced);
  });

  it('changes nothing when nothing differs', async () => {
    const invoice = await acme.invoice();
    await expectNothingWritten(api, async () => {
      expect(dataOf(await patch(invoice.id, {}))).toEqual(invoice);
      const { invoiceNumber, taxRate, dueDate, items } = invoice;
      const same = items.map(({ description, quantity, unitPrice }: Loose) => ({ description, quantity, unitPrice }));
      expect(dataOf(await patch(invoice.id, { invoiceNumber, taxRate: String(taxRate), dueDate, items: same }))).toEqual(invoice);
    });
  });

  it('answers 409 once it is no draft', async () => {
    for (const verb of ['send', 'void'] as const) {
      const { id } = await acme.invoice();
      dataOf(await act(id, verb));
      await expectNothingWritten(api, async () => expectRefusal(await patch(id, { notes: 'late' }), 409));
    }
  });

  it('answers 409 once it is no draft, also where it would come to less than was paid', async () => {
    const [paid, partly] = [await acme.invoice(), await acme.invoice()];
    dataOf(await act(partly.id, 'send'));
    dataOf(await pay(paid.id, { amount: 120 }));
    dataOf(await pay(partly.id, { amount: 50 }));
    expect([(await read(paid.id)).status, (await read(partly.id)).status]).toEqual(['paid', 'sent']);
    await expectNothingWritten(api, async () => {
      for (const { id } of [paid, partly])
        for (const body of [{ items: [line] }, { items: [{ ...line, quantity: 50 }] }, { taxRate: 0 }])
          expectRefusal(await patch(id, body), 409, 'status');
    });
  });

  it('refuses no items, a taken number and foreign records', async () => {
    const [{ id }, other] = [await acme.invoice(), await acme.invoice()];
    await expectNothingWritten(api, async () => {
      expectRefusal(await patch(id, { items: [] }), 400, 'items');
      expectRefusal(await patch(id, { items: null }), 400, 'items');
      expectRefusal(await patch(id, { invoiceNumber: other.invoiceNumber }), 400, 'invoiceNumber');
      expectRefusal(await patch(id, { contactId: unknown }), 400, 'contactId');
    });
  });

  it('never goes below what was paid, and is paid when it comes to just that', async () => {
    const { id } = await acme.invoice();
    dataOf(await pay(id, { amount: 50 }));
    expectRefusal(await patch(id, { items: [{ ...line, quantity: 4.9 }] }), 400, 'items');
    expect(dataOf(await patch(id, { items: [{ ...line, quantity: 5 }] }))).toMatchObject({ status: 'paid', total: 50, amountPaid: 50 });
  });
});

it.each([
  [1, '70368744177664.02'],
  [3, '211106232532992.06'],
])('A cent of an amount that doubles do not tell apart is an edit: %d of it', async (quantity, total) => {
  const items = (unitPrice: string) => [{ description: 'x', quantity, unitPrice }];
  const { id } = await acme.invoice({ taxRate: 0, items: items('70368744177664.01') });
  const told = await toldIn(acme, async () => dataOf(await patch(id, { items: items('70368744177664.02') })));
  expect(told.events).toEqual([`invoice.updated ${id}`]);
  const [{ changes }] = told.rows as [Loose];
  expect(Object.keys(changes).sort()).toEqual(['items', 'total']);
  expect(changes.items.to).toEqual([{ description: 'x', productId: null, quantity, unitPrice: Number('70368744177664.02') }]);
  const { data } = await acme.owner.gql(`{ invoice(id: "${id}") { totalExact items { unitPriceExact amountExact } } }`);
  expect(data.invoice).toEqual({ totalExact: total, items: [{ unitPriceExact: '70368744177664.02', amountExact: total }] });
  await expectNothingWritten(api, async () => dataOf(await patch(id, { items: items('70368744177664.02') })));
});

it('An invoice over nothing is paid when it is sent, and that is told once', async () => {
  const items = [{ description: 'Free', quantity: 1, unitPrice: 0 }];
  const { id } = await acme.invoice({ items });
  expect(dataOf(await acme.owner.patch(`/invoices/${id}`, { notes: 'still a draft' })).status).toBe('draft');
  const told = await toldIn(acme, async () => dataOf(await acme.owner.post(`/invoices/${id}/send`)));
  expect(told.events).toEqual([`invoice.paid ${id}`, `invoice.sent ${id}`, `invoice.updated ${id}`]);
  const { status, sentAt, paidAt, amountPaid } = dataOf(await acme.owner.get(`/invoices/${id}`));
  expect({ status, amountPaid, sent: Boolean(sentAt), paid: paidAt >= sentAt }).toEqual({
    status: 'paid',
    amountPaid: 0,
    sent: true,
    paid: true,
  });
  expectRefusal(await acme.owner.post(`/invoices/${id}/send`), 409);
});

describe('GET /invoices', () => {
  let shop: Account;
  let ada: string;
  beforeAll(async () => {
    shop = await api.seed.account();
    ada = (await shop.contact({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.org' })).id;
    const ids: Record<string, string> = {};
    for (const [number, fields] of Object.entries({
      D: {},
      S: { contactId: ada },
      P: {},
      V: {},
      L: { dueDate: '2020-01-01', contactId: ada },
    })) {
      ids[number] = (await shop.invoice({ invoiceNumber: `No-${number}`, ...fields })).id;
    }
    for (const number of ['S', 'P', 'L']) dataOf(await shop.owner.post(`/invoices/${ids[number]}/send`));
    dataOf(await shop.owner.post(`/invoices/${ids.V}/void`));
    dataOf(await shop.owner.post(`/invoices/${ids.P}/payments`, { amount: 120 }));
  });

  it('answers full records in pages, newest first', async () => {
    const { data, meta } = dataOf(await shop.owner.get('/invoices?per_page=2'));
    expect(meta).toMatchObject({ page: 1, per_page: 2, total: 5, totalPages: 3 });
    expect(data[0]).toMatchObject({
      invoiceNumber: 'No-L',
      status: 'overdue',
      contact: { id: ada, firstName: 'Ada', lastName: 'Lovelace' },
    });
    expect(data[0]).toEqual(dataOf(await shop.owner.get(`/invoices/${data[0].id}`)));
    expect(await numbers(`per_page=2&cursor=${meta.next_cursor}`, shop)).toEqual(['No-P', 'No-S']);
  });

  it('filters by status, overdue among them', async () => {
    for (const [status, number] of Object.entries({ draft: 'D', sent: 'S', paid: 'P', overdue: 'L', void: 'V' })) {
      expect(await numbers(`status=${status}`, shop)).toEqual([`No-${number}`]);
    }
    expectRefusal(await shop.owner.get('/invoices?status=late'), 400, 'status');
  });

  it('filters by contact, searches number and contact, and takes days as they are in the workspace', async () => {
    expect(await numbers(`contact_id=${ada}&sort=dueDate&order=asc`, shop)).toEqual(['No-L', 'No-S']);
    expect(await numbers(`contact_id=${unknown}`, shop)).toEqual([]);
    expect(await numbers('search=no-p', shop)).toEqual(['No-P']);
    expect(await numbers('search=lovel', shop)).toEqual(['No-L', 'No-S']);
    const today = new Date().toISOString().slice(0, 10);
    expect((await numbers(`date_from=${today}&date_to=${today}`, shop)).length).toBe(5);
    expect(await numbers('date_to=2020-12-31', shop)).toEqual([]);
    expectRefusal(await shop.owner.get('/invoices?date_from=yesterday'), 400, 'date_from');
  });

  it('is one statement with items, payments and contacts', async () => {
    dataOf(await shop.owner.get('/invoices'));
    expect(await api.statements(async () => dataOf(await shop.owner.get('/invoices?status=sent')))).toBe(1);
  });
});
