import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Client, dataOf, onPostgres, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';

let direct: TestServer;
let proxy: TcpProxy;
let api: TestServer;
let admin: pg.Client;
let key: Client;
let secret: string;

/** A socket that is told of the contacts of its account, and of no others. */
async function listening(after?: string) {
  const socket = await Socket.open(api.wire.port, { init: bearer({ secret }) });
  const feed = socket.run(
    'subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName notes { nodes { body } } } } }',
    { after },
  );
  await feed.nth(1);
  const heard = () => feed.results.slice(1).map(({ data, errors }) => errors?.[0].extensions.code ?? data.contactEvents.contact.lastName);
  return { socket, feed, heard };
}

/** Waits until a statement that waited for a lock was given up, and the next try waits for it: a line of the log may be of a test before. */
async function triedAgain(): Promise<void> {
  const waiting = "select query_start::text as since from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const since = async () => ((await direct.app.database.execute(waiting)).rows as { since: string }[]).map((row) => row.since);
  const first = await eventually(async () => (await since())[0]);
  await eventually(async () => {
    const now = await since();
    return now.length > 0 && !now.includes(first!);
  });
}

const isLate = () => api.logs.some((line) => line.includes('an event could not be read'));

onPostgres(describe)('events, while PostgreSQL fails,', () => {
  beforeAll(async () => {
    direct = await server();
    const url = direct.place.databaseUrl!;
    proxy = await TcpProxy.before(url);
    api = await server({ beside: direct, config: { databaseUrl: proxy.through(url) } });
    admin = new pg.Client(url);
    await admin.connect();
    ({ secret } = await (await direct.seed.account()).key());
    key = api.anybody().with({ authorization: `Bearer ${secret}` });
  });
  afterAll(async () => {
    await admin.end();
    await api.close();
    await proxy.close();
    await direct.close();
  });

  it('come whole and in their order where the database goes away in the middle of a batch', async () => {
    const names = Array.from({ length: 150 }, (_, i) => `Batch ${i}`);
    const { socket: first, feed } = await listening();
    const [{ id: after }] = feed.events;
    first.cut();
    for (const lastName of names) dataOf(await key.post('/contacts', { lastName }));
    const { socket, heard } = await listening(after);
    await eventually(() => heard().length > 0);
    proxy.refuse();
    await eventually(isLate);
    expect(heard().length).toBeLessThan(names.length);
    proxy.heal();
    await eventually(() => heard().length >= names.length);
    expect(heard()).toEqual(names);
    socket.cut();
  });

  it('wait where somebody holds their records, and come as they are where that lasts too long', async () => {
    const { socket, heard } = await listening();
    const hold = () => admin.query('begin; lock table notes in access exclusive mode');
    await hold();
    api.logs.length = 0;
    dataOf(await key.post('/contacts', { lastName: 'Late' }));
    await triedAgain();
    await eventually(isLate);
    expect(heard()).toEqual([]);
    await admin.query('rollback');
    await eventually(() => heard().length === 1);
    await hold();
    const begun = Date.now();
    dataOf(await key.post('/contacts', { lastName: 'Too late' }));
    await eventually(() => heard().length === 2, 60_000);
    expect(Date.now() - begun).toBeGreaterThan(15_000);
    await admin.query('rollback');
    dataOf(await key.post('/contacts', { lastName: 'In time' }));
    await eventually(() => heard().length === 3);
    expect(heard()).toEqual(['Late', 'unavailable', 'In time']);
    socket.cut();
  });
});
