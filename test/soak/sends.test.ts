import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import type { Client } from '../support/client.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import { messagesLeft } from '../support/outbox.js';
import type { ServerProcess } from '../support/process.js';
import { freePort, Simulators } from '../support/simulators.js';

/** SENDS: how many messages of the vendor line meet a kill at each of the five points, ten at a time. */
const sends = Number(process.env.SENDS ?? 200);
const atOnce = 10;
const rounds = Math.ceil(sends / atOnce);
const patience = 60_000;
/** Seconds: longer than it takes to begin all that one kill is to meet. */
const lease = '12';

jest.setTimeout(rounds * 60_000 + patience);

/** Where a message is when the process that sends it is killed. */
const points = {
  unclaimed: 'before it is kept',
  held: 'kept, before the vendor takes it',
  taken: 'taken by the vendor, who says nothing',
  unsettled: 'taken and confirmed, before that is kept',
  settled: 'settled, before the client is answered',
} as const;
type Point = keyof typeof points;

interface Sent {
  point: Point;
  contact: Loose;
}

/** Held from outside, so that what a vendor confirmed of an unsettled message is not kept meanwhile. */
const settling = 4711;
let [vendors, crm, other]: [Simulators, Alone, { process: ServerProcess; caller: Client }] = [] as never;
let outside: pg.Client;
let people = 0;

async function person(): Promise<Loose> {
  const nth = String(++people).padStart(5, '0');
  return dataOf(await other.caller.post('/contacts', { firstName: `P${nth}`, phone: `+141577${nth}` }));
}
const asked = (at: Client, { point, contact: { id } }: Sent) =>
  at.post('/messages/sms/send', { contactId: id, body: point, transport: 'vendor_line', idempotencyKey: `${point} ${id}` });

/** How many messages each number has at the vendor. */
function atVendor(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { to, line } of messagesLeft(vendors)) {
    if (line) counts.set(to, (counts.get(to) ?? 0) + 1);
  }
  return counts;
}
const areTaken = (all: Sent[]) => {
  const counts = atVendor();
  return all.every(({ contact }) => counts.get(contact.phone) === 1);
};

/** Ten messages that are asked for; nobody waits for an answer. */
async function begun(point: Point): Promise<Sent[]> {
  const all = await Promise.all(Array.from({ length: atOnce }, async () => ({ point, contact: await person() })));
  for (const one of all) asked(crm.caller, one).catch(() => {});
  return all;
}

const waiting = async (): Promise<number[]> =>
  (await outside.query("select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rows.map(
    ({ pid }) => pid,
  );

async function beginAtVendor(point: 'held' | 'taken'): Promise<Sent[]> {
  const kind = point === 'held' ? 'hold' : 'hang';
  for (let n = 0; n < atOnce; n++) await vendors.tell('line', 'next', { kind });
  const all = await begun(point);
  await vendors.met('line');
  if (point === 'taken') await eventually(() => areTaken(all), patience);
  return all;
}

/** How the kept messages of each point stand, all of a point alike. */
async function stands(all: Sent[]): Promise<Record<string, string>> {
  const text = `select body, min(status) || case when count(distinct status) > 1 or count(*) <> $2 then '?' else '' end as status
    from messages where contact_id = any($1) group by 1`;
  const { rows } = await outside.query(text, [all.map(({ contact }) => contact.id), atOnce]);
  return Object.fromEntries(rows.map(({ body, status }) => [body, status]));
}

/** Kills the process with ten messages at each point. What its last statements wait for is given to them, or they end with it. */
async function killAmid(areStatementsLost: boolean): Promise<Sent[]> {
  const settled = await begun('settled');
  const isSettled = "select 1 from messages where status = 'sent' and contact_id = any($1)";
  const ids = settled.map(({ contact }) => contact.id);
  await eventually(async () => (await outside.query(isSettled, [ids])).rowCount === atOnce, patience);
  const [held, taken] = [await beginAtVendor('held'), await beginAtVendor('taken')];
  await outside.query('begin');
  await outside.query('select pg_advisory_xact_lock($1)', [settling]);
  const unsettled = await begun('unsettled');
  await eventually(async () => areTaken(unsettled) && (await waiting()).length > 0, patience);
  const before = (await waiting()).length;
  await outside.query('lock table conversations in exclusive mode');
  const unclaimed = await begun('unclaimed');
  await eventually(async () => (await waiting()).length > before, patience);
  const all = [settled, held, taken, unsettled, unclaimed].flat();
  expect(await stands(all)).toEqual({ settled: 'sent', held: 'sending', taken: 'sending', unsettled: 'sending' });
  await crm.process.kill();
  if (areStatementsLost) await outside.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [await waiting()]);
  await outside.query('rollback');
  return all;
}

/** Each is sent by the other process once its client repeats it, and its key answers the same from then on. */
async function expectOneEach(all: Sent[]): Promise<void> {
  const keptOf = (one: Sent) =>
    eventually(async () => {
      const reply = await asked(other.caller, one);
      expect([201, 409]).toContain(reply.status);
      return reply.status === 201 && dataOf(reply).status === 'sent' && dataOf(reply);
    }, patience);
  const kept = await Promise.all(all.map(keptOf));
  expect(await Promise.all(all.map(async (one) => dataOf(await asked(other.caller, one))))).toEqual(kept);
  const ids = all.map(({ contact }) => contact.id);
  const { rows } = await outside.query('select contact_id, count(*)::int n from messages where contact_id = any($1) group by 1', [ids]);
  expect(rows.filter(({ n }) => n !== 1)).toEqual([]);
  expect(rows).toHaveLength(all.length);
  const counts = atVendor();
  expect(all.filter(({ contact }) => counts.get(contact.phone) !== 1).map(({ point }) => points[point])).toEqual([]);
}

onPostgres(describe)('the vendor of lines, while one of two processes is killed', () => {
  beforeAll(async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    vendors = await Simulators.begin(publicUrl);
    crm = await Alone.begin({ ...vendors.settings, PORT: String(port), PUBLIC_URL: publicUrl, LEASE_SECONDS: lease, DATABASE_POOL: '30' });
    other = await crm.beside({ PORT: '0' });
    const userId = dataOf(await crm.caller.get('/users')).data[0].id;
    dataOf(await crm.caller.put('/settings/vendor-line', { apiKey: 'line_acme' }));
    dataOf(await crm.caller.put('/settings/vendor-line/lines/acme-1', { userId }));
    outside = new pg.Client(crm.databaseUrl);
    await outside.connect();
    await outside.query(`create function test_settling() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${settling}); return new; end $$;
      create trigger test_settling before update on messages for each row
      when (new.status = 'sent' and new.body = 'unsettled') execute function test_settling()`);
  });
  afterAll(async () => {
    await outside?.end();
    await other?.process.kill();
    await crm?.end();
    await vendors?.end();
  });

  it(`sends one message of each key, of ${sends} that meet a kill at each of five points`, async () => {
    for (let round = 0; round < rounds; round++) {
      await expectOneEach(await killAmid(round % 2 === 0));
      if (round < rounds - 1) await crm.start();
    }
    expect([...atVendor().values()].filter((n) => n !== 1)).toEqual([]);
    expect(atVendor().size).toBe(rounds * atOnce * Object.keys(points).length);
  });
});
