import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('What a wrong value is told', () => {
  it.each([
    ['value', 'abc', 'must be a decimal number'],
    ['expectedCloseDate', '2026-02-30', 'must be a date, YYYY-MM-DD'],
    ['appointmentAt', '2026-12-01T10:00:00', 'must be a day (YYYY-MM-DD) or an ISO 8601 date-time with an offset'],
    ['products', 'x', 'must be a list'],
  ])('says what a deal’s %s has to be', async (field, value, message) => {
    const deal = await acme.deal();
    const reply = await acme.owner.patch(`/deals/${deal.id}`, { [field]: value });
    expectRefusal(reply, 400, field);
    expect(reply.body.error).toBe(`${field} ${message}`);
  });

  it('says so inside of lists too', async () => {
    const reply = await acme.owner.post('/pipelines', { name: 'a', stages: [{ name: 'b', lostReasons: { a: 1 } }] });
    expect(reply.body.error).toBe('stages.0.lostReasons must be a list');
  });
});

it('"" is nothing for an amount as for a text', async () => {
  const company = await acme.company({ annualRevenue: 5 });
  expect(dataOf(await acme.owner.patch(`/companies/${company.id}`, { annualRevenue: '' })).annualRevenue).toBeNull();
  expectRefusal(
    await acme.owner.post('/invoices', { items: [{ description: 'a', quantity: 1, unitPrice: '' }] }),
    400,
    'items.0.unitPrice',
  );
});

it('A variable with an unknown field is told which', async () => {
  const made = {
    pipelineId: crypto.randomUUID(),
    stageId: crypto.randomUUID(),
    title: 'a',
    products: [{ name: 'a', unitPrice: 1, size: 2 }],
  };
  const mutation = 'mutation ($input: CreateDealInput!) { createDeal(input: $input) { id } }';
  const told = async (input: object) => (await acme.owner.gql(mutation, { input })).errors?.[0]?.extensions.field;
  expect(await told({ ...made, products: [], foo: 1 })).toBe('foo');
  expect(await told(made)).toBe('products.0.size');
});

it('A probability may have as many places as a third has; four are kept', async () => {
  const deal = await acme.deal({ probability: 1 / 3 });
  expect(deal.probability).toBe(0.3333);
  expectRefusal(await acme.owner.patch(`/deals/${deal.id}`, { probability: 1.00001 }), 400, 'probability');
});

describe('A query string', () => {
  it('may leave the + of an offset as it is', async () => {
    await acme.contact();
    const reply = await acme.owner.get('/contacts?created_from=2020-01-01T00:00:00+02:00');
    expect(dataOf(reply).meta.total).toBeGreaterThan(0);
  });

  it('is told what is wrong with its page, and not something else', async () => {
    for (const page of ['99999999999', '9'.repeat(400)])
      expect((await acme.owner.get(`/companies?page=${page}`)).body.error).toBe('page is too far');
    expect((await acme.owner.get('/companies?page=1&page=2')).body.error).toBe('page must be given once');
  });
});
