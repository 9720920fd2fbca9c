import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient as sseClient } from 'graphql-sse';
import { createClient as wsClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type Account, day, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';

let crm: TestServer;
let account: Account;
let key: KeyClient;
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  key = await account.key();
});
afterAll(() => crm.close());

const all = 'subscription ($after: ID, $names: [String!]) { events(after: $after, names: $names) { id name entityId changes } }';
const contacts =
  'subscription ($id: ID, $after: ID) { contactEvents(contactId: $id, after: $after) { id name entityId contact { firstName tags { name } } } }';

const open = (init: object | null = bearer(key), headers?: Record<string, string>) => Socket.open(crm.wire.port, { init, headers });
const subscribers = async () => (await crm.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;
/** The end of the account's feed, once everything has its place. */
async function head(of: Account = account): Promise<string> {
  const { database } = crm.app;
  return eventually(async () => {
    const { rows } = await database.execute(
      `select coalesce((select pos from feed_heads where account_id = $1), 0)::text as head from (select 1) one
       where not exists (select from outbox_events e where account_id = $1 and not exists (select from feed_positions p where p.seq = e.seq))`,
      [of.id],
    );
    return (rows as { head: string }[])[0]?.head as string;
  });
}

/** The positions of all events that the key may see, once everything has its place. */
async function kept(): Promise<string[]> {
  await head();
  const { data } = (await key.get('/events?per_page=200')).body.data;
  return data.map((event: Loose) => event.id);
}

describe('events over WebSocket', () => {
  it('come as they happen, with their changes', async () => {
    const socket = await open();
    const before = await subscribers();
    const feed = socket.run(all);
    await eventually(async () => (await subscribers()) === before + 1);
    const ada = await account.contact({ firstName: 'Ada' });
    await account.owner.patch(`/contacts/${ada.id}`, { lastName: 'Lovelace' });
    const [created, updated] = await feed.nth(2);
    expect(created).toMatchObject({ name: 'contact.created', entityId: ada.id, changes: null });
    expect(updated).toMatchObject({ name: 'contact.updated', changes: { lastName: { from: null, to: 'Lovelace' } } });
    expect(Number(updated.id)).toBe(Number(created.id) + 1);
    socket.cut();
    await eventually(async () => (await subscribers()) === before);
  });

  it('are replayed after a position, and go on live without gap or double at the seam', async () => {
    const start = Number(await head());
    const socket = await open();
    const writing = Array.from({ length: 30 }, (_, n) => account.contact({ firstName: `Seam ${n}` }));
    const feeds = [];
    for (let n = 0; n < 10; n++) {
      feeds.push(socket.run(all, { after: String(start) }));
      await writing[n * 3];
    }
    await Promise.all(writing);
    for (const feed of feeds) {
      await feed.nth(30);
      expect(feed.ids).toEqual(Array.from({ length: 30 }, (_, n) => String(start + 1 + n)));
    }
    socket.cut();
  });

  it('can be all that is kept, and only some by name', async () => {
    const socket = await open();
    const ids = await kept();
    const feed = socket.run(all, { after: '0' });
    await feed.nth(ids.length);
    expect(feed.ids).toEqual(ids);
    const updates = socket.run(all, { after: '0', names: ['contact.updated'] });
    expect((await updates.nth(1))[0].name).toBe('contact.updated');
    socket.cut();
  });
});

describe('subscribers', () => {
  it('of one document, variables, account and rights cost as much as one', async () => {
    const socket = await open();
    const costs: number[] = [];
    const feeds = [socket.run(contacts)];
    for (const count of [1, 20]) {
      while (feeds.length < count) feeds.push(socket.run(contacts, { after: await head() }));
      await eventually(async () => (await subscribers()) === count);
      // The first time compiles and prepares.
      for (let round = 1; round <= 2; round++) {
        const change = async () => {
          const before = feeds.map((feed) => feed.results.length);
          await account.contact({ firstName: 'Shared' });
          await Promise.all(feeds.map((feed, n) => feed.nth(before[n]! + 1)));
        };
        const cost = await crm.statements(change, { told: true });
        if (round === 2) costs.push(cost);
      }
    }
    expect(costs[1]).toBe(costs[0]);
    expect(new Set(feeds.map((feed) => JSON.stringify(feed.results.at(-1)))).size).toBe(1);
    socket.cut();
  });

  it('may leave', async () => {
    const socket = await open();
    const feed = socket.run(all, { after: '0' });
    await feed.nth(1);
    socket.send({ id: feed.id, type: 'complete' });
    await eventually(async () => (await subscribers()) === 0);
    const seen = feed.results.length;
    await account.contact();
    await head();
    expect(feed.results.length).toBe(seen);
    socket.cut();
  });
});

describe('what a subscription refuses', () => {
  const refusal = async (query: string, variables?: object, init: object = bearer(key)) => {
    const socket = await open(init);
    const [error] = await socket.run(query, variables).refused();
    socket.cut();
    return [error.extensions.code, error.extensions.field];
  };

  it('a position that is none or beyond the end', async () => {
    expect(await refusal(all, { after: 'soon' })).toEqual(['invalid_request', 'after']);
    expect(await refusal(all, { after: '1000000' })).toEqual(['invalid_request', 'after']);
  });

  it('a position that is no longer kept: gone', async () => {
    const old = await crm.seed.account();
    await old.contact();
    await old.contact();
    await head(old);
    crm.clock.advance(31 * day);
    try {
      const later = await (await old.login()).post('/api-keys', { name: 'later', permission: 'read' });
      expect((await refusal(all, { after: '1' }, { Authorization: `Bearer ${later.body.data.key}` }))[0]).toBe('gone');
    } finally {
      crm.clock.reset();
    }
  });

  it('events and records outside the scopes of the key', async () => {
    const products = bearer(await account.key({ scopes: ['products'] }));
    expect((await refusal(all, { names: ['contact.created'] }, products))[0]).toBe('permission_denied');
    expect((await refusal(all, { names: ['api_key.created'] }))[0]).toBe('permission_denied');
    expect((await refusal(contacts, {}, products))[0]).toBe('permission_denied');
    const silent = await open(products);
    const feed = silent.run(all, { after: '0' });
    const socket = await open();
    const loud = socket.run(all, { after: '0' });
    await account.contact();
    await loud.nth((await kept()).length);
    expect(feed.results).toEqual([]);
    socket.cut();
    silent.cut();
  });

  it('arguments and names that mean nothing, and what the schema does not know', async () => {
    expect(await refusal(all, { names: ['contact.exploded'] })).toEqual(['invalid_request', 'names']);
    expect(await refusal(all, { names: [] })).toEqual(['invalid_request', 'names']);
    expect(await refusal(contacts, { id: 'x' })).toEqual(['invalid_request', 'contactId']);
    expect(await refusal('subscription { explosions { id } }')).toEqual(['invalid_request', undefined]);
    expect(await refusal('subscription {')).toEqual(['invalid_request', undefined]);
  });

  it('a plain HTTP request', async () => {
    const { errors } = await key.gql('subscription { events { id } }');
    expect(errors![0].extensions.code).toBe('invalid_request');
  });
});

describe('queries and mutations over WebSocket', () => {
  it('run as through the other transports', async () => {
    const socket = await open();
    const made = socket.run('mutation { createContact(input: { firstName: "Socket" }) { id firstName } }');
    expect((await made.nth(1))[0].firstName).toBe('Socket');
    await eventually(() => made.complete);
    const read = socket.run('query ($id: ID!) { contact(id: $id) { firstName } }', { id: made.events[0].id });
    expect((await read.nth(1))[0]).toEqual({ firstName: 'Socket' });
    socket.cut();
  });

  it('obey tier, scopes and guards', async () => {
    const socket = await open(bearer(await account.key({ permission: 'read', scopes: ['tags'] })));
    const [write] = await socket.run('mutation { createTag(input: { name: "no" }) { id } }').refused();
    expect(write.extensions).toMatchObject({ code: 'permission_denied', status: 403 });
    const [scope] = await socket.run('{ contacts { totalCount } }').refused();
    expect(scope.extensions.code).toBe('permission_denied');
    const [guard] = await socket.run(`{ ${Array.from({ length: 200 }, (_, n) => `a${n}: me { user { id } }`).join(' ')} }`).refused();
    expect(guard.extensions.code).toBe('invalid_request');
    socket.cut();
  });
});

/** One event stream by hand: a GET as a browser's EventSource makes it. */
const eventSource = (headers: Record<string, string>) =>
  new Promise<string>((resolve, reject) => {
    const query = encodeURIComponent('subscription { events(after: "0") { id } }');
    const outgoing = request({ port: crm.wire.port, path: `/graphql/stream?query=${query}`, headers }, (incoming) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
        if (/^id: \d+$/m.test(text)) {
          outgoing.destroy();
          resolve(text);
        }
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });

describe('events over SSE', () => {
  it('come as they happen, each with its position as the SSE id', async () => {
    const stream = await Stream.open(key, all);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const ada = await account.contact({ firstName: 'Ada' });
    const [event] = await stream.nth(1);
    expect(event).toMatchObject({ name: 'contact.created', entityId: ada.id });
    expect(stream.sseIds).toEqual([event.id]);
    stream.cut();
  });

  it('go on after Last-Event-ID when a browser comes back', async () => {
    const end = Number(await head());
    const text = await eventSource({ authorization: `Bearer ${key.secret}`, 'last-event-id': String(end - 1) });
    expect(text).toMatch(new RegExp(`^id: ${end}$`, 'm'));
    expect(text).not.toMatch(new RegExp(`^id: ${end - 1}$`, 'm'));
  });

  it('refuse without credentials, without a document, and what is no subscription', async () => {
    const nobody = await Stream.open(crm.anybody(), all);
    expect(nobody.status).toBe(401);
    await eventually(() => nobody.ended);
    expect(nobody.body.errors[0].extensions.code).toBe('unauthenticated');
    expect((await Stream.open(key, '')).status).toBe(400);
    const query = await Stream.open(key, '{ me { user { id } } }');
    expect((await query.refused())[0].message).toMatch(/Only subscriptions/);
    const gone = await Stream.open(key, all, { after: '1000000' });
    expect((await gone.refused())[0].extensions.field).toBe('after');
    await eventually(() => gone.complete && gone.ended);
  });
});

it('a subscription that directives leave nothing of is complete as it begins', async () => {
  const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
  const text = (no: boolean) => `subscription { ...A @skip(if: ${no}) } fragment A on Subscription { dealEvents(after: "0") { id } }`;
  for (const query of ['subscription { live @include(if: false) { deals { totalCount } } }', text(true)]) {
    const [feed, stream] = [socket.run(query), await Stream.open(key, query)];
    await eventually(() => feed.complete && stream.complete && stream.ended);
    for (const one of [feed, stream]) expect([one.results, one.errors]).toEqual([[], undefined]);
  }
  const [feed] = await Promise.all([socket.run(text(false)), account.deal()]);
  await feed.nth(1);
  expect(feed.complete).toBe(false);
  socket.cut();
});

describe('the clients that people use', () => {
  const take = async (events: AsyncIterable<Loose>, n: number) => {
    const seen: Loose[] = [];
    for await (const result of events) {
      seen.push(result.data.events.id);
      if (seen.length === n) break;
    }
    return seen;
  };
  const query = 'subscription { events(after: "0") { id } }';

  it('graphql-ws', async () => {
    const client = wsClient({ url: `ws://127.0.0.1:${crm.wire.port}/graphql`, webSocketImpl: WebSocket, connectionParams: bearer(key) });
    expect(await take(client.iterate({ query }), 3)).toEqual((await kept()).slice(0, 3));
    await client.dispose();
  });

  it('graphql-sse', async () => {
    const url = `http://127.0.0.1:${crm.wire.port}/graphql/stream`;
    const client = sseClient({ url, headers: bearer(key), retryAttempts: 0 });
    expect(await take(client.iterate({ query }), 3)).toEqual((await kept()).slice(0, 3));
    client.dispose();
  });
});
