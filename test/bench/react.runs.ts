import { setTimeout } from 'node:timers/promises';
import { account, send, statements } from './client.js';
import { started } from './process.js';
import { contactsOf, type Stage } from './react.parts.js';
import { median } from './report.js';

/*
 * Runs of an automation a second, through a condition, a task and a change of the contact, from when they come due to their ends,
 * against a hand-written runner (react.runs.bare.ts) that writes as many rows to tables with the same columns and indexes, over ten
 * connections. It does less: its tables have no foreign keys and no triggers that count, and nobody gives its events their places.
 */

const { REACT_RUNS = '10000' } = process.env;
const all = Number(REACT_RUNS);

const node = (id: string, type: string, config: object, more: object) => ({ id, type, config, ...more });
const act = (type: string, config: object) => ({ type, config });
const nodes = [
  node('asks', 'condition', { conditions: { city: 'Oslo' } }, { branches: [{ when: 'yes', next: 'task' }] }),
  node('task', 'action', act('create_task', { title: 'Call {{contact.firstName}}' }), { next: 'field' }),
  node('field', 'action', act('update_field', { field: 'jobTitle', value: 'Customer' }), {}),
];
const copies = {
  ...{ automation_runs: 'bare_runs', contacts: 'bare_contacts', tasks: 'bare_tasks', activities: 'bare_activities' },
  ...{ automation_step_logs: 'bare_steps', outbox_events: 'bare_events' },
};

/** Enrols contacts, whose runs are due tomorrow; answers how many a second. */
async function enrolled({ database, api }: Stage, count: number): Promise<number> {
  const own = await account(api, 'runner');
  const { data } = await send(`${api.url}/api/v1/automations`, { name: 'A', graph: { startNodeId: 'asks', nodes } }, own.headers);
  await send(`${api.url}/api/v1/automations/${data.id}/publish`, {}, own.headers);
  const ids = await contactsOf(database, own, count);
  // The worker takes none of them before it is to.
  await database.query(`create function tomorrow() returns trigger language plpgsql as
    'begin new.due_at = new.due_at + interval ''1 day''; return new; end'`);
  await database.query('create trigger tomorrow before insert on automation_runs for each row execute function tomorrow()');
  const began = performance.now();
  for (let from = 0; from < ids.length; from += 1000) {
    await send(`${api.url}/api/v1/automations/${data.id}/bulk-enroll`, { contactIds: ids.slice(from, from + 1000) }, own.headers);
  }
  const rate = (count / (performance.now() - began)) * 1000;
  await database.query('drop trigger tomorrow on automation_runs');
  for (const [table, copy] of Object.entries(copies)) {
    await database.query(`create table ${copy} (like ${table} including defaults including indexes)`);
  }
  for (const table of ['automation_runs', 'contacts'] as const) {
    await database.query(`insert into ${copies[table]} select * from ${table} where account_id = $1`, [own.id]);
  }
  await database.query('create index on bare_runs (due_at) where due_at is not null');
  await database.query('analyze');
  return rate;
}

/** Has runs come due; runs a second from the first that ends to the last. */
async function rateOf(database: Stage['database'], table: 'automation_runs' | 'bare_runs', count: number): Promise<number> {
  const since = new Date();
  await database.query(
    `update ${table} set due_at = now() where id in (select id from ${table} where status = 'running' and due_at > now() limit $1)`,
    [count],
  );
  const text = `select count(*)::int as n, min(completed_at) as first, max(completed_at) as last from ${table}
    where completed_at >= $1 and status = 'success'`;
  for (;;) {
    await setTimeout(100);
    const { n, first, last } = (await database.query<{ n: number; first: Date; last: Date }>(text, [since])).rows[0]!;
    if (n >= count) return (count - 1) / ((last.getTime() - first.getTime()) / 1000);
  }
}

export async function runs(stage: Stage, rounds: number): Promise<void> {
  const { database, databaseUrl, worker } = stage;
  const each = Math.floor(all / (rounds + 1));
  const enrolling = await enrolled(stage, each * (rounds + 1));
  const ours = async () => {
    const before = await statements(worker);
    const rate = await rateOf(database, 'automation_runs', each);
    await setTimeout(1000);
    return { rate, sql: ((await statements(worker)) - before) / each };
  };
  const bare = async () => {
    const least = started({
      name: 'the runner',
      port: 0,
      script: 'dist/test/bench/react.runs.bare.js',
      env: { DATABASE_URL: databaseUrl },
    });
    const rate = await rateOf(database, 'bare_runs', each);
    await least.stop();
    return { rate, sql: 0 };
  };
  const sides = { ours, bare };
  const seen = { ours: [] as number[], bare: [] as number[] };
  let sql = 0;
  await ours();
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const one = await sides[side]();
      seen[side].push(one.rate);
      if (side === 'ours') sql = one.sql;
    }
  }
  const ratio = median(seen.ours.map((rate, n) => rate / seen.bare[n]!));
  console.log(
    `runs of an automation a second, three steps: ${median(seen.ours).toFixed(0)}, hand-written ${median(seen.bare).toFixed(0)}, ` +
      `ratio ${ratio.toFixed(2)}; ${sql.toFixed(2)} SQL each besides taking; ${enrolling.toFixed(0)} enrolments a second`,
  );
}
