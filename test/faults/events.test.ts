import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, day, type KeyClient, type Loose, onPostgres, server, type TestServer } from '../support/index.js';
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

const query = 'subscription ($after: ID) { events(after: $after) { id entityId } }';
const open = (init: object = bearer(key), headers?: Record<string, string>) => Socket.open(crm.wire.port, { init, headers });

const subscribers = async () => (await crm.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;

describe('a subscriber whose line is cut', () => {
  it('has every event once and in order when he goes on after the last one he saw', async () => {
    const seen: Loose[] = [];
    // Making the account and its key told something too.
    const start = await eventually(async () => (await account.owner.get('/events')).body.data.data.at(-1)?.id as string | undefined);
    const writers = Array.from({ length: 8 }, async (_, w) => {
      const made: string[] = [];
      for (let n = 0; n < 50; n++) made.push((await account.contact({ firstName: `W${w}`, lastName: `N${n}` })).id);
      return made;
    });
    let cuts = 0;
    while (seen.length < 400) {
      const socket = await open();
      const feed = socket.run(query, { after: seen.at(-1)?.id ?? start });
      const enough = Math.min(400 - seen.length, 7 + 31 * (cuts % 3));
      await feed.nth(enough, 20_000);
      socket.cut();
      // What came after it in the same moment was not looked at before the line was cut.
      seen.push(...feed.events.slice(0, enough));
      cuts++;
    }
    const made = (await Promise.all(writers)).flat();
    expect(cuts).toBeGreaterThan(8);
    expect(seen.map((event) => Number(event.id))).toEqual(Array.from({ length: 400 }, (_, n) => Number(start) + n + 1));
    expect(seen.map((event) => event.entityId).sort()).toEqual([...made].sort());
    for (let w = 0; w < 8; w++) {
      const order = made.slice(w * 50, w * 50 + 50).map((id) => seen.findIndex((event) => event.entityId === id));
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  }, 120_000);

  it('who does not read is cut off, and the others never notice', async () => {
    const [slow, quick] = [await open(), await open()];
    const big = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`key${n}`, 'x'.repeat(1000)]));
    const { id } = await account.contact({ firstName: 'Big', customFields: big });
    const wide = 'subscription { contactEvents { id contact { customFields } } }';
    const before = await subscribers();
    slow.run(wide);
    const feed = quick.run(wide);
    await eventually(async () => (await subscribers()) === before + 2);
    slow.ws.pause();
    let n = 0;
    while ((await subscribers()) === before + 2) {
      await account.owner.patch(`/contacts/${id}`, { jobTitle: `Job ${n++}` });
      await feed.nth(n);
    }
    slow.ws.resume();
    expect((await slow.end()).code).toBe(4413);
    quick.cut();
  });
});

/** The socket ends within two seconds and brings nothing that happened after that. */
async function ends(socket: Socket, code: number, work: () => Promise<unknown>): Promise<void> {
  const feed = socket.run(query, { after: '0' });
  await feed.nth(1);
  await work();
  const begun = Date.now();
  expect((await socket.end()).code).toBe(code);
  expect(Date.now() - begun).toBeLessThan(2000);
  const before = feed.results.length;
  await account.contact();
  expect(feed.results.length).toBe(before);
}

describe('credentials that end', () => {
  it('a revoked key', async () => {
    const doomed = await account.key();
    const stream = await Stream.open(doomed, query);
    await ends(await open(bearer(doomed)), 4401, () => account.owner.del(`/api-keys/${doomed.record.id}`));
    expect((await stream.refused())[0].extensions.code).toBe('unauthenticated');
    await eventually(() => stream.ended);
  });

  it('sooner than all are looked at anyway', async () => {
    const waits: number[] = [];
    for (let n = 0; n < 5; n++) {
      const doomed = await account.key();
      const socket = await open(bearer(doomed));
      await account.owner.del(`/api-keys/${doomed.record.id}`);
      const begun = performance.now();
      expect((await socket.end(3000)).code).toBe(4401);
      waits.push(performance.now() - begun);
    }
    expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(400);
  });

  it('a key whose scopes change', async () => {
    const narrowed = await account.key();
    await ends(await open(bearer(narrowed)), 4403, () => account.owner.patch(`/api-keys/${narrowed.record.id}`, { scopes: ['tags'] }));
  });

  it('a key that expires', async () => {
    const expiresAt = new Date(Date.now() + 3 * day).toISOString();
    const passing = await account.key({ expiresAt });
    try {
      await ends(await open(bearer(passing)), 4401, async () => crm.clock.advance(4 * day));
    } finally {
      crm.clock.reset();
    }
  });

  it('a session that logs out', async () => {
    const member = await account.member();
    const headers = { cookie: `service_session=${member.cookie}`, origin: `http://127.0.0.1:${crm.wire.port}` };
    await ends(await open({}, headers), 4401, () => member.post('/auth/logout'));
  });

  it('a person who is suspended, and one whose role changes', async () => {
    const { prisma } = crm.app.database;
    for (const [data, code] of [
      [{ status: 'suspended' }, 4401],
      [{ role: 'admin' }, 4403],
    ] as const) {
      const member = await account.member();
      const headers = { cookie: `service_session=${member.cookie}`, origin: `http://127.0.0.1:${crm.wire.port}` };
      const where = { key: { accountId: account.id, userId: member.userId } };
      await ends(await open({}, headers), code, () => prisma.membership.update({ where, data }));
    }
  });

  it.each(['key', 'session'])('an account that is suspended, which is told as such: a %s', async (kind) => {
    const closing = await crm.seed.account();
    await closing.contact();
    const headers = { cookie: `service_session=${closing.owner.cookie}`, origin: `http://127.0.0.1:${crm.wire.port}` };
    const socket = kind === 'key' ? await open(bearer(await closing.key())) : await open({}, headers);
    const data = { suspendedAt: crm.clock.now() };
    await ends(socket, 4403, () => crm.app.database.prisma.account.update({ where: { id: closing.id }, data }));
    expect(socket.closed?.reason).toBe('The account is suspended');
  });
});

describe('a server that stops', () => {
  it('closes sockets with 1001, ends streams so that clients come back, and does not hang', async () => {
    const other = await server();
    const place = await other.seed.account();
    const itsKey = await place.key();
    const socket = await Socket.open(other.wire.port, { init: bearer(itsKey) });
    socket.run(query, { after: '0' });
    const stream = await Stream.open(itsKey, query);
    const begun = Date.now();
    await other.close();
    expect(Date.now() - begun).toBeLessThan(5000);
    expect((await socket.end()).code).toBe(1001);
    await eventually(() => stream.ended);
    expect(stream.complete).toBe(false);
  });
});

onPostgres(it)('without Redis, what one process writes another hears soon', async () => {
  const writes = await server({ config: { role: 'api', redisUrl: undefined } });
  const hears = await server({ beside: writes, config: { role: 'api', redisUrl: undefined } });
  const works = await server({ beside: writes, config: { role: 'worker', redisUrl: undefined } });
  try {
    const place = await writes.seed.account();
    const socket = await Socket.open(hears.wire.port, { init: bearer(await place.key()) });
    const feed = socket.run(query, { after: '0' });
    for (let n = 1; n <= 5; n++) {
      await place.contact();
      await feed.nth(n, 3000);
    }
    // The first is of the key itself, and for sessions.
    expect(feed.ids).toEqual(['2', '3', '4', '5', '6']);
    expect((await works.anybody().get('/contacts')).status).toBe(404);
  } finally {
    for (const one of [works, hears, writes]) await one.close();
  }
});
