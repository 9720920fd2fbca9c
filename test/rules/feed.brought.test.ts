import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountFeed } from '../../src/graphql/subscriptions.feed.js';
import { TurnQueue } from '../../src/kernel/base/turnQueue.js';
import { type FeedEvent, readFeed, type StoredEvent, shown } from '../../src/kernel/events/feedStore.js';
import { Relay } from '../../src/workers/relay.js';
import { type Account, onPostgres, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const eventsOf = ({ id }: Account) => readFeed(crm.app, id, { after: 0n, upTo: 2n ** 62n, names: null, limit: 200 });

/** All events of the account, once they have their places. */
const settled = async (account: Account, count: number): Promise<FeedEvent[]> =>
  (await eventually(async () => {
    const events = await eventsOf(account);
    return events.length >= count ? events : undefined;
  }))!;

/** So many contacts in one change. */
const together = (count: number) =>
  `mutation { ${Array.from({ length: count }, (_, n) => `a${n}: createContact(input: { firstName: "A" }) { id }`).join(' ')} }`;

describe('events that come along with their places', () => {
  it('are those that are read, and come only where they are few', async () => {
    const account = await crm.seed.account();
    const given: StoredEvent[] = [];
    const leave = crm.app.followed.follow(account.id, { give: (events) => given.push(...events) });
    const { id } = await account.contact({ firstName: 'Zoë', email: 'zoe@example.com' });
    await settled(account, 1);
    await account.owner.patch(`/contacts/${id}`, { lastName: 'Lovelace' });
    await settled(account, 2);
    await account.owner.gql(together(3));
    await settled(account, 5);
    await account.owner.gql(together(11));
    await settled(account, 16);
    await account.owner.del(`/contacts/${id}`);
    const events = await settled(account, 17);
    leave();
    await account.contact();
    await settled(account, 18);
    // A step that somebody else woke brings none.
    expect(given.length).toBeGreaterThan(1);
    const few = new Set([...events.slice(0, 5), ...events.slice(16)].map((event) => event.id));
    for (const event of given) {
      expect(few.has(event.id)).toBe(true);
      expect(shown(crm.app, event)).toEqual(events.find((one) => one.id === event.id));
    }
  });

  it('come to nobody else, whatever else got its place with them', async () => {
    const [one, other] = await Promise.all([crm.seed.account(), crm.seed.account()]);
    const given: FeedEvent[] = [];
    const leave = crm.app.followed.follow(one.id, { give: (events) => given.push(...events.map((event) => shown(crm.app, event))) });
    for (let n = 0; n < 5; n++) await Promise.all([one.contact(), other.contact()]);
    const events = await settled(one, 5);
    leave();
    for (const event of given) expect(event).toEqual(events.find(({ eventId }) => eventId === event.eventId));
  });
});

describe('a feed that is given events', () => {
  const stored = ({ createdAt, ...event }: FeedEvent): StoredEvent => ({ ...event, createdAt: createdAt.toISOString() });

  // '' tells that there may be more, and not how far.
  it.each(['3', ''])('hands them out only where they are what follows, and looks for more behind them, woken with "%s"', async (head) => {
    const account = await crm.seed.account();
    await account.owner.gql(together(3));
    const events = await settled(account, 3);
    const [first, , third] = events.map(stored) as [StoredEvent, StoredEvent, StoredEvent];
    for (const given of [[first], [third], [], [first, third].slice(1)]) {
      const feed = new AccountFeed(crm.app, new TurnQueue(1), { account: account.id, head: 0n });
      const heard: FeedEvent[] = [];
      feed.watch((some) => heard.push(...some));
      feed.give(given);
      feed.wake(head);
      await eventually(() => heard.length >= 3);
      feed.give([first]);
      feed.wake(head);
      await account.owner.get('/contacts');
      expect(heard).toEqual(events);
      feed.close();
    }
  });
});

onPostgres(it)('subscribers hear each event once and in order, whoever gives them their places', async () => {
  const account = await crm.seed.account();
  const key = await account.key();
  const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
  const feed = socket.run('subscription { events(after: "0") { id eventId name entityId } }');
  await socket.run('{ __typename }').nth(1);
  const relay = new Relay(crm.app.database, crm.app.channel, crm.app.log);
  relay.start();
  const contacts = await Promise.all(Array.from({ length: 6 }, () => account.contact()));
  const busy = contacts.map(async ({ id }, k) => {
    for (let n = 0; n < 8; n++) {
      await account.owner.patch(`/contacts/${id}`, { jobTitle: `Job ${n}` });
      if (k % 2) relay.wake();
    }
  });
  await Promise.all(busy);
  await feed.nth(54);
  await relay.stop();
  // Of its own making a key is not told.
  const events = (await settled(account, 55)).filter(({ entityType }) => entityType === 'contact');
  expect(feed.events).toEqual(events.map(({ id, eventId, name, entityId }) => ({ id, eventId, name, entityId })));
  socket.cut();
});
