import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  type KeyClient,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';

let crm: TestServer;
let account: Account;
let key: KeyClient;
let pipeline: Loose;
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  key = await account.key();
  pipeline = await account.pipeline();
});
afterAll(() => crm.close());

const open = (init: object | null = bearer(key)) => Socket.open(crm.wire.port, { init });

/** What the feed has of one record, once everything that happened has its place. */
async function feedOf(entityId: string, count: number): Promise<Loose[]> {
  return eventually(async () => {
    const { data } = dataOf(await account.owner.get('/events?per_page=200'));
    const own = data.filter((event: Loose) => event.entityId === entityId);
    return own.length >= count ? own : undefined;
  });
}

/** A deal that has moved and was won by one change. */
async function wonDeal(): Promise<Loose> {
  const deal = await account.deal({ pipeline });
  dataOf(await account.owner.patch(`/deals/${deal.id}`, { stageId: pipeline.stages[1].id, status: 'won' }));
  return deal;
}

describe('an event', () => {
  it('says which change it tells of, what else that was, and who did it', async () => {
    const deal = await wonDeal();
    const [created, updated, moved, won] = await feedOf(deal.id, 4);
    expect(created).toMatchObject({
      kind: 'deal_created',
      names: ['deal.created'],
      type: 'Deal',
      entityType: 'deal',
      changeId: created.eventId,
    });
    const names = ['deal.updated', 'deal.stage_changed', 'deal.won'];
    expect([updated, moved, won].map((event) => event.name)).toEqual(names);
    for (const event of [updated, moved, won]) expect(event).toMatchObject({ names, changeId: updated.eventId });
    expect(new Set([created, updated, moved, won].map((event) => event.eventId)).size).toBe(4);
    expect([moved.changes, won.changes]).toEqual([
      { stageId: { from: pipeline.stages[0].id, to: pipeline.stages[1].id } },
      { status: { from: 'open', to: 'won' } },
    ]);
    expect(created).toMatchObject({
      actor: { kind: 'user', id: account.ownerId, name: account.ownerEmail },
      clientMutationId: null,
      batchId: null,
    });
  });

  it('names the API key that did it', async () => {
    const { data } = await key.gql('mutation { createTag(input: { name: "By a key" }) { id } }');
    const [event] = await feedOf(data.createTag.id, 1);
    const keys = dataOf(await account.owner.get('/api-keys')).data;
    expect(keys.map(({ id, name }: Loose) => ({ kind: 'api_key', id, name }))).toContainEqual(event.actor);
  });

  it('of API keys is for those who may see them', async () => {
    await feedOf(account.id, 0);
    const names = async (caller: { get: KeyClient['get'] }) =>
      new Set(dataOf(await caller.get('/events?per_page=200')).data.map((event: Loose) => event.name));
    const member = await account.member();
    expect(await names(account.owner)).toContain('api_key.created');
    expect(await names(member)).not.toContain('api_key.created');
    expect(await names(member)).toContain('pipeline.created');
    expectRefusal(await member.get('/events?names=api_key.created'), 403);
    expectRefusal(await key.get('/events?names=api_key.created'), 403);
  });
});

describe('an event of a mutation', () => {
  it('carries what the client called the mutation: in a header, or in the extensions of its request', async () => {
    const tag = async (name: string, more: object, headers = {}) => {
      const query = 'mutation ($name: String!) { createTag(input: { name: $name }) { id } }';
      const payload = JSON.stringify({ query, variables: { name }, ...more });
      return account.owner.raw({ method: 'POST', path: '/graphql', payload, headers: { 'content-type': 'application/json', ...headers } });
    };
    const nameOf = async (reply: Loose) => (await feedOf(reply.body.data.createTag.id, 1))[0]!.clientMutationId;
    const header = { 'x-client-mutation-id': 'drag 7' };
    expect(await nameOf(await tag('In a header', {}, header))).toBe('drag 7');
    expect(await nameOf(await tag('In extensions', { extensions: { clientMutationId: 'Zug 8' } }))).toBe('Zug 8');
    expect(await nameOf(await tag('In both', { extensions: { clientMutationId: 'Zug 9' } }, header))).toBe('Zug 9');
    const each = await account.owner.raw({
      ...{ method: 'POST', path: '/graphql', headers: { 'content-type': 'application/json', ...header } },
      payload: JSON.stringify({
        query: `mutation ($id: String) {
          a: createTag(input: { name: "A" }, clientMutationId: $id) { id }
          b: createTag(input: { name: "B" }) { id }
          c: createTag(input: { name: "C" }, clientMutationId: "third") { id } }`,
        variables: { id: 'first' },
      }),
    });
    const namesOf = ['a', 'b', 'c'].map(async (key) => (await feedOf(each.body.data[key].id, 1))[0]!.clientMutationId);
    expect(await Promise.all(namesOf)).toEqual(['first', 'drag 7', 'third']);
    const contact = dataOf(await account.owner.send('POST', '/contacts', { firstName: 'Named' }, header));
    expect((await feedOf(contact.id, 1))[0]!.clientMutationId).toBe('drag 7');
    const socket = await open();
    socket.send({
      id: 'x',
      type: 'subscribe',
      payload: { query: 'mutation { createTag(input: { name: "Socket" }) { id } }', extensions: { clientMutationId: 's' } },
    });
    await eventually(async () =>
      (await account.owner.get('/events?names=tag.created&per_page=200')).body.data.data.some((e: Loose) => e.clientMutationId === 's'),
    );
    socket.cut();
    const long = await account.owner.gql(
      `mutation { createTag(input: { name: "Refused" }, clientMutationId: "${'x'.repeat(201)}") { id } }`,
    );
    expectGraphQLRefusal(long, 400, 'clientMutationId');
    for (const clientMutationId of ['', 'a\nb', 'x'.repeat(201), 7, {}, '\ud800', '\u0000']) {
      const refused = await tag('Refused', { extensions: { clientMutationId } });
      expect(refused.body.errors[0].extensions).toMatchObject({ code: 'invalid_request', field: 'clientMutationId' });
    }
    expectRefusal(
      await account.owner.send('POST', '/tags', { name: 'Refused' }, { 'x-client-mutation-id': 'x'.repeat(201) }),
      400,
      'clientMutationId',
    );
  });
});

describe('the list of events', () => {
  it('can be chosen by its kind, by its name, and by both', async () => {
    const choose = async (args: string) => {
      const { data } = await account.owner.gql(`{ events(${args}, first: 200) { nodes { kind } } }`);
      return [...new Set(data.events.nodes.map((node: Loose) => node.kind))];
    };
    expect(await choose('kinds: [deal_won]')).toEqual(['deal_won']);
    expect(await choose('kinds: [deal_won, tag_created], names: ["deal.won"]')).toEqual(['deal_won']);
    expectGraphQLRefusal(await account.owner.gql('{ events(kinds: []) { nodes { id } } }'), 400, 'kinds');
    const { errors } = await account.owner.gql('{ events(kinds: [deal_exploded]) { nodes { id } } }');
    expect(errors![0].extensions.code).toBe('invalid_request');
  });
});

const contacts =
  'subscription ($id: ID, $after: ID) { contactEvents(contactId: $id, after: $after) { id name entityId contact { firstName tags { name } } } }';

describe('typed events', () => {
  it('carry the record as it is now, null when it is deleted', async () => {
    const [one, other] = [await account.contact({ firstName: 'One', tags: ['VIP'] }), await account.contact({ firstName: 'Other' })];
    const socket = await open();
    const feed = socket.run(contacts, { id: one.id, after: '0' });
    await feed.nth(1);
    await account.owner.patch(`/contacts/${other.id}`, { firstName: 'Unheard' });
    await account.owner.patch(`/contacts/${one.id}`, { firstName: 'Uno' });
    await account.owner.del(`/contacts/${one.id}`);
    const events = await feed.nth(3);
    expect(events.map((e) => [e.name, e.entityId])).toEqual([
      ['contact.created', one.id],
      ['contact.updated', one.id],
      ['contact.deleted', one.id],
    ]);
    expect(events[0].contact).toEqual({ firstName: 'One', tags: [{ name: 'VIP' }] });
    expect(events[2].contact).toBeNull();
    socket.cut();
  });

  it('are one a change: under the name of its most specific event, with all that changed', async () => {
    const deal = await wonDeal();
    const socket = await open();
    const query =
      'subscription ($id: ID, $names: [String!], $kinds: [EventKind!]) { dealEvents(dealId: $id, after: "0", names: $names, kinds: $kinds) { name kind names changeId changes } }';
    const feed = socket.run(query, { id: deal.id });
    const [created, won] = await feed.nth(2);
    expect(created).toMatchObject({ name: 'deal.created', names: ['deal.created'], changes: null });
    expect(won).toMatchObject({ name: 'deal.won', kind: 'deal_won', names: ['deal.updated', 'deal.stage_changed', 'deal.won'] });
    expect(Object.keys(won.changes)).toEqual(expect.arrayContaining(['stageId', 'status']));
    const moved = socket.run(query, { id: deal.id, names: ['deal.stage_changed'] });
    expect((await moved.nth(1))[0]).toEqual({ ...won, name: 'deal.stage_changed', kind: 'deal_stage_changed' });
    const of = async (...kinds: string[]) => (await socket.run(query, { id: deal.id, kinds }).nth(1))[0];
    expect([await of('deal_won'), await of('deal_won', 'deal_lost', 'deal_updated')]).toEqual([won, won]);
    expect(await of('deal_updated')).toEqual({ ...won, name: 'deal.updated', kind: 'deal_updated' });
    const [refused] = await socket.run(query, { id: deal.id, names: ['contact.created'] }).refused();
    expect(refused.extensions).toMatchObject({ code: 'invalid_request', field: 'names' });
    expect(moved.results).toHaveLength(1);
    socket.cut();
  });
});

describe('the events', () => {
  it('of records of every kind come as they happen', async () => {
    const socket = await open();
    const feeds = Object.fromEntries(
      ['task', 'note', 'company', 'tag', 'product', 'stage'].map((noun) => [
        noun,
        socket.run(`subscription { ${noun}Events(after: "0") { name entityId ${noun} { id } } }`),
      ]),
    );
    const made = { task: await account.task(), company: await account.company(), tag: await account.tag('Told') } as Record<string, Loose>;
    made.note = dataOf(await account.owner.post('/notes', { body: 'Told' }));
    made.product = dataOf(await account.owner.post('/products', { name: 'Told' }));
    made.stage = dataOf(await account.owner.post(`/pipelines/${pipeline.id}/stages`, { name: 'Told' }));
    for (const [noun, { id }] of Object.entries(made)) {
      await eventually(() => feeds[noun]!.events.some((event) => event.entityId === id));
      const event = feeds[noun]!.events.find((told) => told.entityId === id);
      expect(event).toEqual({ name: `${noun}.created`, entityId: id, [noun]: { id } });
    }
    socket.cut();
  });

  it('of a smart list of one person are for that person alone', async () => {
    const member = await account.member();
    const list = { entity: 'contact', filters: { field: 'city', op: 'eq', value: 'Paris' } };
    const own = dataOf(await member.post('/smart-lists', { name: 'Mine', shared: false, ...list }));
    const shared = dataOf(await member.post('/smart-lists', { name: 'Ours', ...list }));
    dataOf(await member.patch(`/smart-lists/${shared.id}`, { shared: false, name: 'Withdrawn' }));
    await feedOf(shared.id, 2);
    const seenBy = async (caller: { get: KeyClient['get'] }) => {
      const { data, meta } = dataOf(await caller.get('/events?per_page=200'));
      const lists = data.filter((event: Loose) => event.entityId === own.id || event.entityId === shared.id);
      expect(meta.total).toBe(data.length);
      return lists.map((event: Loose) => [event.name, event.data.name]);
    };
    const told = [['smart_list.created', 'Ours'], ['smart_list.deleted', 'Ours']]; // biome-ignore format: one line
    expect(await seenBy(account.owner)).toEqual(told);
    expect(await seenBy(member)).toEqual([['smart_list.created', 'Mine'], ...told, ['smart_list.updated', 'Withdrawn']]);
    expect(await seenBy(key)).toEqual([]);
    const query = 'subscription { smartListEvents(after: "0") { entityId smartList { name } } }';
    const streams = await Promise.all([account.owner, member].map((caller) => Stream.open(caller, query)));
    await streams[1]!.nth(4);
    await streams[0]!.nth(2);
    expect(streams[1]!.events.map((event) => event.smartList.name)).toEqual(['Mine', 'Withdrawn', 'Withdrawn', 'Withdrawn']);
    expect(streams[0]!.events.map((event) => event.smartList)).toEqual([null, null]);
    for (const stream of streams) stream.cut();
    const entries = async (caller: { get: KeyClient['get'] }) => dataOf(await caller.get('/activities?per_page=200')).data;
    expect((await entries(account.owner)).filter((entry: Loose) => entry.entityId === own.id)).toEqual([]);
    expect((await entries(account.owner)).some((entry: Loose) => entry.entityType === 'apikey')).toBe(true);
    expect((await entries(member)).some((entry: Loose) => entry.entityType === 'apikey')).toBe(false);
  });
});

describe('the record of an event', () => {
  it.each([
    ['... on SmartList { name }', (_id: string) => ({ name: 'Mine' })],
    ['id', (id: string) => ({ id })],
  ])(
    'is shown to each person as they may see it: a list that its owner keeps from the others is theirs alone: %s',
    async (fields, seen) => {
      const [owner, other] = [await account.member(), await account.member()];
      const query = `subscription { events(names: ["smart_list.deleted"]) { entityId record { ${fields} } } }`;
      // The owner comes first: what is executed for them is not handed to others of the same rights.
      const own = await Stream.open(owner, query);
      const others = await Stream.open(other, query);
      const filters = { field: 'city', op: 'eq', value: 'Paris' };
      const { id } = dataOf(await owner.post('/smart-lists', { name: 'Ours', entity: 'contact', filters }));
      dataOf(await owner.patch(`/smart-lists/${id}`, { shared: false, name: 'Mine' }));
      await Promise.all([own.nth(1), others.nth(1)]);
      expect(own.events).toEqual([{ entityId: id, record: seen(id) }]);
      expect(others.events).toEqual([{ entityId: id, record: null }]);
      for (const stream of [own, others]) stream.cut();
    },
  );
});

describe('the events of many records', () => {
  it('of a bulk edit can be one event, with what it did', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, async () => (await account.contact()).id as string));
    const socket = await open();
    const query =
      'subscription ($batches: Boolean) { contactEvents(batches: $batches, names: ["contact.updated"], after: "0") { id name batchId batch { batchId count names entityIds } } }';
    dataOf(await account.owner.post('/bulk/contacts/edit', { ids, changes: { city: 'Paris' } }));
    const one = socket.run(query, { batches: true });
    await eventually(() => one.events.some(({ batch }) => batch));
    const each = socket.run(query, { batches: false });
    await eventually(() => each.events.filter(({ batchId }) => batchId).length === 30);
    const { batch, ...last } = one.events.find((event) => event.batch)!;
    expect(batch).toMatchObject({ batchId: last.batchId, count: 30, names: ['contact.updated'] });
    expect(new Set(batch.entityIds)).toEqual(new Set(ids));
    expect(last.id).toBe(each.events.filter(({ batchId }) => batchId).at(-1).id);
    expect(one.events.filter((event) => event.batchId === last.batchId)).toHaveLength(1);
    socket.cut();
  });
});
