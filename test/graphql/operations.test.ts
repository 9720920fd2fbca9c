import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  ContactPageQuery,
  ContactPageQueryVariables,
  NewContactMutation,
  NewContactMutationVariables,
} from '../../src/generated/operations.js';
import { type Account, server, type TestServer } from '../support/index.js';

const document = readFileSync('test/graphql/operations.graphql', 'utf8');

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Sends one of the document's operations, as a client with generated types does. */
async function send<Data, Variables>(operationName: string, variables: Variables): Promise<Data> {
  const payload = JSON.stringify({ query: document, operationName, variables });
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) };
  const { body } = await acme.owner.raw({ method: 'POST', path: '/graphql', payload, headers });
  expect(body.errors).toBeUndefined();
  return body.data;
}

describe('a client with types generated from schema/schema.graphql', () => {
  it('names the operation to run, and gets what its types say', async () => {
    for (const firstName of ['Ada', 'Grace', 'Barbara']) {
      const input: NewContactMutationVariables['input'] = { firstName, company: 'Bell Labs', tags: ['VIP'] };
      const { createContact } = await send<NewContactMutation, NewContactMutationVariables>('NewContact', { input });
      expect(createContact).toMatchObject({ email: null, tags: [{ name: 'VIP', color: '#6B7280' }] });
    }
    const page = (variables: ContactPageQueryVariables) => send<ContactPageQuery, ContactPageQueryVariables>('ContactPage', variables);
    const { contacts } = await page({ first: 2, filter: { tags: ['vip'] } });
    expect(contacts.totalCount).toBe(3);
    expect(contacts.nodes.map(({ firstName, tags }) => [firstName, tags])).toEqual([
      ['Barbara', [{ name: 'VIP' }]],
      ['Grace', [{ name: 'VIP' }]],
    ]);
    const rest = await page({ first: 2, after: contacts.pageInfo.endCursor, filter: { tags: ['vip'] } });
    expect(rest.contacts.nodes.map(({ firstName }) => firstName)).toEqual(['Ada']);
    expect(rest.contacts.pageInfo.hasNextPage).toBe(false);
  });
});
