import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Documents, and of each the place of the value at fault, its code, and what it must be. */
const faults: [document: string, field: string, code: string, message: string][] = [
  ['{ deals(where: { value: { gt: "a" } }) { totalCount } }', 'where.value.gt', 'invalid_format', 'must be a decimal number'],
  [
    'mutation { createTask(input: { title: "a", dueDate: 5 }) { id } }',
    'dueDate',
    'invalid_format',
    'must be a day (YYYY-MM-DD) or an ISO 8601 date-time',
  ],
  ['mutation { createTag(input: {}) { id } }', 'name', 'required', 'is required'],
  ['mutation { createTag(input: { name: 5 }) { id } }', 'name', 'invalid_type', 'must be a string'],
  ['mutation { createTag(input: { name: null }) { id } }', 'name', 'required', 'must not be null'],
  ['mutation { createTag(input: { name: "a", x: 1 }) { id } }', 'x', 'unknown_field', 'is not a field'],
  ['mutation { createTag(input: 5) { id } }', 'input', 'invalid_type', 'must be an object'],
  ['mutation { createContact(input: { tags: ["a", 1] }) { id } }', 'tags.1', 'invalid_type', 'must be a string'],
  ['{ contacts(where: { and: [{ email: { eq: 5 } }] }) { totalCount } }', 'where.and[0].email.eq', 'invalid_type', 'must be a string'],
  ['{ contact { id } }', 'id', 'required', 'is required'],
  ['{ contacts(nope: 1) { totalCount } }', 'nope', 'unknown_field', 'is not an argument'],
];

describe('a fault of a value in a document', () => {
  it.each(faults)('%s names %s: %s', async (document, field, code, message) => {
    const { errors } = await acme.owner.gql(document);
    expect(errors![0]!.extensions).toMatchObject({ code: 'invalid_request', field, details: [{ field, code, message }] });
  });

  it('tells the values that it may have instead', async () => {
    const { errors } = await acme.owner.gql('{ products(sort: nope) { totalCount } }');
    expect(errors![0]!.extensions.details).toMatchObject([
      { field: 'sort', code: 'not_allowed', options: expect.arrayContaining(['name']) },
    ]);
  });
});
