import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { contract } from '../../src/app.js';
import { allOf, apolloCache, createRest, errorOf, once, resuming, scalars, urqlKeys } from '../../src/client/index.js';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let crm: TestServer;
let acme: Account;
let url: string;
let secret: string;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  url = `http://127.0.0.1:${crm.wire.port}`;
  ({ secret } = await acme.key());
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
});

/** Sockets that can be cut, and somebody who keeps what comes. */
function line() {
  const sockets: WebSocket[] = [];
  class Cut extends WebSocket {
    constructor(...[address, protocols]: [string, string[]]) {
      super(address, protocols);
      sockets.push(this);
    }
  }
  const options = {
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Cut,
    connectionParams: { Authorization: `Bearer ${secret}` },
  };
  const client = resuming(createClient({ ...options, retryAttempts: 50, retryWait: async () => {}, shouldRetry: () => true }));
  const results: Loose[] = [];
  const watch = (query: string) =>
    client.subscribe({ query }, { next: ({ data }) => results.push(data), error: (error) => results.push({ error }), complete: () => {} });
  return { results, watch, cut: () => sockets.at(-1)!.terminate(), sockets };
}

describe('the resume link', () => {
  it('goes on after the last event when the line was cut, and loses none', async () => {
    const { results, watch, cut, sockets } = line();
    const stop = watch('subscription ($after: ID) { contactEvents(after: $after, kinds: [contact_created]) { id contact { lastName } } }');
    await eventually(() => sockets.length === 1 && sockets[0]!.readyState === WebSocket.OPEN);
    await eventually(async () => {
      if (results.length === 0) await acme.contact({ firstName: 'Live', lastName: 'first' });
      return results.length > 0;
    });
    const before = results.length;
    cut();
    for (const lastName of ['x', 'y', 'z']) await acme.contact({ firstName: 'Live', lastName });
    await eventually(() => results.some(({ contactEvents }) => contactEvents.contact.lastName === 'z'));
    expect(
      results
        .slice(before)
        .map(({ contactEvents }) => contactEvents.contact.lastName)
        .filter((name) => name !== 'first'),
    ).toEqual(['x', 'y', 'z']);
    stop();
  });

  it('shows a live query as whole pages, and asks for the difference alone', async () => {
    const pipeline = await acme.pipeline();
    await acme.deal({ pipeline, title: 'one' });
    const { results, watch, cut, sockets } = line();
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

describe('what caches are told', () => {
  it('is what the schema says', () => {
    const { schema } = contract();
    const types = schema.getTypeMap();
    expect(Object.keys(apolloCache.typePolicies)).toEqual(expect.arrayContaining(['Query', 'Contact', 'Stage']));
    expect(apolloCache.typePolicies.Query!.fields.deals!.keyArgs).toEqual(['count', 'filter', 'order', 'orderBy', 'sort', 'where']);
    expect(Object.keys(urqlKeys).filter((name) => !types[name] || 'id' in (types[name] as Loose).getFields())).toEqual([]);
    expect(Object.keys(scalars).filter((name) => !types[name])).toEqual([]);
  });

  it('joins the pages of a list, and begins anew where it is asked for from its beginning', () => {
    const { merge } = apolloCache.typePolicies.Query!.fields.deals!;
    const page = (...nodes: number[]) => ({ nodes, totalCount: 3 });
    expect(merge(page(1, 2), page(3), { args: { after: 'c' } })).toEqual(page(1, 2, 3));
    expect(merge(page(1, 2), page(3), { args: {} })).toEqual(page(3));
  });
});
