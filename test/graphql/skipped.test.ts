import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isNonNullType } from 'graphql';
import { isConnection } from '../../src/kernel/model/connection.js';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

/** Conditions that leave nothing of a selection: what is left is an empty object, as the specification has it. */
let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  await acme.contact({ firstName: 'Ada' });
  await acme.pipeline();
});
afterAll(() => api.close());

const ask = async (text: string, variables: Loose = {}): Promise<Loose> => {
  const { data, errors } = await acme.owner.gql(text, variables);
  expect(errors).toBeUndefined();
  return data;
};

describe('a selection of which nothing is left', () => {
  it('is empty in every list', async () => {
    const lists = Object.values(api.schema.getQueryType()!.getFields()).filter(
      ({ type, args }) => isConnection(getNamedType(type)) && args.every((arg) => !isNonNullType(arg.type)),
    );
    expect(lists.length).toBeGreaterThan(30);
    for (const { name } of lists) {
      expect(await ask(`{ ${name}(first: 1) { totalCount @skip(if: true) } }`)).toEqual({ [name]: {} });
    }
  });

  it.each([
    ['contacts(first: 1) { totalCount @include(if: $yes) }', { contacts: {} }],
    ['contacts(first: 1) { ... @include(if: $yes) { totalCount } }', { contacts: {} }],
    ['contacts(first: 1) { edges { cursor @include(if: $yes) } }', { contacts: { edges: [{}] } }],
    ['contacts(first: 1) { nodes { id @include(if: $yes) } totalCount }', { contacts: { nodes: [{}], totalCount: 1 } }],
    [
      'contacts(first: 1) { nodes { firstName } pageInfo { hasNextPage @include(if: $yes) } }',
      { contacts: { nodes: [{ firstName: 'Ada' }], pageInfo: {} } },
    ],
    [
      'contacts(first: 1) { nodes { firstName deals(first: 1) { totalCount @include(if: $yes) } } }',
      { contacts: { nodes: [{ firstName: 'Ada', deals: {} }] } },
    ],
    ['contacts(first: 1) { totalCount @include(if: $yes) } tags { totalCount }', { contacts: {}, tags: { totalCount: 0 } }],
    ['contacts @include(if: $yes) { totalCount }', {}],
    ['contacts { totalCount @include(if: $yes) } dealAggregate { count @include(if: $yes) }', { contacts: {}, dealAggregate: [{}] }],
    ['contacts { totalCount @include(if: $yes) } deals { summary { count @include(if: $yes) } }', { contacts: {}, deals: { summary: {} } }],
    ['contacts { totalCount } dashboard { contactCount @include(if: $yes) }', { contacts: { totalCount: 1 }, dashboard: {} }],
  ])('is empty where a variable says so: %s', async (selection, expected) => {
    const text = `query ($yes: Boolean!) { ${selection} }`;
    expect(await ask(text, { yes: false })).toEqual(expected);
    expect(Object.keys(await ask(text, { yes: true }))).toContain('contacts');
  });
});

describe('a live query of which nothing is left', () => {
  it.each([
    ['contacts(first: 1) { totalCount @skip(if: true) }', { contacts: {} }],
    ['contacts(first: 1) { totalCount rows @skip(if: true) { node { id } } }', { contacts: { totalCount: 1 } }],
    [
      'contacts(first: 1) { rows { node { firstName } } totalCount @skip(if: true) }',
      { contacts: { rows: [{ node: { firstName: 'Ada' } }] } },
    ],
  ])('is empty: %s', async (selection, expected) => {
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const feed = socket.run(`subscription { live { ${selection} } }`);
    expect(await feed.nth(1)).toEqual([expected]);
    socket.ws.terminate();
  });

  it('is over as it begins where not even the list is left', async () => {
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const feed = socket.run('subscription { live @skip(if: true) { contacts { totalCount } } }');
    await eventually(() => feed.complete);
    expect(feed.results).toEqual([]);
    socket.ws.terminate();
  });
});

describe('a subscription whose field stands there by a variable', () => {
  it.each([
    ['include', 'subscription ($yes: Boolean!) { live @include(if: $yes) { contacts { totalCount } } }'],
    [
      'skip',
      'subscription ($yes: Boolean!) { ...A ...A } fragment A on Subscription { ... @skip(if: $yes) { live { contacts { totalCount } } } }',
    ],
  ])('is refused in words that say so: @%s', async (directive, text) => {
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const [error] = await socket.run(text, { yes: true }).refused();
    expect(error!.message).toBe(`@${directive} at the top level of a subscription must not depend on a variable; within its field it may`);
    expect(error!.extensions).toMatchObject({ code: 'invalid_request', status: 400 });
    const within = socket.run('subscription ($yes: Boolean!) { live { contacts { totalCount @include(if: $yes) } } }', { yes: true });
    await within.nth(1);
    socket.ws.terminate();
  });
});

describe('a record of which nothing is left', () => {
  it('is empty, read or changed', async () => {
    const { id } = await acme.contact({ firstName: 'Bob', company: 'B' });
    const text = 'query ($id: ID!) { contact(id: $id) { firstName @skip(if: true) companyRecord { name @skip(if: true) } } }';
    expect(await ask(text, { id })).toEqual({ contact: { companyRecord: null } });
    expect(await ask('query ($id: ID!) { contact(id: $id) { firstName @skip(if: true) } }', { id })).toEqual({ contact: {} });
    const change =
      'mutation ($id: ID!) { updateContact(id: $id, input: { city: "Ulm" }) { id @skip(if: true) deals { totalCount @skip(if: true) } } }';
    expect(await ask(change, { id })).toEqual({ updateContact: { deals: {} } });
  });
});
