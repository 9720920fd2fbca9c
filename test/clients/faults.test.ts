import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Client as Sockets, type SubscribePayload } from 'graphql-ws';
import WebSocket from 'ws';
import { createRest, errorOf, resuming, steady } from '../../src/client/index.js';
import type { Account, KeyClient, Loose, TestServer } from '../support/index.js';
import { bearer, eventually } from '../support/live.js';
import { keyHolder } from '../support/resumeLine.js';

/** Loads a package outside Jest, as Node does: Jest would take the CommonJS build of one of Apollo's own packages. */
declare const importBuilt: <T>(name: string) => Promise<T>;

const { ApolloClient, gql, InMemoryCache } = await importBuilt<typeof import('@apollo/client')>('@apollo/client');
const { GraphQLWsLink } = await importBuilt<typeof import('@apollo/client/link/subscriptions')>('@apollo/client/link/subscriptions');

let crm: TestServer;
let acme: Account;
let url: string;
beforeAll(async () => {
  ({ crm, acme, url } = await keyHolder());
});
afterAll(() => crm.close());

const feed = 'subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName } } }';
const lineOf = ({ key, ...options }: { key: KeyClient } & Parameters<typeof resuming>[1], Socket: unknown = WebSocket): Sockets =>
  resuming(
    createClient(
      steady({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: Socket,
        connectionParams: bearer(key),
        retryWait: async () => {},
      }),
    ),
    options,
  );

describe('a sign-in that ends while somebody listens', () => {
  it('is told as unauthenticated: what graphql-ws ends with, and what Apollo and urql make of it', async () => {
    const key = await acme.key();
    const line = lineOf({ key });
    const client = new ApolloClient({ cache: new InMemoryCache(), link: new GraphQLWsLink(line) });
    const heard: unknown[] = [];
    const ends: unknown[] = [];
    line.subscribe({ query: feed }, { next: (one) => heard.push(one), error: (end) => ends.push(end), complete: () => {} });
    client.subscribe({ query: gql(feed) }).subscribe({ next: ({ error }) => (error ? ends.push(error) : heard.push(1)) });
    await eventually(() => heard.length === 2);
    await acme.owner.del(`/api-keys/${key.record.id}`);
    await eventually(() => ends.length === 2);
    for (const end of ends) {
      const told = errorOf(end);
      expect([told.code, told.message]).toEqual(['unauthenticated', expect.stringMatching(/^[A-Z][\w ,]{5,}$/)]);
    }
    expect(errorOf({ networkError: { code: 4401, reason: '' }, graphQLErrors: [] })).toMatchObject({ code: 'unauthenticated' });
    client.stop();
  });

  it.each([
    [4401, '', { code: 'unauthenticated', message: 'Not authenticated' }],
    [4403, 'Set up a second factor', { code: 'permission_denied', message: 'Set up a second factor' }],
    [4429, '', { code: 'rate_limited', message: 'Too many requests', retryAfter: 60 }],
    [1006, '', { code: 'no_answer', message: 'The connection was closed (1006)' }],
  ])('has words for the close code %d', (code, reason, told) => {
    expect(errorOf({ code, reason, wasClean: true })).toMatchObject(told);
    expect(errorOf(new Error(`Socket closed with event ${code} ${reason}`))).toMatchObject(told);
  });

  it('has words for what says nothing', () => {
    expect(errorOf({})).toMatchObject({ code: 'no_answer', message: 'There was no answer' });
    expect(errorOf('cut')).toMatchObject({ code: 'no_answer', message: 'cut' });
  });
});

describe('a subscription that goes by its hash', () => {
  const hash = createHash('sha256').update(feed).digest('hex');
  const byHash: SubscribePayload = { query: '', extensions: { persistedQuery: { version: 1, sha256Hash: hash } } };

  it('goes on after a cut where the link is told its text, which is not sent', async () => {
    const key = await acme.key();
    // By its text once, then the server knows it by its hash.
    await key.gql(feed).catch(() => {});
    const sockets: WebSocket[] = [];
    class Cut extends WebSocket {
      constructor(...[address, protocols]: [string, string[]]) {
        super(address, protocols);
        sockets.push(this);
        const send = this.send.bind(this) as (text: unknown) => void;
        this.send = (text: unknown) => {
          sent.push(String(text));
          send(text);
        };
      }
    }
    const sent: string[] = [];
    const line = lineOf(
      { key, textOf: ({ extensions }) => ((extensions?.persistedQuery as Loose | undefined)?.sha256Hash === hash ? feed : undefined) },
      Cut,
    );
    const names: string[] = [];
    const ends: unknown[] = [];
    const next = ({ data }: Loose) => names.push(data?.contactEvents.contact?.lastName ?? 'ready');
    // As clients do that send hashes: with the text where the server does not know it.
    await new Promise<void>((resume) => {
      const stop = line.subscribe(
        { ...byHash, query: feed },
        { next: () => resume(stop()), error: (end) => ends.push(end), complete: () => {} },
      );
    });
    sent.length = 0;
    const stop = line.subscribe(byHash, { next, error: (end) => ends.push(end), complete: () => {} });
    await eventually(() => names.length === 1);
    sockets.at(-1)!.terminate();
    await acme.contact({ firstName: 'Meanwhile', lastName: 'Hashed' });
    await eventually(() => names.at(-1) === 'Hashed');
    expect([ends, sent.some((text) => text.includes('contactEvents')), sent.at(-1)]).toEqual([
      [],
      false,
      expect.stringContaining('"after"'),
    ]);
    stop();
    await line.dispose();
  });

  it('is refused where nobody tells its text', async () => {
    const line = lineOf({ key: await acme.key() });
    await expect(line.iterate(byHash).next()).rejects.toThrow('needs its text for going on after a cut: resuming(client, { textOf })');
    await line.dispose();
  });
});

describe('an error of one operation alone', () => {
  it('is told with all its members, over REST and GraphQL', async () => {
    const { id, updatedAt } = (await acme.owner.post('/call-flows', { name: 'Without a number' })).body.data;
    const expected = { code: 'number_missing', members: { blockers: [{ nodeId: null, code: 'number_missing' }] } };
    const rest = createRest({ url, key: (await acme.key()).secret });
    const { error } = await rest.POST('/call-flows/{id}/publish', { params: { path: { id } }, body: { expectedUpdatedAt: updatedAt } });
    expect(errorOf(error)).toMatchObject(expected);
    const publish =
      'mutation ($id: ID!, $at: DateTime!) { publishCallFlow(id: $id, input: { expectedUpdatedAt: $at }) { callFlow { id } } }';
    expect(errorOf(await acme.owner.gql(publish, { id, at: updatedAt }))).toMatchObject(expected);
  });
});

describe('the REST client of a page of another origin', () => {
  it('sends the session where it is asked to', async () => {
    const seen: string[] = [];
    const fetch = async (request: Request) => {
      seen.push(request.credentials);
      return new Response('{"data":[]}', { headers: { 'Content-Type': 'application/json' } });
    };
    await createRest({ url, fetch, credentials: 'include' }).GET('/tags');
    await createRest({ url, fetch }).GET('/tags');
    expect(seen).toEqual(['include', 'same-origin']);
  });
});
