import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import {
  type Account,
  type Client,
  dataOf,
  type GraphQLReply,
  type Loose,
  least,
  processorTime,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let live: TestServer;
let acme: Account;
let caller: Client;
beforeAll(async () => {
  api = await server();
  live = await server({ config: { production: true } });
  acme = await api.seed.account();
  caller = await acme.key();
  await acme.contact();
});
afterAll(() => Promise.all([api.close(), live.close()]));

/** Refused as every guard refuses under plain JSON: HTTP 200, no data, in our codes. */
function expectRefused(reply: GraphQLReply, words: RegExp) {
  expect({ status: reply.status, errors: reply.errors }).toMatchObject({
    status: 200,
    errors: [{ message: expect.stringMatching(words), extensions: { code: 'invalid_request', status: 400 } }],
  });
  expect(reply.data).toBeUndefined();
}

const repeat = (count: number, text: string | ((i: number) => string)) =>
  Array.from({ length: count }, (_, i) => (typeof text === 'string' ? text : text(i))).join(' ');

const nested = (levels: number) => `${'{ contacts { nodes '.repeat(levels)}{ id }${' } }'.repeat(levels)}`;

const tooMuch: [string, string, RegExp][] = [
  ['five thousand levels', `${'{a'.repeat(5000)}${'}'.repeat(5000)}`, /nesting of brackets/],
  ['a list of lists of lists', `{ contacts(filter: ${'['.repeat(2000)}`, /nesting of brackets/],
  ['more than five thousand tokens', `{ tags { totalCount } } ${'# \n'.repeat(10)} ${'id '.repeat(5000)}`, /limit of 5000 on tokens/],
  ['a hundred levels', `${'{a'.repeat(100)}${'}'.repeat(100)}`, /limit of 10 on nesting$/],
  ['eleven levels', nested(6), /limit of 10 on nesting/],
  ['levels hidden in fragments', `{ ...A } fragment A on Query ${nested(6)}`, /limit of 10 on nesting/],
  ['levels behind the alias __schema', `{ __schema: ${nested(6).slice(2)}`, /limit of 10 on nesting/],
  ['a fragment called __schema', `{ ...__schema } fragment __schema on Query ${nested(6)}`, /limit of 10 on nesting/],
  ['a fragment that spreads itself', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }', /spreads itself/],
  ['a field three thousand times', `{ contacts { nodes { ${repeat(3000, 'id')} } } }`, /limit of 1000 on fields/],
  [
    'fragments that double thirty times',
    `{ ...F0 } ${repeat(30, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F30 on Query { __typename }`,
    /limit of 1000 on fields/,
  ],
  [
    'fragments of an unknown one that double forty times',
    `{ ...F0 } ${repeat(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F40 on Query { ...Nope }`,
    /limit of 1000 on fields/,
  ],
  ['a thousand aliases', `{ contacts { nodes { ${repeat(990, (i) => `a${i}: id`)} } } }`, /limit of 30 on aliases/],
  ['aliases of root fields', `{ ${repeat(21, (i) => `a${i}: tags { totalCount }`)} }`, /limit of 20 on root fields/],
  ['root fields in fragments', `{ ...A } fragment A on Query { ${repeat(21, (i) => `a${i}: tags { totalCount }`)} }`, /root fields/],
  ['a thousand directives', `{ contacts { nodes { id ${repeat(600, '@include(if: true)')} } } }`, /limit of 50 on directives/],
  ['a deep value', `{ contacts(filter: { search: ${'['.repeat(50)}1${']'.repeat(50)} }) { totalCount } }`, /nesting of a value/],
  ['a hundred thousand characters', `{ tags { totalCount } } # ${'x'.repeat(100_000)}`, /longer than/],
];

describe('a document that is too much', () => {
  it.each(tooMuch)('%s', async (_what, query, words) => {
    expectRefused(await caller.gql(query), words);
  });

  it('costs next to nothing', async () => {
    const all = async () => {
      for (const [, query] of tooMuch) await caller.gql(query);
    };
    const spent = await least(3, () => processorTime(all));
    // The client of the test and its JSON are in it too.
    expect(spent / tooMuch.length).toBeLessThan(20);
  });

  it('sends no statement', async () => {
    await caller.get('/tags');
    for (const [, query] of tooMuch) expect(await api.statements(() => caller.gql(query))).toBe(0);
  });
});

describe('what a document may read', () => {
  const page = 'contacts(first: $n) { nodes { tags { name } } }';

  it('counts the records of the pages it asks for, by literal, variable or default', async () => {
    const tight = await server({ config: { graphql: { ...api.app.config.graphql, cost: 5100 } } });
    const owner = (await tight.seed.account()).owner;
    const allowed: [string, Loose?][] = [
      ['{ contacts(first: 50) { nodes { tags { name } } } }'],
      ['{ contacts { nodes { tags { name } } } }'],
      [`query ($n: Int) { ${page} }`, { n: 50 }],
      [`query ($n: Int) { ${page} }`],
      [`query ($n: Int = 50) { ${page} }`],
      [`query ($n: Int) { contacts(first: $n, perPage: 2) { nodes { tags { name } } } }`, { n: 200 }],
    ];
    for (const [query, variables] of allowed) expect((await owner.gql(query, variables)).errors).toBeUndefined();
    const refused: [string, Loose?][] = [
      ['{ contacts(first: 60) { nodes { tags { name } } } }'],
      ['{ contacts(first: 1000000000) { nodes { tags { name } } } }'],
      ['{ contacts(perPage: 60) { nodes { tags { name } } } }'],
      ['{ contacts(first: 60) { edges { node { tags { name } } } } }'],
      ['{ a: contacts { nodes { tags { name } } } b: contacts { nodes { tags { name } } } }'],
      [`query ($n: Int) { ${page} }`, { n: 60 }],
      [`query ($n: Int) { ${page} }`, { n: 1e9 }],
      [`query ($n: Int = 60) { ${page} }`],
      [`query ($n: Int = 60) { ...Q } fragment Q on Query { ${page} }`],
      [`query ($n: Int, $no: Boolean = false) { contacts(first: $n) @include(if: $no) { nodes { tags { name } } } }`, { n: 200 }],
    ];
    for (const [query, variables] of refused)
      expectRefused(await owner.gql(query, variables), /may read \d+ records; at most 5100 .+ contacts/);
    await tight.close();
  });

  it('leaves the largest page of a list alone', async () => {
    const reply = await caller.gql('{ contacts(first: 200) { nodes { id tags { name } } totalCount } }');
    expect(reply.data.contacts.totalCount).toBe(1);
  });

  it('refuses negative sizes as the lists do', async () => {
    const reply = await caller.gql('{ contacts(first: -1) { totalCount } }');
    expect(reply.errors?.[0].extensions).toMatchObject({ code: 'invalid_request', field: 'first' });
  });
});

describe('fragments at the root', () => {
  it('do not hide a login from its limits', async () => {
    const strict = await server({ limits: { login: 2, security: 100 } });
    const attempt = () =>
      strict.anybody().gql('mutation { ...L } fragment L on Mutation { login(input: { email: "a@example.com", password: "x" }) { role } }');
    const codes = [];
    for (let i = 0; i < 3; i++) codes.push((await attempt()).errors?.[0].extensions.code);
    expect(codes).toEqual(['unauthenticated', 'unauthenticated', 'rate_limited']);
    await strict.close();
  });

  it('do not put two logins into one document', async () => {
    const login = 'login(input: { email: "a@example.com", password: "x" }) { role }';
    const reply = await api.anybody().gql(`mutation { ... { a: ${login} } ... { b: ${login} } }`);
    expect(reply.errors?.[0]).toMatchObject({
      message: expect.stringContaining('must be the only field'),
      extensions: { code: 'invalid_request' },
    });
  });

  it('leave one field alone where it stands twice under one name, and beside its type', async () => {
    const create = (selected: string) => `createWebhook(input: { url: "https://example.com/hook", events: ["deal.won"] }) { ${selected} }`;
    const query = `mutation { __typename ${create('secret')} ...F } fragment F on Mutation { ${create('webhook { url }')} }`;
    const { data, errors } = await acme.owner.gql(query);
    expect(errors).toBeUndefined();
    const createWebhook = { secret: expect.any(String), webhook: { url: 'https://example.com/hook' } };
    expect(data).toEqual({ __typename: 'Mutation', createWebhook });
    expect(dataOf(await acme.owner.get('/webhooks/manage')).data).toHaveLength(1);
  });

  it('count one field once that stands twice under one name, and by each name that it has', async () => {
    const strict = await server({ limits: { create: 3 } });
    const { owner } = await strict.seed.account();
    const make = (selected: string) => `createContact(input: { firstName: "Once" }) { ${selected} }`;
    const twice = await owner.gql(`mutation { ${make('id')} ...F } fragment F on Mutation { ${make('firstName')} }`);
    expect([twice.errors, twice.data]).toEqual([undefined, { createContact: { id: expect.any(String), firstName: 'Once' } }]);
    expect((await owner.gql(`mutation { a: ${make('id')} b: ${make('id')} }`)).errors).toBeUndefined();
    expect(dataOf(await owner.get('/contacts')).meta.total).toBe(3);
    expect((await owner.gql(`mutation { ${make('id')} }`)).errors?.[0].extensions.code).toBe('rate_limited');
    await strict.close();
  });
});

const json = { 'content-type': 'application/json' };
const get = (client: Client, query: string, headers: Record<string, string> = { 'apollo-require-preflight': '1' }) =>
  client.raw({ path: `/graphql?query=${encodeURIComponent(query)}`, headers });
const post = (client: Client, payload: string | Buffer, type: string) =>
  client.raw({ method: 'POST', path: '/graphql', payload, headers: { 'content-type': type } });

describe('a request', () => {
  const query = '{ tags { totalCount } }';

  it('by GET serves queries', async () => {
    expect((await get(caller, query)).body.data.tags.totalCount).toBe(0);
  });

  it('by GET changes nothing', async () => {
    const reply = await get(caller, 'mutation { createTag(input: { name: "by GET" }) { id } }');
    const requestId = reply.headers['x-request-id'];
    expect([reply.status, reply.headers.allow, reply.body.errors[0].extensions]).toEqual([
      405,
      'POST',
      { code: 'invalid_request', status: 405, requestId },
    ]);
    expect((await caller.get('/tags')).body.meta.total).toBe(0);
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', '', 'text/plain; charset="'])(
    'as a form could send it (%s) is refused',
    async (type) => {
      expect((await post(caller, JSON.stringify({ query }), type)).status).toBe(400);
      expect((await get(caller, query, type ? { 'content-type': type } : {})).status).toBeGreaterThanOrEqual(400);
    },
  );

  it('of more than one operation is refused', async () => {
    const reply = await post(caller, JSON.stringify([{ query }, { query }]), 'application/json');
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([400, 'invalid_request']);
  });

  it('under the hash of another document is refused, and is not kept under it', async () => {
    const persistedQuery = { version: 1, sha256Hash: 'e'.repeat(64) };
    const wrong = await post(caller, JSON.stringify({ query, extensions: { persistedQuery } }), 'application/json');
    expect([wrong.status, wrong.body.errors[0].extensions.code]).toEqual([400, 'invalid_request']);
    const unknown = await post(caller, JSON.stringify({ extensions: { persistedQuery } }), 'application/json');
    expect(unknown.body.errors[0]).toMatchObject({ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } });
  });

  it('in a charset that is none is read as UTF-8, in UTF-16 refused', async () => {
    const body = JSON.stringify({ query });
    expect((await post(caller, body, 'application/json; charset=nonsense')).status).toBe(200);
    expect((await post(caller, Buffer.from(body, 'utf16le'), 'application/json; charset=utf-16')).status).toBe(400);
  });

  it('that names another operation than there is is refused', async () => {
    const reply = await post(caller, JSON.stringify({ query, operationName: 'Other' }), 'application/json');
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([200, 'invalid_request']);
  });

  it('without a query or with one of another type is refused', async () => {
    for (const body of [{}, { query: 1 }, { query: '' }, { query: { kind: 'Document' } }]) {
      const reply = await post(caller, JSON.stringify(body), 'application/json');
      const requestId = reply.headers['x-request-id'];
      expect([reply.status, reply.body.errors[0].extensions]).toEqual([400, { code: 'invalid_request', status: 400, requestId }]);
    }
  });

  it('that does not parse names the place', async () => {
    const reply = await caller.gql('{ tags { ');
    expectRefused(reply, /Syntax Error/);
    expect(reply.errors?.[0]).toMatchObject({
      locations: [{ line: 1, column: 10 }],
      extensions: { requestId: reply.headers['x-request-id'] },
    });
  });

  it('with a thousand faults names ten', async () => {
    expect((await caller.gql(`{ ${repeat(19, (i) => `nothing${i}`)} }`)).errors).toHaveLength(11);
  });
});

describe('introspection', () => {
  it('is answered to a caller with credentials, in full', async () => {
    const owner = (await live.seed.account()).owner;
    const { data, errors } = await owner.gql(getIntrospectionQuery());
    expect(errors).toBeUndefined();
    expect(data.__schema.types.length).toBeGreaterThan(20);
  });

  it('is answered to anybody outside production, and to no stranger in it', async () => {
    for (const query of ['{ __schema { types { name } } }', '{ a: __type(name: "Contact") { name } }']) {
      expect((await api.anybody().gql(query)).errors).toBeUndefined();
      const reply = await live.anybody().gql(query);
      expect([reply.status, reply.errors?.[0].extensions.code]).toEqual([401, 'unauthenticated']);
    }
    expect((await live.anybody().gql('{ __typename }')).data.__typename).toBe('Query');
  });

  it('gives nobody without credentials a hint at names either', async () => {
    for (const query of ['{ contact { id } }', '{ contakts { totalCount } }', '{ contacts { nods } }'])
      expect((await live.anybody().gql(query)).errors?.[0].message).toBe('Authentication is required');
    const wrong = '{ contacts { nodes { nothing } } }';
    expectRefused(await (await live.seed.account()).owner.gql(wrong), /Cannot query field/);
    expect((await live.anybody().gql(wrong)).errors?.[0].message).toBe('Authentication is required');
    const login = (field: string) => `mutation { login(input: { email: "a@example.com", password: "x" }) { ${field} } }`;
    expect((await live.anybody().gql(login('rol'))).errors?.[0].message).toBe('Cannot query field "rol" on type "AuthResult".');
    expect((await api.anybody().gql(login('rol'))).errors?.[0].message).toContain('Did you mean');
  });

  it('cannot be made to multiply', async () => {
    const levels = 4;
    const query = `{ __schema { types { ${'fields { type { '.repeat(levels)}name${' } }'.repeat(levels)} } } }`;
    expectRefused(await caller.gql(query), /introspection depth/i);
  });
});

it('says nothing of a field that the caller may not see', async () => {
  const reader = await acme.key({ permission: 'read', scopes: ['tags'] });
  const reply = await reader.gql('{ contacts { __typename } }');
  expect(reply.data?.contacts ?? undefined).toBeUndefined();
  expect(reply.errors?.[0].extensions.code).toBe('permission_denied');
  const mixed = await reader.gql('mutation { __typename createTag(input: { name: "x" }) { id } }', undefined, json);
  expect(mixed.errors?.[0].extensions.code).toBe('permission_denied');
  expect((await caller.get('/tags')).body.meta.total).toBe(0);
});
