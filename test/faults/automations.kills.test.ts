import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { aNode, aTask } from '../support/automations.js';
import type { Client } from '../support/client.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { ServerProcess } from '../support/process.js';
import { Receiver } from '../support/receiver.js';

jest.setTimeout(120_000);

const [lease, patience] = [2, 30_000];

/** What works, and is killed or frozen; what the caller asks works on nothing. */
let worker: Alone;
let asked: { process: ServerProcess; caller: Client };
let outside: pg.Client;
let people = 0;

const get = async (path: string): Promise<Loose> => dataOf(await asked.caller.get(path));
const person = async (): Promise<Loose> => dataOf(await asked.caller.post('/contacts', { firstName: `Person ${++people}` }));

/** Publishes an automation that begins with the first node. */
async function published(nodes: Loose[], fields: Loose = {}): Promise<string> {
  const graph = { startNodeId: nodes[0]!.id, nodes };
  const { id } = dataOf(await asked.caller.post('/automations', { name: 'Killed', graph, ...fields }));
  dataOf(await asked.caller.post(`/automations/${id}/publish`));
  return id;
}
const enroll = async (id: string, contact: Loose) =>
  dataOf(await asked.caller.post(`/automations/${id}/bulk-enroll`, { contactIds: [contact.id] }));

/** Waits for the end of the only run of an automation, and expects every effect and every step once. */
async function expectOnce(id: string, contact: Loose, steps: string[]): Promise<Loose> {
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

const isAwaited = async () => (await outside.query('select 1 from pg_locks where not granted')).rows.length > 0;

/** Holds something from outside while work is done, from when a statement of the server waits for it. */
async function whileHeld(holding: string, begin: () => Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  const holder = new pg.Client(worker.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(holding);
    await begin();
    await eventually(isAwaited, patience);
    await work();
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
}

/** Begins something that may have to wait, and goes on once it does or is over. */
async function begun<T>(work: Promise<T>, waiting: number): Promise<{ done: Promise<T> }> {
  const areWaiting = async () => (await outside.query('select 1 from pg_locks where not granted')).rows.length >= waiting;
  await Promise.race([work, eventually(areWaiting, patience)]);
  return { done: work };
}

function processes(): void {
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

function inTheDatabase(): void {
  it('is killed inside the batch of a reader: each event starts its run, once', async () => {
    const id = await published([aTask('task', 'end'), aNode('end', 'end')], { triggerEvent: 'contact.created' });
    let contact: Loose = {};
    // The reader holds the automations for which it starts runs: here it waits for one, behind the events that it has taken.
    const holding = `select 1 from automations where id = '${id}' for update`;
    await whileHeld(
      holding,
      async () => {
        contact = await person();
      },
      () => worker.process.kill(),
    );
    expect((await get(`/automations/${id}/runs`)).meta.total).toBe(0);
    await worker.start();
    await expectOnce(id, contact, ['task completed', 'end completed']);
    dataOf(await asked.caller.del(`/automations/${id}`));
  });

  it('is killed between an action and its mark: the action is done once', async () => {
    const id = await published([aTask('task1', 'task2'), aTask('task2', 'end'), aNode('end', 'end')]);
    const contact = await person();
    await outside.query(`create function held() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(4242); return new; end'`);
    await outside.query(`create trigger held before update on automation_runs for each row
      when (new.status is distinct from old.status) execute function held()`);
    await whileHeld(
      'select pg_advisory_xact_lock(4242)',
      () => enroll(id, contact),
      () => worker.process.kill(),
    );
    await outside.query('drop trigger held on automation_runs');
    await worker.start();
    await expectOnce(id, contact, ['task1 completed', 'task2 completed', 'end completed']);
  });
}

function onTheWayOut(): void {
  it('is killed between the 200 of a receiver and the settling: it is sent again as the same message, and the run is not', async () => {
    const receiver = await Receiver.open();
    let up: Promise<unknown> = Promise.resolve();
    receiver.answer = (_request, response, nth) => {
      if (nth > 1) return void response.end();
      // Frozen before it can read the answer, and killed after it was given.
      worker.process.signal('SIGSTOP');
      response.end('ok', () => {
        up = worker.process.kill().then(() => worker.start());
      });
    };
    const send = aNode('send', 'action', { type: 'send_webhook', config: { url: receiver.url } }, 'task');
    const id = await published([send, aTask('task', 'end'), aNode('end', 'end')]);
    const contact = await person();
    await enroll(id, contact);
    const [first, again] = await receiver.until(2, patience);
    await up;
    const run = await expectOnce(id, contact, ['send completed', 'task completed', 'end completed']);
    expect([again!.body, again!.headers['webhook-id']]).toEqual([first!.body, first!.headers['webhook-id']]);
    const explained = await eventually(async () => {
      const told = await get(`/webhooks/deliveries/${first!.headers['webhook-id']}/explain`);
      return told.status === 'delivered' && told;
    });
    expect(explained).toMatchObject({ runId: run.id, attempts: [{ responseStatus: 200 }] });
    await receiver.close();
  });
}

function frozen(): void {
  it('is frozen with a run that it has taken: another does it, and the late one settles nothing', async () => {
    const id = await published([aTask('task', 'end'), aNode('end', 'end')]);
    const contact = await person();
    let other: ServerProcess | undefined;
    const attempt = async () => (await outside.query(`select attempt, due_at from automation_runs where automation_id = '${id}'`)).rows[0];
    // It has the run and reads the contact when it is frozen.
    const holding = 'lock table contacts in access exclusive mode';
    const before = await enrolled(id, contact);
    await whileHeld(holding, before, async () => {
      expect(await attempt()).toMatchObject({ attempt: 1 });
      worker.process.signal('SIGSTOP');
      other = (await worker.beside()).process;
    });
    try {
      const run = await expectOnce(id, contact, ['task completed', 'end completed']);
      worker.process.signal('SIGCONT');
      // What the late one does next, it does after what it had begun.
      const next = await published([aTask('task', 'end'), aNode('end', 'end')]);
      await other!.kill();
      const another = await person();
      await enroll(next, another);
      await expectOnce(next, another, ['task completed', 'end completed']);
      expect(await expectOnce(id, contact, ['task completed', 'end completed'])).toEqual(run);
    } finally {
      await other?.kill();
    }
  });
}

/** Begins a run that is due when a row says so: what enrols reads contacts, too, and must not wait. */
async function enrolled(id: string, contact: Loose): Promise<() => Promise<unknown>> {
  await outside.query(`create function late() returns trigger language plpgsql as
    'begin new.due_at = new.due_at + interval ''1 day''; return new; end'`);
  await outside.query('create trigger late before insert on automation_runs for each row execute function late()');
  await enroll(id, contact);
  await outside.query('drop trigger late on automation_runs');
  return () => outside.query(`update automation_runs set due_at = now() where automation_id = '${id}'`);
}

function deleted(): void {
  const active = async (actions: Loose[], event: string): Promise<Loose> => {
    const { id } = dataOf(await asked.caller.post('/workflows', { name: 'Raced', trigger: { event }, actions }));
    return dataOf(await asked.caller.post(`/workflows/${id}/activate`, {}));
  };
  const runsOf = async ({ id }: Loose) => (await outside.query(`select * from workflow_runs where workflow_id = '${id}'`)).rows as Loose[];
  const task = { type: 'create_task', config: { title: 'Raced' } };

  it('while the reader makes its run: that run does nothing', async () => {
    const workflow = await active([task], 'contact.created');
    await outside.query(`create function raced() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(4343); return new; end'`);
    await outside.query('create trigger raced before insert on workflow_runs for each row execute function raced()');
    let contact: Loose = {};
    let deleting: { done: Promise<{ status: number }> } | undefined;
    await whileHeld(
      'select pg_advisory_xact_lock(4343)',
      async () => {
        contact = await person();
      },
      async () => {
        deleting = await begun(asked.caller.del(`/workflows/${workflow.id}`), 2);
      },
    );
    expect((await deleting!.done).status).toBe(200);
    await outside.query('drop trigger raced on workflow_runs');
    await eventually(async () => (await runsOf(workflow)).every(({ status }) => status !== 'running'), patience);
    expect((await runsOf(workflow)).map(({ status, error }) => [status, error])).toEqual([['failed', 'workflow_deleted']]);
    expect((await get(`/tasks?contact_id=${contact.id}`)).meta.total).toBe(0);
  });

  it('while one of its runs is retried: it is refused', async () => {
    const workflow = await active([{ type: 'update_field', config: { entity: 'deal', field: 'title', value: 'x' } }], 'contact.created');
    await person();
    const [run] = await eventually(async () => {
      const runs = await runsOf(workflow);
      return runs[0]?.status === 'failed' && runs;
    }, patience).then((runs) => runs as Loose[]);
    const holder = new pg.Client(worker.databaseUrl);
    await holder.connect();
    await holder.query('begin');
    await holder.query(`update workflows set deleted_at = now(), is_active = false where id = '${workflow.id}'`);
    const retrying = await begun(asked.caller.post(`/workflows/${workflow.id}/runs/${run!.id}/retry`, {}), 1);
    await holder.query('commit');
    await holder.end();
    expect((await retrying.done).status).toBe(409);
    expect((await runsOf(workflow)).map(({ status }) => status)).toEqual(['failed']);
  });
}

onPostgres(describe)('a process that is killed, or frozen, while automations run', () => {
  processes();
  inTheDatabase();
  onTheWayOut();
  frozen();
});

function cancelled(): void {
  it('between a fault and its putting off: it does not come due again', async () => {
    // The condition reads the contact, so that the task is written before it, while the run is held.
    const id = await published([aTask('task', 'asks'), aNode('asks', 'condition', { conditions: {} }, 'end'), aNode('end', 'end')]);
    const contact = await person();
    await outside.query(`create function failing() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(4444); raise exception ''failing''; end'`);
    await outside.query('create trigger failing before insert on tasks for each row execute function failing()');
    let deleting: { done: Promise<{ status: number }> } | undefined;
    await whileHeld(
      'select pg_advisory_xact_lock(4444)',
      () => enroll(id, contact),
      async () => {
        deleting = await begun(asked.caller.del(`/contacts/${contact.id}`), 2);
      },
    );
    expect((await deleting!.done).status).toBe(200);
    await outside.query('drop trigger failing on tasks');
    const next = await published([aTask('task', 'end'), aNode('end', 'end')]);
    const another = await person();
    await enroll(next, another);
    await expectOnce(next, another, ['task completed', 'end completed']);
    const { rows } = await outside.query(`select status, due_at from automation_runs where automation_id = '${id}'`);
    expect(rows).toEqual([{ status: 'cancelled', due_at: null }]);
  });
}

onPostgres(describe)('a workflow that is deleted', () => {
  processes();
  deleted();
});

onPostgres(describe)('a run that is cancelled', () => {
  processes();
  cancelled();
});
