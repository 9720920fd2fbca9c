import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Client, server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const placeOf = async (caller: Client, document: string) => {
  const { errors } = await caller.gql(document);
  const { code, path } = errors![0]!.extensions;
  return [code, path];
};

describe('a document that its caller may not run', () => {
  it.each([
    ['{ companies { totalCount } contacts { nodes { id a: deals { nodes { title } } } } }', 'contacts.nodes.a'],
    ['{ contacts { nodes { ...whole } } } fragment whole on Contact { id deals { nodes { title } } }', 'contacts.nodes.deals'],
    ['{ contacts { totalCount } deals { totalCount } }', 'deals'],
    ['mutation { createTask(input: { title: "a" }) { id } }', 'createTask'],
  ])('%s names the field: %s', async (document, path) => {
    const key = await acme.key({ permission: 'write', scopes: ['contacts', 'companies'] });
    expect(await placeOf(key, document)).toEqual(['permission_denied', path]);
  });

  it('names what a key cannot do at all', async () => {
    const reader = await acme.key({ permission: 'read' });
    expect(await placeOf(reader, 'mutation { a: createTag(input: { name: "a" }) { id } }')).toEqual(['permission_denied', 'a']);
    expect(await placeOf(reader, '{ tags { totalCount } apiKeys { totalCount } }')).toEqual(['permission_denied', 'apiKeys']);
  });

  it('names it to a subscriber too', async () => {
    const key = await acme.key({ scopes: ['contacts'] });
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const [error] = await socket.run('subscription { contactEvents { contact { deals { nodes { title } } } } }').refused();
    expect([error!.extensions!.code, error!.extensions!.path]).toEqual(['permission_denied', 'contactEvents.contact.deals']);
    socket.cut();
  });
});
