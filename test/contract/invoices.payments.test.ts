import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GraphQLObjectType } from 'graphql';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
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

const read = async (id: string) => dataOf(await acme.owner.get(`/invoices/${id}`));
const pay = (id: string, body: unknown) => acme.owner.post(`/invoices/${id}/payments`, body);
const act = (id: string, verb: 'send' | 'void') => acme.owner.post(`/invoices/${id}/${verb}`);
const paidEvents = (id: string) =>
  api.app.database.prisma.outboxEvent.findMany({ where: { accountId: acme.id, name: 'invoice.paid', entityId: id } });

describe('POST /invoices/{id}/send', () => {
  it('makes a draft sent and tells when', async () => {
    const { id, invoiceNumber } = await acme.invoice();
    const reply = await act(id, 'send');
    expect(reply.body).toEqual({ data: { id, invoiceNumber, status: 'sent', sentAt: expect.stringMatching(/Z$/) } });
    expect(await read(id)).toMatchObject(reply.body.data);
  });

  it('leaves what was sent as it was first sent', async () => {
    const { id } = await acme.invoice();
    const first = dataOf(await act(id, 'send'));
    await expectNothingWritten(api, async () => expect(dataOf(await act(id, 'send'))).toEqual(first));
  });

  it('answers 409 for what is paid or void', async () => {
    const [paid, voided] = [await acme.invoice(), await acme.invoice()];
    dataOf(await pay(paid.id, { amount: 120 }));
    dataOf(await act(voided.id, 'void'));
    for (const { id } of [paid, voided]) await expectNothingWritten(api, async () => expectRefusal(await act(id, 'send'), 409));
  });
});

it('A payment of a cent is told also where doubles do not tell the sums apart', async () => {
  const items = [{ description: 'x', quantity: 1, unitPrice: '90071992547409.94' }];
  const { id } = await acme.invoice({ taxRate: 0, items });
  dataOf(await pay(id, { amount: '90071992547409.93' }));
  const { events } = await toldIn(acme, async () => dataOf(await pay(id, { amount: '0.01' })));
  expect(events).toEqual(expect.arrayContaining([`invoice.payment_recorded ${id}`, `invoice.paid ${id}`]));
});

describe('a draft that money was received for', () => {
  it('keeps its currency', async () => {
    const { id } = await acme.invoice({ currency: 'USD' });
    dataOf(await pay(id, { amount: 50 }));
    await expectNothingWritten(api, async () => expectRefusal(await acme.owner.patch(`/invoices/${id}`, { currency: 'JPY' }), 409));
    expect(dataOf(await acme.owner.patch(`/invoices/${id}`, { currency: 'USD', notes: 'Thanks' }))).toMatchObject({ currency: 'USD' });
  });

  it('names what makes it come to less than that: the items, or the tax', async () => {
    const { id } = await acme.invoice({ taxRate: 0.5 });
    dataOf(await pay(id, { amount: 150 }));
    const items = [{ description: 'Less', quantity: 1, unitPrice: 10 }];
    await expectNothingWritten(api, async () => {
      expectRefusal(await acme.owner.patch(`/invoices/${id}`, { taxRate: 0 }), 400, 'taxRate');
      expectRefusal(await acme.owner.patch(`/invoices/${id}`, { items }), 400, 'items');
      expectRefusal(await acme.owner.patch(`/invoices/${id}`, { items, taxRate: 0 }), 400, 'items');
    });
  });
});

describe('a payment that its offset or time zone leads out of the years', () => {
  it.each(['9999-12-31T23:59:59-12:00', '0001-01-01T00:00:00+14:00'])('is refused for paidAt: %s', async (paidAt) => {
    const { id } = await acme.invoice();
    await expectNothingWritten(api, async () => expectRefusal(await pay(id, { amount: 1, paidAt }), 400, 'paidAt'));
  });
});

describe('POST /invoices/{id}/void', () => {
  it('voids a draft and what was sent, for good', async () => {
    for (const sent of [false, true]) {
      const { id } = await acme.invoice();
      if (sent) dataOf(await act(id, 'send'));
      expect(dataOf(await act(id, 'void'))).toMatchObject({ id, status: 'void', voidedAt: expect.stringMatching(/Z$/) });
      await expectNothingWritten(api, async () => {
        expectRefusal(await act(id, 'void'), 409);
        expectRefusal(await pay(id, { amount: 1 }), 409);
      });
    }
  });

  it('answers 409 when it is paid, or money was received', async () => {
    for (const amount of [120, 0.01]) {
      const { id } = await acme.invoice();
      dataOf(await pay(id, { amount }));
      await expectNothingWritten(api, async () => expectRefusal(await act(id, 'void'), 409));
    }
  });
});

describe('POST /invoices/{id}/payments', () => {
  it('answers the payment, and beside it how the invoice stands', async () => {
    const { id } = await acme.invoice();
    const fields = { amount: 20.5, method: 'check', reference: 'No 7', notes: 'First' };
    const reply = await pay(id, { ...fields, paidAt: '2026-01-05T10:00:00+02:00' });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      data: {
        ...{ ...fields, id: expect.any(String), invoiceId: id, paidAt: '2026-01-05T08:00:00.000Z' },
        ...{ recordedAt: expect.stringMatching(/Z$/), recordedBy: acme.ownerId },
      },
      invoice: { id, status: 'draft', total: 120, amountPaid: 20.5 },
    });
    const { payments, amountPaid, status } = await read(id);
    expect({ payments, amountPaid, status }).toEqual({ payments: [reply.body.data], amountPaid: 20.5, status: 'draft' });
  });

  it('takes the rest for granted: method other, paid now; a day is its beginning in the workspace', async () => {
    const { id } = await acme.invoice();
    const payment = dataOf(await pay(id, { amount: '1' }));
    expect(payment).toMatchObject({ amount: 1, method: 'other', reference: null, notes: null, paidAt: payment.recordedAt });
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'America/New_York' } });
    expect(dataOf(await (await acme.login()).post(`/invoices/${id}/payments`, { amount: 1, paidAt: '2026-07-04' })).paidAt).toBe(
      '2026-07-04T04:00:00.000Z',
    );
  });

  it('refuses nothing, less, more than the balance, and what is no payment', async () => {
    const { id } = await acme.invoice();
    dataOf(await pay(id, { amount: 100 }));
    await expectNothingWritten(api, async () => {
      for (const amount of [undefined, null, 0, -5, 0.001, 'much', 20.01]) expectRefusal(await pay(id, { amount }), 400, 'amount');
      for (const fields of [{ method: 'barter' }, { reference: 'r'.repeat(201) }, { notes: 'n'.repeat(5001) }, { paidAt: 'soon' }]) {
        expectRefusal(await pay(id, { amount: 1, ...fields }), 400, Object.keys(fields)[0]);
      }
    });
  });

  it('makes the invoice paid once the total is covered, tells it once, and takes no more', async () => {
    const contact = await acme.contact({ firstName: 'Payer' });
    const { id } = await acme.invoice({ contactId: contact.id });
    dataOf(await act(id, 'send'));
    expect((await pay(id, { amount: 119.99 })).body.invoice).toEqual({ id, status: 'sent', total: 120, amountPaid: 119.99 });
    expect(await paidEvents(id)).toEqual([]);
    expect((await pay(id, { amount: 0.01 })).body.invoice).toEqual({ id, status: 'paid', total: 120, amountPaid: 120 });
    await expectNothingWritten(api, async () => expectRefusal(await pay(id, { amount: 0.01 }), 409));
    const [event, ...more] = await paidEvents(id);
    expect(more).toEqual([]);
    expect(event!.data).toEqual(await read(id));
    expect(event!.changes).toEqual({ status: { from: 'sent', to: 'paid' }, amountPaid: { from: 119.99, to: 120 } });
  });

  it('replays the outcome of an Idempotency-Key and records the money once', async () => {
    const { id } = await acme.invoice();
    const send = () => acme.owner.post(`/invoices/${id}/payments`, { amount: 10 }, { 'idempotency-key': `pay-once-${id}` });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await read(id)).amountPaid).toBe(10);
  });
});

describe('paidAt of an invoice', () => {
  it('is when the latest payment was made, in whatever order they are recorded', async () => {
    const { id } = await acme.invoice();
    dataOf(await act(id, 'send'));
    dataOf(await pay(id, { amount: 100, paidAt: '2026-01-31T10:00:00Z' }));
    expect((await read(id)).paidAt).toBeNull();
    dataOf(await pay(id, { amount: 20, paidAt: '2026-01-05T10:00:00Z' }));
    expect(await read(id)).toMatchObject({ status: 'paid', paidAt: '2026-01-31T10:00:00.000Z' });
  });

  it('is so where a draft comes down to what was paid', async () => {
    const { id } = await acme.invoice();
    dataOf(await pay(id, { amount: 50, paidAt: '2026-01-05T10:00:00Z' }));
    const items = [{ description: 'Less', quantity: 1, unitPrice: 50 }];
    const paid = { status: 'paid', paidAt: '2026-01-05T10:00:00.000Z' };
    expect(dataOf(await acme.owner.patch(`/invoices/${id}`, { items }))).toMatchObject(paid);
    expect(await read(id)).toMatchObject(paid);
  });

  it('is described so', () => {
    const { paidAt } = (api.app.registry.schema().getType('Invoice') as GraphQLObjectType).getFields();
    expect(paidAt!.description).toMatch(/^When the latest of the payments that cover it was made, whenever that was recorded/);
  });
});

describe('GET /invoices/{id}/payments', () => {
  it('answers the bare list, in the order of recording', async () => {
    const { id } = await acme.invoice();
    const made: Loose[] = [];
    for (const amount of [3, 1, 2]) made.push(dataOf(await pay(id, { amount })));
    expect((await acme.owner.get(`/invoices/${id}/payments`)).body).toEqual({ data: made });
  });
});

describe('invoices in GraphQL', () => {
  const run = async (text: string, variables?: Record<string, unknown>) => {
    const { data, errors } = await acme.owner.gql(text, variables);
    expect(errors).toBeUndefined();
    return data;
  };

  it('go from draft to paid, with their relations both ways', async () => {
    const contact = await acme.contact({ firstName: 'Grace', email: 'grace@example.org' });
    const product = dataOf(await acme.owner.post('/products', { name: 'Widget' }));
    const input = { contactId: contact.id, items: [{ description: 'Widget', quantity: '1.5', unitPrice: 10.01, productId: product.id }] };
    const { createInvoice } = await run(
      `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
        id total contact { email } items { amount quantity product { name } } } }`,
      { input },
    );
    const { id, ...made } = createInvoice;
    expect(made).toEqual({
      ...{ total: 15.02, contact: { email: 'grace@example.org' } },
      items: [{ amount: 15.02, quantity: 1.5, product: { name: 'Widget' } }],
    });
    expect((await run(`mutation { sendInvoice(id: "${id}") { status } }`)).sendInvoice).toEqual({ status: 'sent' });
    const { recordInvoicePayment } = await run(
      `mutation { recordInvoicePayment(id: "${id}", input: { amount: 15.02, method: cash }) {
        payment { amount method recorder { id } } invoice { status payments { amount } } } }`,
    );
    expect(recordInvoicePayment).toEqual({
      payment: { amount: 15.02, method: 'cash', recorder: { id: acme.ownerId } },
      invoice: { status: 'paid', payments: [{ amount: 15.02 }] },
    });
    const related = await run(`{ contact(id: "${contact.id}") { invoices(first: 5) { nodes { id status items { description } } } } }`);
    expect(related.contact.invoices.nodes).toEqual([{ id, status: 'paid', items: [{ description: 'Widget' }] }]);
    expectGraphQLRefusal(await acme.owner.gql(`mutation { voidInvoice(id: "${id}") { id } }`), 409);
  });

  it('show more of a contact than its name only to who may read contacts', async () => {
    const { id } = await acme.invoice({ contactId: (await acme.contact()).id });
    const key = await acme.key({ scopes: ['invoices'] });
    const asked = (fields: string) => key.gql(`{ invoice(id: "${id}") { contact { ${fields} } } }`);
    expect((await asked('id firstName lastName')).errors).toBeUndefined();
    expect(dataOf(await key.get(`/invoices/${id}`)).contact).toMatchObject({ firstName: 'Ada' });
    expectGraphQLRefusal(await asked('email'), 403);
    expectGraphQLRefusal(await asked('...on Contact { firstName phone }'), 403);
  });
});

describe('payments', () => {
  it('are a list over all invoices, and are summed by month, currency and method', async () => {
    const account = await api.seed.account();
    const invoice = (currency: string) =>
      account.owner.post('/invoices', { currency, items: [{ description: 'x', quantity: 1, unitPrice: 100 }] }).then(dataOf);
    const [dollars, euros] = [await invoice('USD'), await invoice('EUR')];
    const paid: [Loose, object][] = [
      [dollars, { amount: 10, method: 'cash', paidAt: '2026-01-31' }],
      [dollars, { amount: 20.5, method: 'check', paidAt: '2026-02-01' }],
      [euros, { amount: 30, method: 'cash', paidAt: '2026-02-02' }],
    ];
    for (const [{ id }, body] of paid) dataOf(await account.owner.post(`/invoices/${id}/payments`, body));
    const ask = async (fields: string) => {
      const { data, errors } = await account.owner.gql(`{ ${fields} }`);
      expect(errors).toBeUndefined();
      return data;
    };
    const lines = '{ totalCount nodes { amount currency invoice { id } } }';
    expect((await ask(`payments ${lines}`)).payments).toEqual({
      totalCount: 3,
      nodes: [
        { amount: 30, currency: 'EUR', invoice: { id: euros.id } },
        { amount: 20.5, currency: 'USD', invoice: { id: dollars.id } },
        { amount: 10, currency: 'USD', invoice: { id: dollars.id } },
      ],
    });
    const few = `payments(filter: { method: cash, dateFrom: "2026-02-01" }, sort: amount, order: asc) ${lines}`;
    expect((await ask(few)).payments.nodes.map(({ amount }: Loose) => amount)).toEqual([30]);
    const { paymentAggregate } = await ask(
      'paymentAggregate(groupBy: [{ field: paidAt, by: month }, { field: currency }]) { key { paidAt currency } count sum { amount } }',
    );
    expect(paymentAggregate.map(({ key, sum, count }: Loose) => [key.paidAt.slice(0, 7), key.currency, count, sum.amount]).sort()).toEqual([
      ['2026-01', 'USD', 1, 10],
      ['2026-02', 'EUR', 1, 30],
      ['2026-02', 'USD', 1, 20.5],
    ]);
    expect(dataOf(await account.owner.get(`/invoices/${euros.id}`)).payments[0]).not.toHaveProperty('currency');
  });
});
