import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { errorOf } from '../../src/client/index.js';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually } from '../support/live.js';

/** Loads a package outside Jest, as Node does: Jest would take the CommonJS build of one of Apollo's own packages. */
declare const importBuilt: <T>(name: string) => Promise<T>;

const { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } = await importBuilt<typeof import('@apollo/client')>('@apollo/client');
const { PersistedQueryLink } = await importBuilt<typeof import('@apollo/client/link/persisted-queries')>(
  '@apollo/client/link/persisted-queries',
);
const { GraphQLWsLink } = await importBuilt<typeof import('@apollo/client/link/subscriptions')>('@apollo/client/link/subscriptions');
const { default: theirConsole } = await importBuilt<{ default: Console }>('node:console');

let crm: TestServer;
let account: Account;
let key: KeyClient;
let url: string;
/** The requests that a client made: method, and what it asked for. */
let requests: { method: string; url: string; body: string }[] = [];
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  for (const firstName of ['Ada', 'Grace', 'Lin']) await account.contact({ firstName });
  key = await account.key();
  url = `http://127.0.0.1:${crm.wire.port}/graphql`;
});
afterAll(() => crm.close());

const watched: typeof fetch = (input, init) => {
  requests.push({ method: init?.method ?? 'GET', url: String(input), body: String(init?.body ?? '') });
  return fetch(input, init);
};
const watch = () => {
  requests = [];
};
const headers = () => ({ ...bearer(key) }) as unknown as Record<string, string>;
const socket = () =>
  createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: bearer(key), lazyCloseTimeout: 0 });

const list =
  'query List($first: Int) { contacts(first: $first, sort: firstName, order: asc) { totalCount nodes { __typename id firstName } } }';
const create = 'mutation Make($input: CreateContactInput!) { createContact(input: $input) { __typename id firstName } }';
const feed = 'subscription Feed { contactEvents(ready: true) { id kind contact { id firstName } } }';
const wrong = 'query Wrong($id: ID!) { contact(id: $id) { id } }';
const nobody = { id: '0b9f4c9e-5a4e-4f0e-9a4e-3b8f1c2d7e65' };

describe('urql as it comes', () => {
  it('reads by GET, writes by POST, hears events, and is told of errors', async () => {
    watch();
    const ws = socket();
    const live = subscriptionExchange({
      forwardSubscription: ({ query, variables }) => ({
        subscribe: (sink) => ({ unsubscribe: ws.subscribe({ query: query!, variables: variables as never }, sink as never) }),
      }),
    });
    const client = new Client({
      url,
      exchanges: [cacheExchange, fetchExchange, live],
      fetch: watched,
      fetchOptions: { headers: headers() },
    });
    const heard: Loose[] = [];
    const { unsubscribe } = client.subscription(feed, {}).subscribe(({ data }) => heard.push(data));
    const { data, error } = await client.query(list, { first: 2 });
    expect([error, data.contacts.nodes.length]).toEqual([undefined, 2]);
    await eventually(() => heard.length === 1);
    const made = await client.mutation(create, { input: { firstName: 'By urql' } });
    expect(made.data.createContact.firstName).toBe('By urql');
    await eventually(() => heard[1]?.contactEvents.contact.firstName === 'By urql');
    const failed = await client.query(wrong, nobody);
    expect(failed.error!.graphQLErrors[0]!.extensions).toMatchObject({ code: 'not_found' });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    unsubscribe();
    await ws.dispose();
  });
});

describe('Apollo Client as it comes', () => {
  it('reads, writes, hears events, and is told of errors', async () => {
    const ws = socket();
    const http = new HttpLink({ uri: url, headers: headers(), fetch: watched });
    const isLive = ({ query }: Loose) => query.definitions.some((d: Loose) => d.operation === 'subscription');
    const client = new ApolloClient({ cache: new InMemoryCache(), link: ApolloLink.split(isLive, new GraphQLWsLink(ws), http) });
    const complaints: unknown[][] = [];
    const { error, warn } = theirConsole;
    Object.assign(theirConsole, {
      error: (...words: unknown[]) => complaints.push(words),
      warn: (...words: unknown[]) => complaints.push(words),
    });
    const heard: Loose[] = [];
    const subscription = client.subscribe({ query: gql(feed) }).subscribe(({ data }) => heard.push(data));
    await eventually(() => heard.length === 1);
    const { data } = await client.query<Loose>({ query: gql(list), variables: { first: 3 } });
    expect(data.contacts.nodes).toHaveLength(3);
    const made = await client.mutate<Loose>({ mutation: gql(create), variables: { input: { firstName: 'By Apollo' } } });
    expect(made.data.createContact.firstName).toBe('By Apollo');
    await eventually(() => heard[1]?.contactEvents.contact.firstName === 'By Apollo');
    await expect(client.query({ query: gql(wrong), variables: nobody })).rejects.toMatchObject({
      errors: [{ extensions: { code: 'not_found' } }],
    });
    Object.assign(theirConsole, { error, warn });
    expect(complaints).toEqual([]);
    subscription.unsubscribe();
    client.stop();
    await ws.dispose();
  });

  it('sends its documents by their hashes, by GET where they are queries', async () => {
    watch();
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const hashed = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
    const link = hashed.concat(new HttpLink({ uri: url, headers: headers(), fetch: watched }));
    const client = new ApolloClient({ cache: new InMemoryCache(), link });
    for (const first of [1, 2]) {
      const { data } = await client.query<Loose>({ query: gql(list.replace('List', 'Hashed')), variables: { first } });
      expect(data.contacts.nodes).toHaveLength(first);
    }
    const texts = requests.map(
      ({ method, url: at, body }) => `${method} ${decodeURIComponent(at + body).includes('query Hashed') ? 'text' : 'hash'}`,
    );
    expect(texts).toEqual(['GET hash', 'POST text', 'GET hash']);
    client.stop();
  });
});

describe('plain requests', () => {
  it('graphql-request', async () => {
    const client = new GraphQLClient(url, { headers: headers() });
    const data = await client.request<Loose>(list, { first: 1 });
    expect(data.contacts.nodes).toHaveLength(1);
    await expect(client.request(wrong, nobody)).rejects.toMatchObject({ response: { errors: [{ extensions: { code: 'not_found' } }] } });
  });

  it('graphql-request, whose errors are told by their codes', async () => {
    const client = new GraphQLClient(url, { headers: headers() });
    const thrown = (query: string, variables: object) => client.request(query, variables).catch((error: unknown) => error);
    expect(errorOf(await thrown(wrong, nobody))).toMatchObject({ code: 'not_found', message: expect.stringContaining('not found') });
    expect(errorOf(await thrown(create, { input: { firstName: 'Ada', email: 'none' } }))).toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'email', code: 'invalid_format' }],
    });
    const busy = async () => {
      const body = '{"errors":[{"message":"Too many requests","extensions":{"code":"rate_limited"}}]}';
      return new Response(body, { status: 429, headers: { 'Retry-After': '7', 'Content-Type': 'application/json' } });
    };
    const waiting = new GraphQLClient(url, { fetch: busy }).request(list);
    expect(errorOf(await waiting.catch((error: unknown) => error))).toMatchObject({ code: 'rate_limited', retryAfter: 7 });
  });

  it('fetch', async () => {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ query: list }),
    });
    expect([reply.status, ((await reply.json()) as Loose).extensions.cost]).toEqual([
      200,
      expect.objectContaining({ records: expect.any(Number) }),
    ]);
  });
});
