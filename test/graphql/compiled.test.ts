import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

/** What the compiler of documents answers otherwise than the specification says, unless it is given documents that it answers right. */
let api: TestServer;
let acme: Account;
let ada: Loose;
let bob: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  ada = await acme.contact({ firstName: 'Ada', jobTitle: 'Engineer' });
  bob = await acme.contact({ firstName: 'Bob', jobTitle: 'Baker' });
  await acme.deal({ contactId: ada.id, title: 'Engine' });
});
afterAll(() => api.close());

const ask = async (text: string, variables: Loose = {}): Promise<Loose> => {
  const { data, errors } = await acme.owner.gql(text, variables);
  expect(errors).toBeUndefined();
  return data;
};

const update = (id: string, input = '') => `updateContact(id: "${id}", input: {${input}})`;

describe('a fragment that is spread under a condition', () => {
  const fragment = 'fragment F on Contact { id firstName }';
  const whole = () => ({ id: ada.id, firstName: 'Ada' });

  it('is whole where it is spread without one', async () => {
    const text = `mutation ($a: Boolean!) { x: ${update(ada.id)} { ...F @include(if: $a) } y: ${update(ada.id)} { ...F } } ${fragment}`;
    expect(await ask(text, { a: false })).toEqual({ x: {}, y: whole() });
    expect(await ask(text, { a: true })).toEqual({ x: whole(), y: whole() });
  });

  it('goes by the condition of each place', async () => {
    const text = `mutation ($a: Boolean!, $b: Boolean!) {
      x: ${update(ada.id)} { ...F @include(if: $a) } y: ${update(ada.id)} { ...F @skip(if: $b) } } ${fragment}`;
    expect(await ask(text, { a: false, b: false })).toEqual({ x: {}, y: whole() });
    expect(await ask(text, { a: true, b: true })).toEqual({ x: whole(), y: {} });
  });

  it('is there where it is spread once with and once without', async () => {
    const text = `query ($a: Boolean!) { me { user { id } } contact(id: "${ada.id}") { ...F @include(if: $a) ...F } } ${fragment}`;
    expect((await ask(text, { a: false })).contact).toEqual(whole());
  });

  it('is no matter of another operation of the document', async () => {
    const text = `query A($a: Boolean!) { me { user { id } } contact(id: "${ada.id}") { ...F @include(if: $a) } }
      query B { me { user { id } } contact(id: "${ada.id}") { ...F } } ${fragment}`;
    const run = async (operationName: string, variables: Loose) => {
      const payload = JSON.stringify({ query: text, operationName, variables });
      const headers = { 'content-type': 'application/json' };
      return (await acme.owner.raw({ method: 'POST', path: '/graphql', headers, payload })).body.data.contact;
    };
    expect(await run('A', { a: false })).toEqual({});
    expect(await run('B', {})).toEqual(whole());
  });
});

describe('a field that stands twice, once under a condition', () => {
  it.each(['...F', '... { firstName }', '... on Contact { firstName }', 'firstName'])(
    'has of that only what is left in: %s',
    async (selected) => {
      const fragment = selected === '...F' ? 'fragment F on Contact { firstName }' : '';
      const text = `mutation ($x: Boolean!) { a: ${update(ada.id)} @include(if: $x) { ${selected} } a: ${update(ada.id)} { id } } ${fragment}`;
      expect(await ask(text, { x: false })).toEqual({ a: { id: ada.id } });
      expect(await ask(text, { x: true })).toEqual({ a: { firstName: 'Ada', id: ada.id } });
    },
  );

  it('does not run what is below the one that is left out', async () => {
    const text = `query ($x: Boolean!) { me { user { id } } a: contact(id: "${ada.id}") { deals(first: 1) @include(if: $x) { ... { totalCount } } }
      a: contact(id: "${ada.id}") { deals(first: 1) { nodes { title } } } }`;
    expect((await ask(text, { x: false })).a).toEqual({ deals: { nodes: [{ title: 'Engine' }] } });
  });
});

describe('a mutation one of whose fields fails while another is under way', () => {
  it('leaves no transaction behind, however often', async () => {
    const text = `mutation ($x: Boolean!) { ${update(ada.id, 'city: "Rome"')} {
      ...F @include(if: $x) bad: deals(page: 1, after: "x") { totalCount } ok: deals(first: 1) { totalCount } } }
      fragment F on Contact { id }`;
    for (let n = 0; n < 10; n++) expectGraphQLRefusal(await acme.owner.gql(text, { x: true }), 400);
    const secondary = await acme.contact();
    const merged = await acme.owner.post('/contacts/merge', { primaryId: ada.id, secondaryId: secondary.id });
    expect([merged.status, merged.body.data.city]).toEqual([200, null]);
  });
});

describe('null for a variable that has a default value', () => {
  const nowhere = '"01900000-0000-7000-8000-000000000000"';
  const cases: [string, string][] = [
    [
      'the second of two mutations',
      `mutation ($v: ID = ${nowhere}) { a: deleteTag(id: ${nowhere}) { recordId } b: deleteTag(id: $v) { recordId } }`,
    ],
    ['a mutation alone', `mutation ($v: ID = ${nowhere}) { deleteTag(id: $v) { recordId } }`],
    ['a query that is printed', `query ($v: ID = ${nowhere}) { contact(id: $v) { id } }`],
    ['a query that is not', `query ($v: ID = ${nowhere}) { me { user { id } } contact(id: $v) { id } }`],
    ['a place within a literal', 'query ($v: ContactWhere = {}) { me { user { id } } contacts(where: {and: [$v]}) { totalCount } }'],
    ['a place within a literal of a printed one', 'query ($v: ContactWhere = {}) { contacts(where: {and: [$v]}) { totalCount } }'],
    ['a fragment', `query ($v: ID = ${nowhere}) { me { user { id } } ...F } fragment F on Query { contact(id: $v) { id } }`],
    ['a condition', 'query ($v: Boolean = true) { me { user { id @include(if: $v) } } }'],
    [
      'names that are one where they are joined',
      `mutation ($v: ID = ${nowhere}) { a: deleteTag(id: $v) { b: recordId } b_a: deleteTag(id: $v) { recordId } }`,
    ],
  ];

  it.each(cases)('is refused by its name where the place must not be null: %s', async (_what, text) => {
    const reply = await acme.owner.gql(text, { v: null });
    expectGraphQLRefusal(reply, 400);
    expect(reply.errors![0].extensions.details).toEqual([{ field: 'v', code: 'required', message: 'must not be null' }]);
  });

  it('is refused as a subscription begins', async () => {
    const socket = await Socket.open(api.wire.port, { init: bearer(await acme.key()) });
    for (const text of [
      'subscription ($v: DealWhere = {}) { contactEvents { id contact { deals(first: 1, where: {and: [$v]}) { totalCount } } } }',
      'subscription ($v: ContactWhere = {}) { live { contacts(first: 1, where: {and: [$v]}) { rows { node { id } } } } }',
    ]) {
      const errors = await socket.run(text, { v: null }).refused();
      expect(errors).toMatchObject([{ message: 'v must not be null', extensions: { code: 'invalid_request', status: 400 } }]);
    }
    socket.ws.close();
  });

  it('is taken where the place may be null', async () => {
    const text = `mutation ($v: String = "x") { ${update(bob.id, 'city: $v')} { city } }`;
    expect((await ask(text, { v: null })).updateContact).toEqual({ city: null });
    expect((await ask(text)).updateContact).toEqual({ city: 'x' });
  });
});

describe('a name of a document', () => {
  const long = 'a_'.repeat(20_000);

  it.each([
    ['alias', `mutation { ${long}: login(input: {email: "a@example.com", password: "x"}) { user { id } } }`],
    ['variable', `mutation ($${long}: String!) { login(input: {email: $${long}, password: "x"}) { user { id } } }`],
  ])('is no longer than 256 characters: %s', async (what, text) => {
    const { errors } = await api.anybody().gql(text);
    expect(errors![0].message).toBe(`The document exceeds the limit of 256 on the characters of the name of a ${what}`);
  });
});

describe('two places whose names are one where they are joined by "_"', () => {
  const firstDeal = 'deals(first: 1) { nodes { title } totalCount }';

  it('each get their own arguments', async () => {
    const text = `mutation ($title: String) {
      a_b: ${update(bob.id, 'jobTitle: $title')} { jobTitle }
      b: ${update(ada.id, 'jobTitle: $title')} { jobTitle a: ${firstDeal} } }`;
    const told = (title: string) => ({
      a_b: { jobTitle: title },
      b: { jobTitle: title, a: { nodes: [{ title: 'Engine' }], totalCount: 1 } },
    });
    expect(await ask(text, { title: 'Pilot' })).toEqual(told('Pilot'));
    // Not given: it stays.
    expect(await ask(text)).toEqual(told('Pilot'));
  });

  it('each get their own selection', async () => {
    const text = `mutation {
      c: ${update(ada.id)} { a_b: deals(first: 1) { totalCount } }
      b_c: ${update(ada.id)} { a: notes(first: 5) { nodes { id } } } }`;
    expect(await ask(text)).toEqual({ c: { a_b: { totalCount: 1 } }, b_c: { a: { nodes: [] } } });
  });

  it('may stand in a list', async () => {
    const text = `{ me { user { id } } a: contacts(first: 1) { nodes { b: deals(first: 1) { totalCount } } } nodes_b: contacts { totalCount }
      b_idx0_nodes_a: contacts(first: 2) { totalCount } }`;
    expect(await ask(text)).toMatchObject({ nodes_b: { totalCount: 2 }, b_idx0_nodes_a: { totalCount: 2 } });
  });
});

describe('a variable that is a list of lists', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}ID${']'.repeat(levels)}`;

  it('costs no more than others, whoever sends it', async () => {
    const text = `mutation ($v: ${nested(100)}) { submitForm(id: "x", input: {data: {a: $v}}) { __typename } }`;
    const from = performance.now();
    const { errors } = await api.anybody().gql(text);
    expect(errors![0].extensions.code).toBe('not_found');
    // Its code would double with each list: with fourteen the process stood still for seconds.
    expect(performance.now() - from).toBeLessThan(2000);
  });

  it('is taken as it is, and a value that is no list as the only one of each', async () => {
    const text = `mutation ($v: ${nested(3)}) { ${update(ada.id, 'customFields: {tree: $v}')} { customFields } }`;
    expect((await ask(text, { v: [[['a', 'b']], [['c']]] })).updateContact.customFields.tree).toEqual([[['a', 'b']], [['c']]]);
    expect((await ask(text, { v: 'a' })).updateContact.customFields.tree).toEqual([[['a']]]);
    expectGraphQLRefusal(await acme.owner.gql(text, { v: [[[{}]]] }), 400);
  });
});

describe('a name that is the prototype of objects', () => {
  it.each([
    'mutation ($__proto__: ID! = "x") { updateContact(id: $__proto__, input: {city: "X"}) { firstName } }',
    'mutation ($__proto__: JSONObject = {a: 1}) { createContact(input: {customFields: $__proto__}) { firstName } }',
    'mutation { createContact(input: {firstName: "A"}) { id __proto__: firstName } }',
    'query { __proto__: contacts { totalCount } }',
    'query { contacts { ...F } } fragment F on ContactConnection { __proto__: totalCount }',
  ])('is refused as a variable and as an alias: %s', async (text) => {
    const reply = await acme.owner.gql(text);
    expectGraphQLRefusal(reply, 400);
    expect(reply.errors![0].message).toMatch(/called __proto__/);
  });
});
