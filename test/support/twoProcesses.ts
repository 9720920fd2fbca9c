import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from './alone.js';
import type { Client } from './client.js';
import { dataOf, type Loose } from './index.js';
import { eventually } from './live.js';
import type { ServerProcess } from './process.js';

// To begin and to kill them takes its time; a file that needs more says so.
jest.setTimeout(120_000);

/** Seconds that work is taken for; milliseconds that a test waits for what is to come. */
export const [lease, patience] = [2, 30_000];

/** What works, and is killed or frozen; what the caller asks works on nothing. */
export let worker: Alone;
export let asked: { process: ServerProcess; caller: Client };
export let outside: pg.Client;
let people = 0;

export const get = async (path: string): Promise<Loose> => dataOf(await asked.caller.get(path));
export const person = async (): Promise<Loose> => dataOf(await asked.caller.post('/contacts', { firstName: `Person ${++people}` }));

/** Publishes an automation that begins with the first node. */
export async function published(nodes: Loose[], fields: Loose = {}): Promise<string> {
  const graph = { startNodeId: nodes[0]!.id, nodes };
  const { id } = dataOf(await asked.caller.post('/automations', { name: 'Killed', graph, ...fields }));
  dataOf(await asked.caller.post(`/automations/${id}/publish`));
  return id;
}
export const enroll = async (id: string, contact: Loose) =>
  dataOf(await asked.caller.post(`/automations/${id}/bulk-enroll`, { contactIds: [contact.id] }));

/** Waits for the end of the only run of an automation, and expects every effect and every step once. */
export async function expectOnce(id: string, contact: Loose, steps: string[]): Promise<Loose> {
  const [run, ...more] = await eventually(async () => {
    const { data } = await get(`/automations/${id}/runs`);
    return data.length > 0 && !['running', 'waiting'].includes(data[0].status) && (data as Loose[]);
  }, patience).then((runs) => runs as Loose[]);
  expect([run!.status, run!.error, more]).toEqual(['success', null, []]);
  const logged = (await get(`/automations/${id}/step-logs?per_page=200`)).data.map(({ nodeId, status }: Loose) => `${nodeId} ${status}`);
  expect(logged.sort()).toEqual(steps.sort());
  expect((await get(`/tasks?contact_id=${contact.id}`)).meta.total).toBe(steps.filter((step) => step.startsWith('task')).length);
  return run!;
}

/**
 * How many statements wait for a lock in this database: other tests' databases stand in the same server. Those who look for deliveries
 * wait for each other now and then.
 */
async function waitingStatements(): Promise<number> {
  const { rows } = await outside.query(`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query not like '%take_deliveries%'`);
  return rows.length;
}

/** Holds something from outside while work is done, from when a statement of the server waits for it; what was changed so is kept then. */
export async function whileHeld(holding: string, begin: () => Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  const holder = new pg.Client(worker.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(holding);
    await begin();
    await eventually(async () => (await waitingStatements()) > 0, patience);
    await work();
  } finally {
    await holder.query('commit');
    await holder.end();
  }
}

/** Begins something that may have to wait, and goes on once it does or is over. */
export async function begun<T>(work: Promise<T>, waiting: number): Promise<{ done: Promise<T> }> {
  await Promise.race([work, eventually(async () => (await waitingStatements()) >= waiting, patience)]);
  return { done: work };
}

/** For the tests of one block: a process that works, one that answers and works on nothing, and a connection of our own. */
export function processes(): void {
  beforeAll(async () => {
    worker = await Alone.begin({ WEBHOOK_ALLOW_PRIVATE: '1', LEASE_SECONDS: String(lease) });
    asked = await worker.beside({ ROLE: 'api' });
    outside = new pg.Client(worker.databaseUrl);
    await outside.connect();
  });
  afterAll(async () => {
    await outside.end();
    await asked.process.kill();
    await worker.end();
  });
}
