import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Client, type KeyClient, server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
let caller: Client;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  caller = await acme.key();
  await acme.contact();
});
afterAll(() => api.close());

describe('a document of several operations', () => {
  it('asks for what the one that is run needs', async () => {
    const reader = await acme.key({ permission: 'read' });
    const text = 'query Q { contacts { totalCount } } mutation M { createTag(input: {name: "x"}) { id } } query N { notes { totalCount } }';
    const ask = (operationName: string, client: Client) =>
      client.raw({
        method: 'POST',
        path: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ query: text, operationName }),
      });
    expect((await ask('Q', reader)).body).toMatchObject({ data: { contacts: { totalCount: 1 } } });
    expect((await ask('M', reader)).body.errors[0].extensions.code).toBe('permission_denied');
    const narrow = await acme.key({ scopes: ['contacts'] });
    expect((await ask('Q', narrow)).body.errors).toBeUndefined();
    expect((await ask('N', narrow)).body.errors[0].extensions.code).toBe('permission_denied');
  });

  it('takes the variables of the one that is run, whatever the others call so', async () => {
    const text = `query A($w: ContactWhere) { contacts(where: $w) { totalCount } }
      query B($w: ContactWhere = { id: { is_empty: true } }) { contacts(where: $w) { totalCount } }
      query C($w: DealWhere) { deals(where: $w) { totalCount } }`;
    const ask = async (operationName: string, variables?: object) => {
      const payload = JSON.stringify({ query: text, operationName, variables });
      const { body } = await caller.raw({ method: 'POST', path: '/graphql', headers: { 'content-type': 'application/json' }, payload });
      return [body.errors, (body.data?.contacts ?? body.data?.deals)?.totalCount];
    };
    expect(await ask('A')).toEqual([undefined, 1]);
    expect(await ask('A', { w: { firstName: { is_empty: true } } })).toEqual([undefined, expect.any(Number)]);
    expect(await ask('B')).toEqual([undefined, 0]);
    expect(await ask('C', { w: { value: { gt: 1 } } })).toEqual([undefined, 0]);
  });
});

describe('variables that no body may hold', () => {
  const query = 'query ($w: ContactWhere) { contacts(where: $w) { totalCount } }';
  const nest = (levels: number, open: string, close: string) => `{"w": ${open.repeat(levels)}{}${close.repeat(levels)}}`;
  const cases: [string, string, RegExp][] = [
    ['too deep', nest(300, '{"and":[', ']}'), /nest deeper than 64 levels/],
    ['a prototype', '{"w": {"customFields": {"__proto__": {"eq": 1}}}}', /called __proto__/],
    ['too large a number', '{"w": {"leadScore": {"eq": 1e999}}}', /must be a number that can be kept/],
  ];

  it.each(cases)('are refused in a query string: %s', async (_what, variables, words) => {
    const path = `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`;
    const headers = { accept: 'application/graphql-response+json' };
    const { status, body } = await caller.raw({ method: 'GET', path, headers });
    expect([status, body.errors[0].message, body.errors[0].extensions.code]).toEqual([
      400,
      expect.stringMatching(words),
      'invalid_request',
    ]);
  });

  it.each(cases)('are refused over a WebSocket: %s', async (_what, variables, words) => {
    const socket = await Socket.open(api.wire.port, { init: bearer(await acme.key()) });
    const feed = socket.run(query, {}, 'x');
    await feed.nth(1);
    socket.ws.send(`{"id":"y","type":"subscribe","payload":{"query":${JSON.stringify(query)},"variables":${variables}}}`);
    const refused = socket.listen('y');
    const [error] = await refused.refused();
    expect([error.message, error.extensions.code]).toEqual([expect.stringMatching(words), 'invalid_request']);
    socket.cut();
  });
});

describe('one object where a list of them belongs', () => {
  const document = 'mutation ($items: [InvoiceItemInput!]!) { createInvoice(input: { items: $items }) { items { description } } }';
  const inside = 'mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { items { description } } }';

  it('is its only item, and what is wrong with it is told', async () => {
    const items = { description: 'x', quantity: 1, unitPrice: 2 };
    for (const [text, variables] of [
      [document, { items }],
      [inside, { input: { items } }],
    ] as const)
      expect((await acme.owner.gql(text, variables)).data.createInvoice).toEqual({ items: [{ description: 'x' }] });
    const faults = async (text: string, variables: Record<string, unknown>) =>
      (await acme.owner.gql(text, variables)).errors![0].extensions.details;
    const missing = ['quantity', 'unitPrice'].map((name) => ({ field: `items.${name}`, code: 'required', message: 'is required' }));
    expect(await faults(document, { items: { description: 'x' } })).toEqual(missing);
    expect(await faults(inside, { input: { items: { description: 'x' } } })).toEqual(missing);
    const wrong = [{ field: 'items.description', code: 'invalid_type', message: 'must be a string' }];
    expect(await faults(inside, { input: { items: { ...items, description: 5 } } })).toEqual(wrong);
    const noList = [{ field: 'items', code: 'invalid_type', message: 'must be a list' }];
    expect(await faults(inside, { input: { items: 5 } })).toEqual(noList);
  });
});

describe('a live query whose variables have defaults', () => {
  const document = `subscription ($many: Int! = 2, $all: Boolean! = false, $company: String = "Rome") {
    live { contacts(first: $many, filter: { company: $company }) { rows { node { id company @include(if: $all) } } totalCount @skip(if: $all) } } }`;

  it('is read with those that are not given', async () => {
    for (const firstName of ['A', 'B', 'C']) await acme.contact({ firstName, company: 'Rome' });
    await acme.contact({ firstName: 'D', company: 'Oslo' });
    const socket = await Socket.open(api.wire.port, { init: bearer(caller as KeyClient) });
    const [first] = await socket.run(document).nth(1);
    expect([first!.contacts.rows.length, first!.contacts.totalCount]).toEqual([2, 3]);
    const [second] = await socket.run(document, { company: 'Oslo', all: true }).nth(1);
    expect(second!.contacts).toEqual({ rows: [{ node: { id: expect.any(String), company: 'Oslo' } }] });
    socket.cut();
  });

  it('is refused where one that is needed is not given', async () => {
    const socket = await Socket.open(api.wire.port, { init: bearer(caller as KeyClient) });
    const [fault] = await socket.run(document, { all: null }).refused();
    expect(fault!.extensions.code).toBe('invalid_request');
    socket.cut();
  });
});
