import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { freshPlace, type Place } from '../support/database.js';
import { Client, dataOf, isPostgres, type Loose, password } from '../support/index.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';
import { type Acknowledged, Journal, tally, Writer } from '../support/writers.js';

/*
 * KILLS and KILL_ACKS: how often the server is killed, and how many writes are acknowledged in all (5 of 1000; on the
 * embedded database, which takes longer to come back, 3 of 300).
 */
const { KILLS = isPostgres ? '5' : '3', KILL_ACKS = isPostgres ? '1000' : '300' } = process.env;
const [kills, acks] = [Number(KILLS), Number(KILL_ACKS)];
const writers = 8;

jest.setTimeout(60_000 + kills * 15_000 + acks * 60);

let place: Place;
let dataDir: string;
let server: ServerProcess;
let up: Promise<unknown> = Promise.resolve();
let caller: Client;
let pipeline: Loose;
const wire = { port: 0, agent: new Agent({ keepAlive: true }), logs: [] };
const journal = new Journal();

async function start(): Promise<void> {
  server = new ServerProcess({
    ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
    ...{ DATA_DIR: dataDir, SECRET_KEY: 'a secret key for tests only, never for anything else' },
    ...{ SEED_DEMO: '0', RATE_LIMIT_ENABLED: '0', DEFAULT_PLAN: 'enterprise', LOG_LEVEL: 'error' },
  });
  wire.port = Number(new URL(await server.address()).port);
}

/** Every one of these writes is there, with what was written last, or with what was being written. */
async function readBack(entries: Acknowledged[]): Promise<void> {
  const states = new Map<string, Loose>();
  for (const { path, holds } of entries) states.set(path, { ...states.get(path), ...holds });
  for (const [path, holds] of states) {
    const record = dataOf(await caller.get(path));
    const written = { ...holds, ...journal.pending.get(path) };
    expect(record).toMatchObject(matches(record, written) ? written : holds);
  }
}

const matches = (record: Loose, holds: Loose) =>
  isDeepStrictEqual(Object.fromEntries(Object.keys(holds).map((key) => [key, record[key]])), holds);

/** Kills the server in the middle of what it does, starts it again, and reads back what it acknowledged before. */
async function killOnce(since: number): Promise<number> {
  let known = 0;
  up = (async () => {
    await server.kill();
    known = journal.entries.length;
    await start();
    await readBack(journal.entries.slice(since));
  })();
  await up;
  return known;
}

/** Writes, and kills at random moments. */
async function live(): Promise<void> {
  const options = { client: caller, journal, up: () => up, pipeline };
  const work = Array.from({ length: writers }, (_, i) => new Writer(`w${i}`, i % 2 === 0, options).until(acks));
  const failed = Promise.all(work);
  let read = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await Promise.race([failed, journal.reached(Math.floor((kill * acks) / (kills + 1)))]);
    await setTimeout(Math.random() * 50);
    read = await killOnce(read);
  }
  await failed;
}

/** All of the account's feed, page by page. */
async function feed(): Promise<Loose[]> {
  const events: Loose[] = [];
  for (;;) {
    const { data } = dataOf(await caller.get(`/events?per_page=200&after=${events.at(-1)?.id ?? 0}`));
    if (data.length === 0) return events;
    events.push(...data);
  }
}

/** What was told more or less often than it was acknowledged; and what was told of nothing that anybody knows of. */
function compared(told: Map<string, number>, acknowledged: Map<string, number>) {
  const wrong = [...acknowledged].filter(([name, count]) => told.get(name) !== count).map(([name, count]) => [name, count, told.get(name)]);
  return { wrong, unknown: [...told.keys()].filter((name) => !acknowledged.has(name)) };
}

/** The tables with records of which something is told, with the noun of their facts, and whether their making is an event. */
const tables: [string, string, boolean][] = [
  ['contacts', 'contact', true],
  ['tags', 'tag', false],
  ['deals', 'deal', true],
  ['notes', 'note', true],
  ['tasks', 'task', true],
];

const halves = ([table, noun, isEvent]: (typeof tables)[number]) => {
  const matching = (from: string, name: string) => `select 1 from ${from} x where x.entity_id = r.id and x.${name} = '${noun}.created'`;
  const told = (from: string, name: string) => `select entity_id from ${from} where ${name} = '${noun}.created'`;
  return `
    select '${table}' as part, count(*)::int as n from ${table} r
    where not exists (${matching('activities', 'type')}) ${isEvent ? `or not exists (${matching('outbox_events', 'name')})` : ''}
    union all
    select 'told of no ${noun}', count(*)::int from (${told('activities', 'type')} union all ${told('outbox_events', 'name')}) t
    where not exists (select 1 from ${table} r where r.id = t.entity_id)`;
};

/** An event and no entry of the log, or the other way round, of the facts that are events. */
const loose = `
  select 'facts' as part, count(*)::int as n
  from (select type as name, entity_id, count(*) from activities
        where type in (select name from outbox_events) group by 1, 2) a
  full join (select name, entity_id, count(*) from outbox_events group by 1, 2) o using (name, entity_id, count)
  where a.name is null or o.name is null`;

async function onceStopped<T>(work: (database: Database) => Promise<T>): Promise<T> {
  await server.kill();
  const database = await openDatabase({ url: place.databaseUrl, dataDir });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

describe(`a server that is killed ${kills} times while ${writers} writers get ${acks} writes acknowledged`, () => {
  beforeAll(async () => {
    place = await freshPlace();
    dataDir = mkdtempSync(join(tmpdir(), 'crm-kills-'));
    await start();
    const owner = new Client(wire);
    dataOf(await owner.post('/auth/register', { email: 'kill@example.com', password, accountName: 'Kill' }));
    const { key } = dataOf(await owner.post('/api-keys', { name: 'writer', permission: 'admin' }));
    caller = owner.with({ authorization: `Bearer ${key}` });
    const stages = [{ name: 'New' }, { name: 'Talking' }, { name: 'Won', isWon: true }, { name: 'Lost', isLost: true }];
    pipeline = dataOf(await caller.post('/pipelines', { name: 'Sales', stages }));
  });
  afterAll(async () => {
    // Writers that still go on because another one failed end here.
    up = Promise.reject(new Error('The test is over'));
    up.catch(() => {});
    wire.agent.destroy();
    await server.kill();
    await place.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('has every acknowledged write after each start', live);

  it('has all of them in the end, as they were written last', async () => {
    expect(journal.entries.length).toBeGreaterThanOrEqual(acks);
    await readBack(journal.entries);
  });

  it('tells each of them once in the feed, in a row without gaps, and nothing twice', async () => {
    const acknowledged = journal.facts(true);
    const known = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
    await eventually(async () => (await feed()).length >= known);
    const events = await feed();
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, n) => n + 1));
    const { wrong, unknown } = compared(tally(events.map(({ name, entityId }) => `${name} ${entityId}`)), acknowledged);
    expect(wrong).toEqual([]);
    // Committed, and the reply lost with the process: at most those whose writers gave them up.
    expect(unknown.length).toBeLessThanOrEqual(journal.uncertain);
  });

  it('has done nothing by halves: record, log entry and event are all there or none of them', async () => {
    await onceStopped(async (database) => {
      const { rows } = await database.execute([...tables.map(halves), loose].join(' union all '));
      expect(rows).toHaveLength(2 * tables.length + 1);
      expect((rows as { n: number }[]).filter(({ n }) => n > 0)).toEqual([]);
      const log = await database.execute('select type, entity_id as id from activities');
      const entries = tally((log.rows as { type: string; id: string }[]).map(({ type, id }) => `${type} ${id}`));
      const { wrong, unknown } = compared(entries, journal.facts(false));
      expect(wrong).toEqual([]);
      const ours = unknown.filter((name) => tables.some(([, noun]) => name.startsWith(`${noun}.`)));
      expect(ours.length).toBeLessThanOrEqual(journal.uncertain);
    });
  });
});
