import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GraphQLObjectType } from 'graphql';
import { contract } from '../../src/app.js';
import { allOf, apolloCache, createRest, errorOf, once, scalars, steady, urqlKeys } from '../../src/client/index.js';
import type { Account, Loose, TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';
import { keyHolder, lineTo } from '../support/resumeLine.js';

/** Loads a package outside Jest, as Node does: Jest would take the CommonJS build of one of Apollo's own packages. */
declare const importBuilt: <T>(name: string) => Promise<T>;

const { ApolloClient, gql, HttpLink, InMemoryCache } = await importBuilt<typeof import('@apollo/client')>('@apollo/client');

let crm: TestServer;
let acme: Account;
let url: string;
let secret: string;
beforeAll(async () => {
  ({ crm, acme, url, secret } = await keyHolder());
});
afterAll(() => crm.close());

describe('the REST client', () => {
  it('makes, reads and pages', async () => {
    const rest = createRest({ url, key: secret });
    const names = ['A', 'B', 'C', 'D', 'E'];
    for (const lastName of names) await rest.POST('/contacts', { body: { firstName: 'Paged', lastName } });
    const found: string[] = [];
    const ask = async (cursor?: string) => {
      const { data, error } = await rest.GET('/contacts', { params: { query: { search: 'Paged', per_page: 2, cursor } } });
      if (error) throw error;
      return data.data;
    };
    for await (const { lastName } of allOf(ask)) found.push(lastName!);
    expect(found.sort()).toEqual(names);
  });

  it('tells errors by code, with the field to blame', async () => {
    const { error } = await createRest({ url, key: secret }).POST('/contacts', { body: { firstName: 'Ada', email: 'none' } });
    const told = errorOf(error);
    expect(told).toMatchObject({ code: 'invalid_request', details: [{ field: 'email', code: 'invalid_format' }] });
    const { error: nobody } = await createRest({ url }).GET('/contacts');
    expect(errorOf(nobody).code).toBe('unauthenticated');
    expect(errorOf(new TypeError('fetch failed'))).toMatchObject({ code: 'no_answer', message: 'fetch failed' });
  });

  it('repeats reads and writes with a key after as long as the server asks for, and no other writes', async () => {
    const sent: string[] = [];
    const busy = async (request: Request) => {
      sent.push(request.method);
      if (sent.length % 2 === 0) return fetch(request);
      return new Response('{"error":"Too many requests","code":"rate_limited"}', {
        status: 429,
        headers: { 'Retry-After': '0', 'Content-Type': 'application/json' },
      });
    };
    const rest = createRest({ url, key: secret, fetch: busy });
    expect((await rest.GET('/contacts')).response.status).toBe(200);
    const body = { firstName: 'Once' };
    expect((await rest.POST('/contacts', { body, headers: once() })).response.status).toBe(201);
    const { response, error } = await rest.POST('/contacts', { body });
    expect([response.status, errorOf(error, response.headers.get('Retry-After'))]).toMatchObject([
      429,
      { code: 'rate_limited', retryAfter: 0 },
    ]);
    expect(sent).toEqual(['GET', 'GET', 'POST', 'POST', 'POST']);
  });

  it('waits for the first try of a write with a key where it still runs', async () => {
    let tries = 0;
    const lossy = async (request: Request) => {
      const answer = await fetch(request);
      tries++;
      if (tries === 1) throw new TypeError('the answer is lost');
      if (tries > 4) return answer;
      return new Response('{"error":"A request with this Idempotency-Key is still running","code":"send_in_progress"}', { status: 409 });
    };
    const rest = createRest({ url, key: secret, fetch: lossy, retries: 1 });
    const { data } = await rest.POST('/contacts', { body: { firstName: 'Slow' }, headers: once() });
    expect([data?.data.firstName, tries]).toEqual(['Slow', 5]);
    expect((await acme.owner.gql('{ contacts(filter: { search: "Slow" }) { totalCount } }')).data.contacts.totalCount).toBe(1);
  });
});

describe('an error that may name fields', () => {
  it('has its details where it does, and none else', async () => {
    const create = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }';
    const input = { id: randomUUID(), firstName: 'Twice' };
    await acme.owner.gql(create, { input });
    expect(errorOf(await acme.owner.gql(create, { input }))).toMatchObject({
      code: 'conflict',
      details: [{ field: 'id', code: 'taken', message: expect.any(String) }],
    });
    // A conflict that no field is to blame for, and one of the codes that never blame any.
    for (const code of ['conflict', 'not_found']) expect(errorOf({ error: 'No', code })).not.toHaveProperty('details');
  });
});

describe('the resume link', () => {
  it('goes on where it was when the line was cut, before the first event too, and loses none', async () => {
    const { results, watch, cut } = lineTo(url, secret);
    const stop = watch('subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName } } }');
    const names = () => results.flatMap(({ contactEvents: { kind, contact } }) => (kind === 'ready' ? [] : [contact.lastName]));
    await eventually(() => results.length === 1);
    for (const round of ['first', 'second']) {
      cut();
      for (const nth of [1, 2, 3]) await acme.contact({ firstName: 'Live', lastName: `${round} ${nth}` });
      await eventually(() => names().at(-1) === `${round} 3`);
    }
    expect(names()).toEqual(['first 1', 'first 2', 'first 3', 'second 1', 'second 2', 'second 3']);
    stop();
  });
});

describe('a subscription through the link', () => {
  it('refuses documents that would lose something by a cut', async () => {
    const lost = lineTo(url, secret);
    lost.watch('subscription ($after: ID) { contactEvents(after: $after) { id } }');
    expect(String(lost.results[0]?.error)).toContain('needs ready: true');
    const short = lineTo(url, secret);
    short.watch(
      'subscription ($after: [LiveHave!]) { live(after: $after) { contacts(first: 2) { isWhole rows { recordId node { id } } } } }',
    );
    await eventually(() => short.results.length === 1);
    expect(String(short.results[0]!.error)).toContain('contacts must select isWhole removed rows { recordId index change version');
  });

  it('has options for a socket that comes back as long as it takes, and that ends a line without answers', async () => {
    const closed: number[] = [];
    const { on, retryAttempts, shouldRetry } = steady({ url, keepAlive: 10, on: { pong: () => closed.push(0) } });
    expect([retryAttempts, shouldRetry!({}), steady({ url }).keepAlive]).toEqual([Number.POSITIVE_INFINITY, true, 10_000]);
    on!.opened!({ readyState: 1, CLOSED: 3, close: (code: number) => closed.push(code) });
    on!.ping!(false, undefined);
    on!.pong!(true, undefined);
    expect(closed).toEqual([0]);
    on!.ping!(false, undefined);
    await eventually(() => closed.length === 2);
    expect(closed).toEqual([0, 4408]);
  });

  it('shows a live query as whole pages, and asks for the difference alone', async () => {
    const pipeline = await acme.pipeline();
    await acme.deal({ pipeline, title: 'one' });
    const { results, watch, cut, sockets } = lineTo(url, secret);
    const list = `deals(filter: { pipelineId: "${pipeline.id}", view: list }, sort: title, order: asc)`;
    const stop = watch(
      `subscription ($after: [LiveHave!]) { live(after: $after) { ${list} { isWhole removed totalCount rows { recordId index change version node { title } } } } }`,
    );
    const titles = () =>
      results
        .at(-1)
        ?.live.deals.rows.map(({ node }: Loose) => node.title)
        .join();
    await eventually(() => titles() === 'one');
    await acme.deal({ pipeline, title: 'three' });
    await eventually(() => titles() === 'one,three');
    const wire: Loose[] = [];
    cut();
    await acme.deal({ pipeline, title: 'two' });
    await eventually(() => sockets.length === 2);
    sockets[1]!.on('message', (text) => wire.push(JSON.parse(text.toString())));
    await eventually(() => titles() === 'one,three,two');
    const { payload } = wire.find(({ type }) => type === 'next');
    expect(payload.data.live.deals).toMatchObject({ isWhole: false, rows: [{ node: { title: 'two' } }], totalCount: 3 });
    stop();
  });
});

describe('a line on which no answer comes any more', () => {
  it('is left for another one, and nothing is lost', async () => {
    const proxy = await TcpProxy.before(url);
    const { results, watch } = lineTo(new URL(proxy.through(url)).origin, secret, 1000);
    const stop = watch('subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { firstName } } }');
    await eventually(() => results.length === 1);
    proxy.hang();
    await acme.contact({ firstName: 'Meanwhile' });
    proxy.forget();
    await eventually(() => results.some(({ contactEvents }) => contactEvents.contact?.firstName === 'Meanwhile'));
    stop();
    await proxy.close();
  });
});

describe('a subscription whose place nobody would know after a cut', () => {
  it('is refused: that of a document without id, under another name, or that does not ask to be told that it is ready', async () => {
    const never = lineTo(url, secret);
    never.watch('subscription ($after: ID) { contactEvents(after: $after, ready: false) { id } }');
    expect(String(never.results[0]?.error)).toContain('needs ready: true');
    for (const fields of ['kind contact { lastName }', 'position: id kind']) {
      const placeless = lineTo(url, secret);
      placeless.watch(`subscription ($after: ID) { contactEvents(after: $after, ready: true) { ${fields} } }`);
      await eventually(() => placeless.results.length === 1);
      expect(String(placeless.results[0]!.error)).toContain('contactEvents must select id');
    }
  });
});

describe('what is no subscription', () => {
  it('passes the resume link as it is, whatever its variables and fields are called', async () => {
    const { client, results } = lineTo(url, secret);
    for (const n of [1, 2, 3]) await acme.contact({ firstName: 'Through', lastName: `${n}` });
    const page = `query Subscription($after: String) { # subscription { live }
      contacts(filter: { search: "Through" }, sort: lastName, order: asc, first: 2, after: $after) { nodes { lastName } pageInfo { endCursor } } }`;
    const both = `subscription Events($after: ID) { events(after: $after, ready: true) { id } } ${page}`;
    const ask = (query: string, variables: object, operationName?: string) =>
      new Promise<Loose>((resolve, reject) => {
        const next = ({ data }: Loose) => resolve(data.contacts);
        client.subscribe({ query, variables: { ...variables }, operationName }, { next, error: reject, complete: () => {} });
      });
    const first = await ask(page, {});
    expect(first.nodes).toHaveLength(2);
    for (const name of [undefined, 'Subscription'])
      expect((await ask(name ? both : page, { after: first.pageInfo.endCursor }, name)).nodes).toEqual([{ lastName: '3' }]);
    expect(results).toEqual([]);
  });
});

describe('what caches are told', () => {
  it('is what the schema says', () => {
    const { schema } = contract();
    const types = schema.getTypeMap();
    expect(Object.keys(apolloCache.typePolicies)).toEqual(expect.arrayContaining(['Query', 'Contact', 'Stage']));
    expect(apolloCache.typePolicies.Query!.fields!.deals!.keyArgs).not.toContain('after');
    expect(Object.keys(urqlKeys).filter((name) => !types[name])).toEqual([]);
    expect(Object.keys(urqlKeys)).not.toContain('Contact');
    expect(Object.keys(scalars).filter((name) => !types[name])).toEqual([]);
    // What is a part of a record has no id, and is kept where it stands.
    expect(Object.keys(urqlKeys)).toEqual(expect.arrayContaining(['Actor', 'EventCause', 'EventBatch', 'DealProduct']));
    const isRecord = (name: string) => (types[name] as GraphQLObjectType).getInterfaces().some((of) => of.name === 'Node');
    expect(Object.keys(urqlKeys).filter(isRecord)).toEqual([]);
    // A conversation has none of its own either: it is known by its contact, where that is selected.
    expect([urqlKeys.Conversation!({ contactId: '1' }), urqlKeys.Conversation!({})]).toEqual(['Conversation:1', null]);
  });
});

describe("Apollo's cache", () => {
  it('keeps a conversation under its contact, apart from that contact', async () => {
    const { id } = await acme.contact({ firstName: 'Writes' });
    await acme.owner.post('/messages', { contactId: id, channel: 'sms', direction: 'inbound', body: 'Hi' });
    const cache = new InMemoryCache(apolloCache);
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${url}/graphql`, headers: { authorization: `Bearer ${secret}` } }),
      cache,
    });
    const query = gql(
      `{ contact(id: "${id}") { id firstName conversation { contactId unreadCount } } conversations(first: 1) { nodes { unreadCount } } }`,
    );
    expect((await client.query<Loose>({ query })).data!.contact).toMatchObject({ id, conversation: { contactId: id, unreadCount: 1 } });
    const kept = cache.extract() as Record<string, Loose>;
    expect(Object.keys(kept).sort()).toEqual([`Contact:${id}`, `Conversation:${id}`, 'ROOT_QUERY']);
    expect(kept[`Conversation:${id}`]).toMatchObject({ contactId: id, unreadCount: 1 });
  });

  it('keeps the pages of a list that follow each other together, and each other list by itself', async () => {
    for (const lastName of ['1', '2', '3', '4', '5']) await acme.contact({ firstName: 'Cached', lastName });
    let asked = 0;
    const counting: typeof fetch = (input, init) => {
      asked++;
      return fetch(input, init);
    };
    const link = new HttpLink({ uri: `${url}/graphql`, headers: { authorization: `Bearer ${secret}` }, fetch: counting });
    const client = new ApolloClient({ link, cache: new InMemoryCache(apolloCache) });
    const ask = async (
      paging: string,
      selection = 'nodes { id lastName }',
      fetchPolicy: 'cache-first' | 'network-only' = 'cache-first',
    ) => {
      const list = `contacts(filter: { search: "Cached" }, sort: lastName${paging && `, ${paging}`})`;
      const { data } = await client.query<Loose>({ query: gql(`{ ${list} { ${selection} } }`), fetchPolicy });
      return data!.contacts;
    };
    const names = ({ nodes }: Loose) => nodes.map(({ lastName }: Loose) => lastName).join('');
    expect(names(await ask('page: 1, perPage: 2'))).toBe('12');
    expect(names(await ask('page: 2, perPage: 2'))).toBe('34');
    expect(names(await ask('first: 1'))).toBe('1');
    expect([names(await ask('first: 3')), names(await ask('last: 3')), names(await ask('first: 1'))]).toEqual(['123', '345', '1']);
    const rows = 'nodes { id lastName } pageInfo { endCursor hasNextPage hasPreviousPage }';
    const { pageInfo } = await ask('first: 2', rows);
    const more = `first: 2, after: "${pageInfo.endCursor}"`;
    // The same page twice is there once.
    for (const policy of ['cache-first', 'network-only', 'network-only'] as const) expect(names(await ask(more, rows, policy))).toBe('34');
    expect(await ask('first: 2', 'totalCount')).toMatchObject({ totalCount: 5 });
    const before = asked;
    const whole = await ask('first: 2', `totalCount ${rows}`);
    expect([names(whole), whole.totalCount, whole.pageInfo.hasPreviousPage, asked]).toEqual(['1234', 5, false, before]);
    expect(names(await ask('first: 2', rows, 'network-only'))).toBe('12');
  });
});
