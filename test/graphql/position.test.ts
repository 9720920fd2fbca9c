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
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  key = await account.key();
});
afterAll(() => crm.close());

const open = () => Socket.open(crm.wire.port, { init: bearer(key) });

/** The feed's end once `count` more than `from` have their places. */
const grown = (from: string, count: number) =>
  eventually(async () => {
    const { data } = await key.gql('{ feedPosition }');
    return Number(data.feedPosition) >= Number(from) + count ? (data.feedPosition as string) : '';
  });

const nameOf = 'contacts(first: 200, filter: { search: "Racer" }) { nodes { id firstName } }';

describe('feedPosition', () => {
  it('is 0 before the first event, and the position of the last one after it', async () => {
    const fresh = await crm.seed.account();
    expect((await fresh.owner.gql('{ feedPosition }')).data).toEqual({ feedPosition: '0' });
    await fresh.contact();
    const position = await eventually(async () => {
      const { data } = await fresh.owner.gql('{ at: feedPosition feedPosition }');
      return data.at !== '0' && data;
    });
    expect(position).toEqual({ at: '1', feedPosition: '1' });
    expect((await account.owner.gql('{ feedPosition }')).data.feedPosition).not.toBe(undefined);
  });

  it('is part of the one statement of a document, by an alias and in a fragment too', async () => {
    const document =
      'query { ...Board contacts(first: 3) { totalCount nodes { id company } } } fragment Board on Query { end: feedPosition }';
    expect(await crm.statements(() => key.gql(document))).toBe(1);
    expect((await key.gql(document)).data.end).toMatch(/^\d+$/);
  });

  it('needs somebody who calls', async () => {
    expectGraphQLRefusal(await crm.anybody().gql('{ feedPosition }'), 401);
  });

  it.each([
    ['printed', ''],
    ['field by field', 'aside: contactSmartViews { key }'],
  ])('misses nothing between the document (%s) and the events after it, while others write', async (_how, aside) => {
    const before = (await key.gql('{ feedPosition }')).data.feedPosition;
    const racers = await Promise.all(Array.from({ length: 5 }, (_, n) => account.contact({ firstName: `Racer ${n}` })));
    const socket = await open();
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; n < 60; n++) await account.owner.patch(`/contacts/${racers[n % 5].id}`, { firstName: `Racer ${n} changed` });
      isWriting = false;
    })();
    const screens: { shown: Map<string, string>; after: string; feed: ReturnType<Socket['run']> }[] = [];
    // A socket carries 50 at most.
    while (isWriting && screens.length < 40) {
      // Reads first, listens then: what happened between the two must come.
      const { data } = await key.gql(`{ ${nameOf} ${aside} feedPosition }`);
      const shown = new Map<string, string>(data.contacts.nodes.map((one: Loose) => [one.id, one.firstName]));
      const after = data.feedPosition;
      screens.push({
        shown,
        after,
        feed: socket.run('subscription ($after: ID) { events(after: $after) { id name entityId changes } }', { after }),
      });
    }
    await writing;
    const end = await grown(before, 65);
    const truth = new Map<string, string>(
      (await key.gql(`{ ${nameOf} }`)).data.contacts.nodes.map((one: Loose) => [one.id, one.firstName]),
    );
    expect(screens.length).toBeGreaterThan(1);
    for (const { shown, after, feed } of screens) {
      // Who read after the last change hears of nothing more.
      if (after !== end) await eventually(() => feed.ids.at(-1) === end);
      for (const { entityId, changes } of feed.events) if (changes?.firstName) shown.set(entityId, changes.firstName.to);
      for (const { id } of racers) expect(shown.get(id)).toBe(truth.get(id));
    }
    socket.cut();
    for (const { id } of racers) await account.owner.del(`/contacts/${id}`);
    // The next one begins where this one ends.
    await grown(end, racers.length);
  });
});

const feed =
  'subscription ($after: ID, $ready: Boolean) { events(after: $after, ready: $ready) { id name kind names entityType data record { id } } }';

describe('a subscription that is asked for ready', () => {
  const typed = 'subscription { contactEvents(ready: true) { id kind type contact { firstName } record { id } } }';

  it('says first after which position all events come, and then they do', async () => {
    const socket = await open();
    const [all, contacts] = [socket.run(feed, { ready: true }), socket.run(typed)];
    const [begun] = await all.nth(1);
    expect(begun).toEqual({
      id: expect.stringMatching(/^0\d+$/),
      name: 'ready',
      kind: 'ready',
      names: ['ready'],
      entityType: 'workspace',
      data: {},
      record: null,
    });
    expect((await contacts.nth(1))[0]).toEqual({ id: begun.id, kind: 'ready', type: 'Workspace', contact: null, record: null });
    const ada = await account.contact({ firstName: 'Ready' });
    const [, created] = await contacts.nth(2);
    expect(created).toMatchObject({ kind: 'contact_created', contact: { firstName: 'Ready' }, record: { id: ada.id } });
    await all.nth(2);
    expect(Number(all.ids[1])).toBe(Number(begun.id) + 1);
    socket.cut();
  });

  it('begins a replay with the position that it was given, or with the first that is kept', async () => {
    const end = await grown('0', 3);
    const socket = await open();
    const some = socket.run(feed, { ready: true, after: String(Number(end) - 2) });
    await some.nth(3);
    expect(some.ids.map(Number)).toEqual([2, 1, 0].map((back) => Number(end) - back));
    expect(some.events.map(({ name }) => name === 'ready')).toEqual([true, false, false]);
    const whole = socket.run(feed, { ready: true, after: '0' });
    await whole.nth(2);
    const { data } = dataOf(await key.get('/events?per_page=1'));
    expect([whole.ids[0], whole.events[0].name, whole.ids[1]]).toEqual(['00', 'ready', data[0].id]);
    socket.cut();
  });

  it('goes on after latest as without a position', async () => {
    const end = await grown('0', 1);
    const socket = await open();
    const live = socket.run(feed, { ready: true, after: 'latest' });
    expect((await live.nth(1))[0]).toMatchObject({ id: `0${end}`, name: 'ready' });
    socket.cut();
  });

  it('is not asked for by its kind or its name', async () => {
    const socket = await open();
    for (const choice of ['kinds: [ready]', 'names: ["ready"]']) {
      const [error] = await socket.run(`subscription { contactEvents(${choice}) { id } }`).refused();
      expect(error.extensions).toMatchObject({ code: 'invalid_request', field: choice.split(':')[0] });
    }
    socket.cut();
    expectGraphQLRefusal(await key.gql('{ events(kinds: [ready]) { nodes { id } } }'), 400, 'kinds');
  });
});

describe('ready', () => {
  it('has an id that is no event of the feed, and the same place in it, so that stores keep the last event as it was', async () => {
    const last = await account.contact({ firstName: 'Last' });
    // What was written before it may have got its place just now.
    const end = await eventually(async () => {
      const position = await grown('0', 1);
      const { data } = dataOf(await key.get(`/events?after=${Number(position) - 1}`));
      return data[0]?.entityId === last.id ? position : '';
    });
    const socket = await open();
    const back = socket.run(feed, { ready: true, after: String(Number(end) - 1) });
    await back.nth(2);
    const again = socket.run(feed, { ready: true });
    const [{ id }] = await again.nth(1);
    expect(id).not.toBe(back.ids[1]);
    expect([back.events[1].record.id, BigInt(id)]).toEqual([last.id, BigInt(end)]);
    const next = await account.contact({ firstName: 'Next' });
    const after = socket.run(feed, { after: id });
    expect((await after.nth(1))[0]).toMatchObject({ id: String(Number(end) + 1), record: { id: next.id } });
    const page = dataOf(await key.get(`/events?after=${id}&per_page=1`));
    expect(page.data[0].id).toBe(after.ids[0]);
    socket.cut();
  });

  it('has its position as the SSE id, from which a browser goes on', async () => {
    const stream = await Stream.open(key, feed, { ready: true });
    const [begun] = await stream.nth(1);
    expect([begun.name, stream.sseIds]).toEqual(['ready', [begun.id]]);
    stream.cut();
  });
});

describe('GET /events?after=latest', () => {
  it('answers no events, and the position to go on after', async () => {
    const end = await grown('0', 1);
    expect(dataOf(await key.get('/events?after=latest'))).toMatchObject({ data: [], meta: { position: end, next_cursor: null } });
    await account.contact();
    await grown(end, 1);
    const { data, meta } = dataOf(await key.get(`/events?after=${end}`));
    expect([data.map((event: Loose) => event.id), meta.position]).toEqual([[String(Number(end) + 1)], String(Number(end) + 1)]);
    expectRefusal(await key.get('/events?after=lately'), 400, 'after');
  });

  it('leads past what was not wanted, but never past what is still to be read', async () => {
    const from = await grown('0', 1);
    for (const firstName of ['One', 'Two', 'Three']) await account.contact({ firstName });
    const end = await grown(from, 3);
    const none = dataOf(await key.get(`/events?after=${from}&names=deal.won`));
    expect([none.data, none.meta.position]).toEqual([[], end]);
    const page = dataOf(await key.get(`/events?after=${from}&per_page=2`));
    expect(page.meta.position).toBe(page.data[1].id);
    expect((await key.gql(`{ events(after: "${from}", first: 2) { position } }`)).data.events.position).toBe(page.data[1].id);
  });
});
