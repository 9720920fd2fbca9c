import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, expectNothingWritten, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const nobody = '00000000-0000-7000-8000-000000000000';

describe('one round trip', () => {
  const document = `query ($first: Int) { contacts(first: $first) {
    totalCount nodes { id firstName tags { id name _count { contacts } } assignedUser { id name } }
  } }`;

  it('answers contacts with their tags and users in as many statements for fifty as for two', async () => {
    const member = await acme.member();
    for (let i = 0; i < 50; i++) {
      const assignedTo = i % 2 ? acme.ownerId : member.userId;
      await acme.contact({ firstName: `n${i}`, tags: [`t${i % 7}`, `u${i}`], assignedTo });
    }
    const ask = async (first: number) => {
      const { data, errors } = await acme.owner.gql(document, { first });
      expect(errors).toBeUndefined();
      expect(data.contacts.nodes).toHaveLength(first);
      for (const { tags, assignedUser } of data.contacts.nodes) expect([tags.length, typeof assignedUser.name]).toEqual([2, 'string']);
    };
    await ask(2);
    const few = await api.statements(() => ask(2));
    const many = await api.statements(() => ask(50));
    expect([few, many]).toEqual([1, 1]);
  });

  it('answers what REST answers', async () => {
    const { id, tags } = await acme.contact({ firstName: 'Both', tags: ['x'], customFields: { a: { b: [1, null] } } });
    const rest = dataOf(await acme.owner.get(`/contacts/${id}`));
    const names = Object.keys(rest).filter((name) => !['tags', 'attribution'].includes(name));
    const { data } = await acme.owner.gql(`query ($id: ID!) { contact(id: $id) { ${names.join(' ')} tags { id name } } }`, { id });
    expect({ ...data.contact, attribution: null }).toEqual(rest);
    expect(rest.tags).toEqual(tags);
  });

  it('may ask for two things under names of its own, by variables, fragments and conditions', async () => {
    const { id } = await acme.contact({ firstName: 'Alias' });
    const reply = await acme.owner.gql(
      `query ($id: ID!, $deep: Boolean!) { one: contact(id: $id) { ...Name } two: contact(id: $id) { ...Name tags @include(if: $deep) { id } } }
       fragment Name on Contact { firstName }`,
      { id, deep: false },
    );
    expect(reply.data).toEqual({ one: { firstName: 'Alias' }, two: { firstName: 'Alias' } });
  });
});

describe('an error', () => {
  it.each([
    ['not_found', 404, undefined, `{ contact(id: "${nobody}") { id } }`],
    ['not_found', 404, undefined, '{ contact(id: "x") { id } }'],
    ['invalid_request', 400, 'email', 'mutation { createContact(input: { email: "x" }) { id } }'],
    ['invalid_request', 400, undefined, 'mutation { createContact(input: { city: "x" }) { id } }'],
    ['invalid_request', 400, 'companyId', `mutation { createContact(input: { firstName: "A", companyId: "${nobody}" }) { id } }`],
    [
      'payload_too_large',
      413,
      'customFields',
      `mutation { createContact(input: { firstName: "A", customFields: { a: "${'x'.repeat(65_536)}" } }) { id } }`,
    ],
  ])('carries %s, %i, the field %s and the request', async (code, status, field, query) => {
    const reply = await acme.owner.gql(query, {}, { 'x-request-id': 'graphql-1' });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-request-id']).toBe('graphql-1');
    expect(reply.errors).toHaveLength(1);
    expect(reply.errors?.[0].extensions).toMatchObject({ code, status, requestId: 'graphql-1', ...(field && { field }) });
  });

  it('of a nullable field leaves the others be', async () => {
    const { data, errors } = await acme.owner.gql(`{ gone: contact(id: "${nobody}") { id } me { workspace { id } } }`);
    expect(data).toEqual({ gone: null, me: { workspace: { id: acme.id } } });
    expect(errors?.map((error) => error.path)).toEqual([['gone']]);
  });

  it.each([
    ['what does not parse', '{', 200],
    ['an unknown field', '{ contacts { nodes { password } } }', 200],
    ['a value of another type', 'mutation { createContact(input: { firstName: 5 }) { id } }', 200],
    ['no document at all', '', 400],
  ])('of the document is told in the answer, but for a request that is none: %s', async (_what, query, expected) => {
    const { status, data, errors } = await acme.owner.gql(query);
    expect([status, data]).toEqual([expected, undefined]);
    expect(errors?.[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it('names a variable that is missing or of the wrong type', async () => {
    const create = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    await expectNothingWritten(api, async () => {
      expectGraphQLRefusal(await acme.owner.gql(create, { input: 'x' }), 400, 'input');
      expectGraphQLRefusal(await acme.owner.gql(create, { input: null }), 400, 'input');
      expectGraphQLRefusal(await acme.owner.gql(create, {}), 400, 'input');
      expectGraphQLRefusal(await acme.owner.gql(create, { input: { firstName: 'A', nickname: 'B' } }), 400);
    });
  });
});

describe('who may ask', () => {
  const read = '{ contacts { totalCount } }';
  const write = 'mutation { createContact(input: { firstName: "A" }) { id } }';
  const codeOf = ({ errors }: Loose) => errors?.[0].extensions.code;

  it('is somebody', async () => {
    const reply = await api.anybody().gql(read);
    expect([reply.status, codeOf(reply), reply.data ?? null]).toEqual([401, 'unauthenticated', null]);
  });

  it('is told by the kind of operation: a read-only key may query and not mutate', async () => {
    const key = await acme.key({ permission: 'read' });
    expect(codeOf(await key.gql(read))).toBeUndefined();
    await expectNothingWritten(api, async () => {
      expect(codeOf(await key.gql(write))).toBe('permission_denied');
      expect(codeOf(await key.gql(`${read.replace('{', 'query A {')} ${write.replace('mutation', 'mutation B')}`))).toBe('invalid_request');
    });
    expect(codeOf(await (await acme.key({ permission: 'write' })).gql(write))).toBeUndefined();
  });

  it('is told by every type that is selected: a key for contacts reads their tags’ names and not the tags', async () => {
    const key = await acme.key({ scopes: ['contacts'] });
    await acme.contact({ firstName: 'A', tags: ['t'] });
    expect(codeOf(await key.gql('{ contacts { nodes { tags { id name } } } }'))).toBeUndefined();
    expect(codeOf(await key.gql('{ tags { totalCount } }'))).toBe('permission_denied');
    expect(codeOf(await key.gql('{ contacts { totalCount } tags { totalCount } }'))).toBe('permission_denied');
    expect(codeOf(await (await acme.key({ scopes: ['tags'] })).gql(read))).toBe('permission_denied');
  });

  it('is decided before anything is looked at: 401, 403, 400, 404', async () => {
    const update = `mutation { updateContact(id: "${nobody}", input: { email: "x" }) { id } }`;
    const reader = await acme.key({ permission: 'read' });
    expect(codeOf(await api.anybody().gql(update))).toBe('unauthenticated');
    expect(codeOf(await reader.gql(update))).toBe('permission_denied');
    expect(codeOf(await acme.owner.gql(update))).toBe('invalid_request');
    expect(codeOf(await acme.owner.gql(update.replace('"x"', '"x@example.com"')))).toBe('not_found');
  });
});
