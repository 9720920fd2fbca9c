import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

/**
 * What runs of three steps cost at least: rows that are taken with SKIP LOCKED, each worked on in a transaction with a statement for each
 * table: the task, the contact, two entries of the log, three steps, six events, the run. Goes on until it is stopped.
 */
const { DATABASE_URL, CONCURRENCY = '16' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

interface Taken {
  account_id: string;
  id: string;
}

const take = `update bare_runs r set leased_until = now() + interval '30 s', attempt = attempt + 1
  where (account_id, id) in (select account_id, id from bare_runs where due_at <= now() and (leased_until is null or leased_until <= now())
    order by due_at limit $1 for update skip locked) returning account_id, id`;
const read = `select r.automation_id, c.id as contact_id, row_to_json(r) as run, row_to_json(c) as contact, c.city from bare_runs r
  join bare_contacts c on c.account_id = r.account_id and c.id = r.contact_id where r.account_id = $1 and r.id = $2 for update of r, c`;
const task = `insert into bare_tasks (account_id, id, title, contact_id, created_at, updated_at) values ($1, $2, $3, $4, now(), now())`;
const contact = `update bare_contacts set job_title = 'Customer', updated_at = now() where account_id = $1 and id = $2`;
const activity = `insert into bare_activities (account_id, id, type, title, contact_id, entity_type, entity_id, action, changes, user_name, created_at)
  values ($1, $2, 'task.created', 'Task created', $4, 'task', $3, 'created', null, 'A', now()),
    ($1, $5, 'contact.updated', 'Contact updated', $4, 'contact', $4, 'updated', '{"jobTitle": {"from": null, "to": "Customer"}}', 'A', now())`;
const steps = `insert into bare_steps (account_id, id, automation_id, run_id, node_id, nth, type, status, input, output, started_at, completed_at, duration_ms, created_at)
  select $1, s.id, $2, $3, s.node, s.nth, s.type, 'completed', s.input, s.output, now(), now(), 0, now()
  from unnest($4::uuid[], $5::text[], $6::int[], $7::text[], $8::jsonb[], $9::jsonb[]) s (id, node, nth, type, input, output)`;
const events = `insert into bare_events (account_id, id, name, names, entity_type, entity_id, data, actor_kind, actor_id, actor_name, causes, created_at)
  select $1, e.id, e.name, '{}', e.type, e.entity, e.data, 'automation', $2, 'A', $3, now()
  from unnest($4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::json[]) e (id, name, type, entity, data)`;
const settle = `update bare_runs set status = 'success', end_reason = 'completed', completed_at = clock_timestamp(), duration_ms = 1, steps = 3,
  current_node_id = null, due_at = null, leased_until = null, updated_at = now() where account_id = $1 and id = $2`;

const seen = {
  holds: true,
  conditions: [{ at: 'config.conditions.city', field: 'city', operator: 'eq', value: 'Oslo', seen: 'Oslo', holds: true }],
};
const nodes = ['asks', 'task', 'field'];
const config = JSON.stringify({ type: 'create_task', config: { title: 'Call {{contact.firstName}}' } });

async function work({ account_id: account, id }: Taken): Promise<void> {
  const client = await pool.connect();
  const run = (name: string, text: string, values: unknown[]) => client.query({ name, text, values });
  try {
    await client.query('begin');
    const [found] = (await run('read', read, [account, id])).rows;
    if (found.city !== 'Oslo') throw new Error('It is about somebody else');
    const { automation_id: automation, contact_id: person } = found;
    const [taskId, ...ids] = Array.from({ length: 12 }, () => randomUUID());
    const title = `Call ${found.contact.first_name}`;
    await run('task', task, [account, taskId, title, person]);
    await run('contact', contact, [account, person]);
    await run('activity', activity, [account, ids[0], taskId, person, ids[1]]);
    const outputs = [
      seen,
      { title, taskId, contactId: person },
      { entity: 'contact', id: person, field: 'jobTitle', newValue: 'Customer' },
    ];
    const logged = outputs.map((output, n) => ({ id: ids[2 + n]!, node: nodes[n]!, output: JSON.stringify(output) }));
    const stepIds = logged.map((step) => step.id);
    const types = ['condition', 'action', 'action'];
    const configs = logged.map(() => config);
    const values = logged.map(({ output }) => output);
    await run('steps', steps, [account, automation, id, stepIds, nodes, [1, 2, 3], types, configs, values]);
    const told = [
      ['task.created', 'task', taskId, { title, contactId: person }],
      ['contact.updated', 'contact', person, found.contact],
      ...logged.map((step) => ['automation_step_log.created', 'automation_step_log', step.id, step]),
      ['automation_run.updated', 'automation_run', id, found.run],
    ] as [string, string, string, object][];
    const causes = JSON.stringify([{ kind: 'automation', id: automation, runId: id }]);
    const each = <T>(of: (event: (typeof told)[number]) => T) => told.map(of);
    const columns = [
      each(([name]) => name),
      each(([, type]) => type),
      each(([, , entity]) => entity),
      each(([, , , data]) => JSON.stringify(data)),
    ];
    await run('events', events, [account, automation, causes, ids.slice(5, 11), ...columns]);
    await run('settle', settle, [account, id]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

const running = new Set<Promise<void>>();
let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});
while (!isOver) {
  const { rows } = await pool.query<Taken>({ name: 'take', text: take, values: [Number(CONCURRENCY) - running.size] });
  for (const row of rows) {
    const working: Promise<void> = work(row).finally(() => running.delete(working));
    running.add(working);
  }
  await (running.size > 0 ? Promise.race(running) : setTimeout(10));
}
await Promise.all(running);
await pool.end();
