import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, type GraphQLInputType, getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { contract } from '../../src/app.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Where an input has lists, those inside the items of others included: `['stages']`, `['stages', '0', 'lostReasons']`. */
function listsOf(input: GraphQLInputObjectType, around: string[] = []): string[][] {
  return Object.values(input.getFields()).flatMap((field) => {
    const path = [...around, field.name];
    const type = getNullableType(field.type);
    // Some are written as one text as well, as addresses of copies are.
    if ((field.extensions.rule as { orOne?: boolean } | undefined)?.orOne) return [];
    if (!isListType(type)) return within(type, path);
    return [path, ...within(getNullableType(type.ofType as GraphQLInputType), [...path, '0'])];
  });
}

const within = (type: GraphQLInputType, path: string[]) => (isInputObjectType(type) ? listsOf(type, path) : []);

type Body = Record<string, unknown>;

/** The same body with a value at a place; lists on the way there get one item. */
function put(body: Body, [name, ...rest]: string[], value: unknown): Body {
  if (rest.length === 0) return { ...body, [name!]: value };
  const [index, ...inside] = rest;
  const inner = (body[name!] ?? {}) as Body;
  return { ...body, [name!]: index === '0' ? [put({}, inside, value)] : put(inner, rest, value) };
}

const endpoints = contract().endpoints.flatMap((bound) => {
  const input = bound.field?.args.find((arg) => arg.name === 'input');
  const lists = input ? listsOf(getNamedType(input.type) as GraphQLInputObjectType) : [];
  return lists.length > 0 ? [[bound.address, bound, lists] as const] : [];
});

describe.each(endpoints)('%s', (address, { endpoint, needs }, lists) => {
  it('takes no single value for a list', async () => {
    const sample = await sampleOf(address, acme);
    const caller = sample.as ?? (needs.public ? api.anybody() : acme.owner);
    await expectNothingWritten(api, async () => {
      for (const list of lists) {
        for (const value of ['x', 'a,b', crypto.randomUUID(), '', { a: 1 }, 5, true]) {
          const reply = await caller.send(endpoint.method, pathOf(endpoint.path, sample), put(sample.body ?? {}, list, value));
          expectRefusal(reply, endpoint.invalid ?? 400, list.join('.'));
          expect(reply.body.error).toContain(`${list.join('.')} must be a list`);
        }
      }
    });
  });
});

it('what stands where a list belongs changes nothing', async () => {
  const { id } = await acme.contact({ firstName: 'Ada', tags: ['vip', 'gold'] });
  expectRefusal(await acme.owner.post('/bulk/contacts/delete', { ids: id }), 400, 'ids');
  expectRefusal(await acme.owner.patch(`/contacts/${id}`, { tags: 'vip,gold' }), 400, 'tags');
  expect(dataOf(await acme.owner.get(`/contacts/${id}`)).tags).toHaveLength(2);
  expect(dataOf(await acme.owner.patch(`/contacts/${id}`, { tags: null })).tags).toEqual([]);
});

it('GraphQL reads a single value as a list of one, as its specification says', async () => {
  const { id } = await acme.contact({ firstName: 'Ada' });
  const document = 'mutation ($id: ID!, $tags: [String!]) { updateContact(id: $id, input: { tags: $tags }) { tags { name } } }';
  const { data } = await acme.owner.gql(document, { id, tags: 'single' });
  expect(data.updateContact.tags).toEqual([{ name: 'single' }]);
});
