import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Context } from '../../src/kernel/context/context.js';
import { Relay } from '../../src/workers/relay.js';
import { sweep } from '../../src/workers/sweeps.js';
import {
  type Account,
  day,
  expectGraphQLRefusal,
  expectRefusal,
  type KeyClient,
  onPostgres,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const dataOfEvents = async (caller: { get: KeyClient['get'] }, query = '') => {
  const reply = await caller.get(`/events${query}`);
  expect(reply.status).toBe(200);
  return reply.body.data;
};

/** Waits until every event of the account has its place, and answers them all. */
async function settled(account: Account, count: number) {
  return eventually(async () => {
    const { data } = await dataOfEvents(account.owner, '?per_page=200');
    return data.length >= count ? data : undefined;
  });
}

describe('the relay', () => {
  it('goes on where the clock of the day is set back', async () => {
    const account = await crm.seed.account();
    await account.contact();
    const { length } = await settled(account, 1);
    const { now } = Date;
    Date.now = () => now() - 3_600_000;
    try {
      await account.contact();
      await settled(account, length + 1);
    } finally {
      Date.now = now;
    }
  });
});

describe('GET /events', () => {
  let account: Account;
  let ada: { id: string };
  beforeAll(async () => {
    account = await crm.seed.account();
    ada = await account.contact({ firstName: 'Ada' });
    await account.owner.patch(`/contacts/${ada.id}`, { lastName: 'Lovelace' });
    await account.owner.del(`/contacts/${ada.id}`);
    await settled(account, 3);
  });

  it('answers what happened, the oldest first, with the changes and the record as it was then', async () => {
    const { data, meta } = await dataOfEvents(account.owner);
    expect(data.map((event: { id: string; name: string }) => [event.id, event.name])).toEqual([
      ['1', 'contact.created'],
      ['2', 'contact.updated'],
      ['3', 'contact.deleted'],
    ]);
    expect(data[1]).toMatchObject({
      entityType: 'contact',
      entityId: ada.id,
      changes: { lastName: { from: null, to: 'Lovelace' } },
      data: { id: ada.id, firstName: 'Ada', lastName: 'Lovelace' },
    });
    expect(data[0]).toMatchObject({ changes: null, data: { lastName: null }, eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(meta).toMatchObject({ total: 3, next_cursor: null });
  });

  it('goes on after a position, page by page', async () => {
    const first = await dataOfEvents(account.owner, '?after=1&per_page=1');
    expect(first.data.map((event: { id: string }) => event.id)).toEqual(['2']);
    const second = await dataOfEvents(account.owner, `?cursor=${first.meta.next_cursor}`);
    expect(second.data.map((event: { id: string }) => event.id)).toEqual(['3']);
    expect((await dataOfEvents(account.owner, '?after=3')).data).toEqual([]);
  });

  it('has no pages by number but the first', async () => {
    expect(await dataOfEvents(account.owner, '?page=1&per_page=2')).toEqual(await dataOfEvents(account.owner, '?per_page=2'));
    for (const page of ['0', '2', '3']) expectRefusal(await account.owner.get(`/events?page=${page}`), 400, 'page');
  });

  it('takes a position or a cursor, not both', async () => {
    expectRefusal(await account.owner.get('/events?after=1&cursor=2'), 400, 'after');
  });

  it('refuses a position that is none or beyond the end, naming after', async () => {
    for (const after of ['x', '-1', '1.5', '4', '9999999999999999999999'])
      expectRefusal(await account.owner.get(`/events?after=${after}`), 400, 'after');
  });

  it('filters by name, and refuses a name that no event has', async () => {
    const { data, meta } = await dataOfEvents(account.owner, '?names=contact.deleted,contact.created');
    expect(data.map((event: { id: string }) => event.id)).toEqual(['1', '3']);
    expect(meta.total).toBe(2);
    expectRefusal(await account.owner.get('/events?names=contact.exploded'), 400, 'names');
  });

  it('is the same through GraphQL', async () => {
    const { data } = await account.owner.gql(
      '{ events(after: "1", first: 1) { totalCount nodes { id name changes } pageInfo { hasNextPage endCursor } } }',
    );
    expect(data.events).toEqual({
      totalCount: 3,
      nodes: [{ id: '2', name: 'contact.updated', changes: { lastName: { from: null, to: 'Lovelace' } } }],
      pageInfo: { hasNextPage: true, endCursor: '2' },
    });
    expectGraphQLRefusal(await account.owner.gql('{ events(after: "77") { nodes { id } } }'), 400, 'after');
  });
});

describe('who sees which events', () => {
  let account: Account;
  beforeAll(async () => {
    account = await crm.seed.account();
    for (let n = 0; n < 3; n++) await account.contact();
    await settled(account, 3);
  });

  it('nobody those of another account', async () => {
    const other = await crm.seed.account();
    expect((await dataOfEvents(other.owner)).data).toEqual([]);
    await other.contact();
    const [event] = await settled(other, 1);
    expect(event.id).toBe('1');
  });

  it('a key those of its scopes, silently; naming another is refused', async () => {
    const tags = await account.key({ scopes: ['tags'] });
    expect((await dataOfEvents(tags)).data).toEqual([]);
    expectRefusal(await tags.get('/events?names=contact.created'), 403);
    const contacts = await account.key({ scopes: ['contacts'], permission: 'read' });
    expect((await dataOfEvents(contacts)).data).toHaveLength(3);
    expect((await dataOfEvents(contacts, '?names=contact.created')).data).toHaveLength(3);
  });
});

describe('what the feed keeps', () => {
  it('is 30 days: an older position is gone, "0" is all that is left, before and after the sweep', async () => {
    const account = await crm.seed.account();
    await account.contact();
    await account.contact();
    await settled(account, 2);
    crm.clock.advance(31 * day);
    try {
      const owner = await account.login();
      await owner.post('/contacts', { firstName: 'Late' });
      await eventually(async () => (await dataOfEvents(owner)).data.length === 1);
      for (const swept of [false, true]) {
        if (swept) await sweep(crm.app);
        const { data, meta } = await dataOfEvents(owner, '?after=0');
        expect([data.map((event: { id: string }) => event.id), meta.total]).toEqual([['3'], 1]);
        expectRefusal(await owner.get('/events?after=1'), 410);
        expect((await dataOfEvents(owner, '?after=2')).data).toHaveLength(1);
        expect((await dataOfEvents(owner, '?after=3')).data).toEqual([]);
      }
      crm.clock.advance(31 * day);
      const later = await account.login();
      expect((await dataOfEvents(later)).data).toEqual([]);
      await sweep(crm.app);
      expect(await rowsOf('select pos from feed_positions where account_id = $1', [account.id])).toEqual([]);
      expectRefusal(await later.get('/events?after=2'), 410);
      expect((await dataOfEvents(later, '?after=3')).data).toEqual([]);
    } finally {
      crm.clock.reset();
    }
  });
});

const rowsOf = async <Row = { pos: number | null }>(text: string, values: unknown[] = []) =>
  (await crm.app.database.execute(text, values)).rows as Row[];

/** The places of an account's events, in the order in which their numbers were taken; null for one without. */
const placesOf = async ({ id }: Account) =>
  (
    await rowsOf(
      `select p.pos::int as pos from outbox_events e left join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
       where e.account_id = $1 order by e.seq`,
      [id],
    )
  ).map(({ pos }) => pos);

describe('the order of the feed', () => {
  it('gives the events of one transaction neighbouring places, and a change that failed none', async () => {
    const account = await crm.seed.account();
    const { data } = await account.owner.gql(
      'mutation { a: createContact(input: { firstName: "A" }) { id } b: createContact(input: { firstName: "B" }) { id } }',
    );
    const failed = await account.owner.gql(
      `mutation { c: createContact(input: { firstName: "C" }) { id } d: updateContact(id: "${crm.clock.id()}", input: {}) { id } }`,
    );
    expectGraphQLRefusal(failed, 404);
    await account.contact();
    const events = await settled(account, 3);
    expect(events.map((event: { id: string }) => event.id)).toEqual(['1', '2', '3']);
    expect(events.slice(0, 2).map((event: { entityId: string }) => event.entityId)).toEqual([data.a.id, data.b.id]);
  });

  it('has no gap and no double under concurrent writers, and keeps the order of each record', async () => {
    const account = await crm.seed.account();
    const contacts = await Promise.all(Array.from({ length: 8 }, () => account.contact()));
    const rounds = Array.from({ length: 10 }, (_, n) => n);
    const busy = contacts.map(async ({ id }) => {
      for (const n of rounds) await account.owner.patch(`/contacts/${id}`, { jobTitle: `Job ${n}` });
    });
    await Promise.all(busy);
    const events = await settled(account, 88);
    expect(events.map((event: { id: string }) => Number(event.id))).toEqual(Array.from({ length: 88 }, (_, n) => n + 1));
    for (const { id } of contacts) {
      const titles = events.flatMap((e: { entityId: string; changes: { jobTitle?: { to: string } } }) =>
        e.entityId === id && e.changes ? [e.changes.jobTitle!.to] : [],
      );
      expect(titles).toEqual(rounds.map((n) => `Job ${n}`));
    }
  });
});

onPostgres(it)('has no gap and no double under three relays and slow writers', async () => {
  const account = await crm.seed.account();
  const relays = [1, 2].map(() => new Relay(crm.app.database, crm.app.channel, crm.app.log));
  for (const relay of relays) relay.start();
  const ctx = new Context(crm.app, { id: 'test', ip: '' }, null);
  const { prisma } = crm.app.database;
  // Half of the writers take their number in the outbox long before they commit.
  const write = (n: number) =>
    prisma.$transaction(async (tx) => {
      await tx.outboxEvent.create({
        data: {
          accountId: account.id,
          id: crm.clock.id(),
          name: 'contact.updated',
          entityType: 'contact',
          entityId: account.id,
          data: { n },
          createdAt: ctx.now(),
        },
      });
      if (n % 2) await tx.$queryRaw`select pg_sleep(${0.02 * Math.random()})::text`;
    });
  for (let n = 0; n < 204; n += 6) await Promise.all([0, 1, 2, 3, 4, 5].map((k) => write(n + k)));
  await eventually(async () => (await placesOf(account)).every(Boolean));
  for (const relay of relays) await relay.stop();
  const places = await placesOf(account);
  expect(places.sort((a, b) => a! - b!)).toEqual(Array.from({ length: 204 }, (_, n) => n + 1));
  expect(await rowsOf('select pos::int as pos from feed_heads where account_id = $1', [account.id])).toEqual([{ pos: 204 }]);
});

onPostgres(it)('passes nobody who has taken a number and is still writing, and leaves behind what is placed', async () => {
  const account = await crm.seed.account();
  const { database } = crm.app;
  const write = (tx: Pick<typeof database.prisma, 'outboxEvent'>, n: number) => {
    const about = { entityType: 'contact', entityId: account.id, data: { n }, createdAt: crm.clock.now() };
    return tx.outboxEvent.create({ data: { accountId: account.id, id: crm.clock.id(), name: 'contact.updated', ...about } });
  };
  const floor = async () => (await rowsOf<{ seq: string }>('select seq::text from feed_floor'))[0]!.seq;
  const relay = new Relay(database, crm.app.channel, crm.app.log);
  relay.start();
  const count = 100;
  const slow = await database.prisma.$transaction(async (tx) => {
    const { seq } = await write(tx, 0);
    for (let n = 1; n <= count; n++) {
      await write(database.prisma, n);
      relay.wake();
      if (n % 20 === 0) await eventually(async () => (await placesOf(account)).filter(Boolean).length === n);
    }
    expect(BigInt(await floor())).toBeLessThan(seq);
    return seq;
  });
  const expected = [count + 1, ...Array.from({ length: count }, (_, n) => n + 1)];
  await eventually(async () => {
    relay.wake();
    return (await placesOf(account)).every(Boolean);
  });
  expect(await placesOf(account)).toEqual(expected);
  await eventually(async () => {
    relay.wake();
    return BigInt(await floor()) > slow;
  });
  await relay.stop();
});
