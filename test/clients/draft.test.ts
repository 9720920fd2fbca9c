import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditServer } from 'graphql-http';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, Stream } from '../support/live.js';

let crm: TestServer;
let key: KeyClient;
beforeAll(async () => {
  crm = await server();
  const account = await crm.seed.account();
  await account.contact({ firstName: 'Ada' });
  key = await account.key();
});
afterAll(() => crm.close());

const draft = { accept: 'application/graphql-response+json' };
const json = { 'content-type': 'application/json' };
const get = (params: Record<string, string>, headers: Record<string, string> = draft) =>
  key.raw({ path: `/graphql?${new URLSearchParams(params)}`, headers });
const post = (body: object, headers: Record<string, string> = draft) =>
  key.raw({ method: 'POST', path: '/graphql', payload: JSON.stringify(body), headers: { ...json, ...headers } });

describe('GraphQL over HTTP', () => {
  it('is served as its audit has it', async () => {
    const fetchFn = (url: string, init?: RequestInit) =>
      fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${key.secret}` } });
    const results = await auditServer({ url: `http://127.0.0.1:${crm.wire.port}/graphql`, fetchFn });
    expect(results.length).toBeGreaterThan(50);
    expect(results.filter(({ status }) => status === 'error' || status === 'warn').map(({ id }) => id)).toEqual([]);
  });

  it.each([
    ['a query', { query: '{ contacts { totalCount } }' }, 200],
    ['a field that fails beside data', { query: '{ __typename contact(id: "0b9f4c9e-5a4e-4f0e-9a4e-3b8f1c2d7e65") { id } }' }, 200],
    ['what does not parse', { query: '{' }, 400],
    ['an unknown field', { query: '{ nothing }' }, 400],
    ['a variable of another type', { query: 'query ($n: Int!) { contacts(first: $n) { totalCount } }', variables: { n: 'x' } }, 400],
    ['what is nested too deeply', { query: `${'{a'.repeat(20)}${'}'.repeat(20)}` }, 400],
    ['what the key may not do', { query: '{ apiKeys { totalCount } }' }, 403],
  ])('answers %s under its own type with the status of its errors', async (_what, body, status) => {
    const reply = await post(body);
    expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/graphql-response+json; charset=utf-8']);
    expect('data' in reply.body).toBe(status === 200);
  });

  it('answers a mutation that is refused with 200 and data: null: the status is that of answers without data', async () => {
    const reply = await post({ query: 'mutation { createContact(input: { email: "no address" }) { id } }' });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/graphql-response+json; charset=utf-8']);
    expect(reply.body).toMatchObject({ data: null, errors: [{ extensions: { code: 'invalid_request', status: 400 } }] });
  });

  it('is plain JSON where the client prefers that', async () => {
    for (const accept of ['application/json', '*/*', 'application/json, application/graphql-response+json;q=0.5']) {
      expect((await post({ query: '{ __typename }' }, { accept })).headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  it('takes queries by GET from whoever names the type, and nothing else so', async () => {
    expect((await get({ query: '{ contacts { totalCount } }' })).body.data.contacts.totalCount).toBe(1);
    expect((await get({ query: '{ __typename }' }, { accept: 'application/json' })).status).toBe(400);
    for (const query of ['mutation { createTag(input: { name: "x" }) { id } }', 'subscription { events { id } }']) {
      const reply = await get({ query });
      expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    }
  });
});

const query = 'query Counted { contacts { totalCount } }';
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const persisted = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: hash(text) } });

describe('a document by its hash', () => {
  it('is sent once with its text, and then by the hash alone, by any method and transport', async () => {
    const unknown = await post({ extensions: persisted(query) }, {});
    const stream = await crm.anybody().raw({
      ...{ method: 'POST', path: '/graphql/stream', payload: JSON.stringify({ extensions: persisted(query) }) },
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key.secret}` },
    });
    expect([stream.status, stream.body.errors[0].extensions.code]).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND']);
    expect([unknown.status, unknown.body.errors[0].message]).toEqual([200, 'PersistedQueryNotFound']);
    expect((await post({ extensions: persisted(query) })).status).toBe(404);
    expect((await post({ query, extensions: persisted(query) })).body.data.contacts.totalCount).toBe(1);
    expect((await post({ extensions: persisted(query) })).body.data.contacts.totalCount).toBe(1);
    expect((await post({ documentId: `sha256:${hash(query)}` })).body.data.contacts.totalCount).toBe(1);
    expect((await get({ extensions: JSON.stringify(persisted(query)) })).body.data.contacts.totalCount).toBe(1);
    const url = `ws://127.0.0.1:${crm.wire.port}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: bearer(key) });
    for await (const result of client.iterate({ query: '', extensions: persisted(query) })) {
      expect(result.data).toEqual({ contacts: { totalCount: 1 } });
    }
    await client.dispose();
  });

  it('passes the same guards as a text', async () => {
    const text = 'query { nothing }';
    for (const body of [{ query: text, extensions: persisted(text) }, { extensions: persisted(text) }]) {
      expect((await post(body)).body.errors[0].extensions.code).toBe('invalid_request');
    }
    expect((await crm.anybody().gql(query)).errors![0].extensions.code).toBe('unauthenticated');
  });

  it('may be no other hash, and no other form of one', async () => {
    for (const body of [
      { query, documentId: 'e'.repeat(64) },
      { documentId: 'short' },
      { documentId: 7 },
      { extensions: { persistedQuery: { version: 2, sha256Hash: hash(query) } } },
      { extensions: { persistedQuery: 'x' } },
    ]) {
      expect((await post(body)).status).toBe(400);
    }
  });
});

describe('GRAPHQL_TRUSTED_DOCUMENTS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crm-documents-'));
  const manifests: Record<string, object> = {
    'texts under ids': { [hash(query)]: query },
    "Apollo's manifest": {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: 'x', name: 'Counted', type: 'query', body: query }],
    },
  };
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.keys(manifests))('(%s) are known by their hashes, and can be all that is served', async (form) => {
    const trustedDocuments = join(folder, `${hash(form)}.json`);
    writeFileSync(trustedDocuments, JSON.stringify(manifests[form]));
    const strict = await server({ config: { graphql: { ...crm.app.config.graphql, trustedDocuments, trustedOnly: true } } });
    const account = await strict.seed.account();
    const one = await account.key();
    const ask = async (body: object): Promise<Loose> =>
      (await one.raw({ method: 'POST', path: '/graphql', payload: JSON.stringify(body), headers: json })).body;
    expect((await ask({ documentId: hash(query) })).data.contacts.totalCount).toBe(0);
    expect((await ask({ query })).data.contacts.totalCount).toBe(0);
    const other = '{ tags { totalCount } }';
    for (const body of [{ query: other }, { query: other, extensions: persisted(other) }]) {
      expect((await ask(body)).errors[0].message).toContain('GRAPHQL_TRUSTED_DOCUMENTS');
    }
    expect((await ask({ extensions: persisted(other) })).errors[0].message).toBe('PersistedQueryNotFound');
    expect((await Stream.open(one, 'subscription { events { id } }')).status).toBe(400);
    expect((await one.get('/contacts')).status).toBe(200);
    await strict.close();
  });

  it('that cannot be read stop the start, by name', async () => {
    const trustedDocuments = join(folder, 'broken.json');
    for (const text of ['{', '[1]', '{"a": 1}']) {
      writeFileSync(trustedDocuments, text);
      await expect(server({ config: { graphql: { ...crm.app.config.graphql, trustedDocuments } } })).rejects.toThrow(
        /GRAPHQL_TRUSTED_DOCUMENTS/,
      );
    }
  });
});
