import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Database } from '../../src/kernel/database/index.js';
import { type Client, dataOf, type Loose } from './index.js';
import { eventually } from './live.js';
import { type Acknowledged, type Journal, tally } from './writers.js';

/** What must hold after any fault of what writers were told: nothing is lost, told twice, or done by halves. */

const matches = (record: Loose, holds: Loose) =>
  isDeepStrictEqual(Object.fromEntries(Object.keys(holds).map((key) => [key, record[key]])), holds);

/** Every one of these writes is there, with what was written last, or with what was being written. */
export async function expectRead(caller: Client, { pending }: Journal, entries: Acknowledged[]): Promise<void> {
  const states = new Map<string, Loose>();
  for (const { path, holds } of entries) states.set(path, { ...states.get(path), ...holds });
  for (const [path, holds] of states) {
    const record = dataOf(await caller.get(path));
    const written = { ...holds, ...pending.get(path) };
    expect(record).toMatchObject(matches(record, written) ? written : holds);
  }
}

/** All of the account's feed, page by page. */
async function feed(caller: Client): Promise<Loose[]> {
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

/** The feed has every acknowledged change once, without gaps, and besides at most what nobody knows the outcome of. */
export async function expectTold(caller: Client, journal: Journal): Promise<void> {
  const acknowledged = journal.facts();
  const known = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
  await eventually(async () => (await feed(caller)).length >= known);
  const events = await feed(caller);
  // What made the caller was told of before.
  const first = Number(events[0]!.id);
  expect(first).toBeLessThan(5);
  expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, n) => first + n));
  const { wrong, unknown } = compared(tally(events.map(({ name, entityId }) => `${name} ${entityId}`)), acknowledged);
  expect(wrong).toEqual([]);
  // Committed, and the reply lost: at most those whose writers gave them up.
  expect(unknown.filter(isOurs).length).toBeLessThanOrEqual(journal.uncertain);
}

/** The tables of the records that the writers write, with the noun of their facts. */
const tables: [string, string][] = [
  ['contacts', 'contact'],
  ['tags', 'tag'],
  ['deals', 'deal'],
  ['notes', 'note'],
  ['tasks', 'task'],
];

/** Whether a fact is about what the writers write. */
const isOurs = (fact: string) => tables.some(([, noun]) => fact.startsWith(`${noun}.`));

const halves = ([table, noun]: (typeof tables)[number]) => {
  const matching = (from: string, name: string) => `select 1 from ${from} x where x.entity_id = r.id and x.${name} = '${noun}.created'`;
  const told = (from: string, name: string) => `select entity_id from ${from} where ${name} = '${noun}.created'`;
  return `
    select '${table}' as part, count(*)::int as n from ${table} r
    where not exists (${matching('activities', 'type')}) or not exists (${matching('outbox_events', 'name')})
    union all
    select 'told of no ${noun}', count(*)::int from (${told('activities', 'type')} union all ${told('outbox_events', 'name')}) t
    where not exists (select 1 from ${table} r where r.id = t.entity_id)`;
};

/** A change with events and no entry of the log, or the other way round. */
const loose = `
  select 'facts' as part, count(*)::int as n
  from (select type as name, entity_id, count(*) from activities where entity_id is not null group by 1, 2) a
  full join (select coalesce(names[cardinality(names)], name) as name, entity_id, count(*) from outbox_events
             where id = change_id group by 1, 2) o using (name, entity_id, count)
  where a.name is null or o.name is null`;

/** Record, log entry and event are all there or none of them; the log has what was acknowledged. */
export async function expectWhole(database: Database, journal: Journal): Promise<void> {
  const { rows } = await database.execute([...tables.map(halves), loose].join(' union all '));
  expect(rows).toHaveLength(2 * tables.length + 1);
  expect((rows as { n: number }[]).filter(({ n }) => n > 0)).toEqual([]);
  const log = await database.execute('select type, entity_id as id from activities');
  const entries = tally((log.rows as { type: string; id: string }[]).map(({ type, id }) => `${type} ${id}`));
  const { wrong, unknown } = compared(entries, journal.facts());
  expect(wrong).toEqual([]);
  expect(unknown.filter(isOurs).length).toBeLessThanOrEqual(journal.uncertain);
}
