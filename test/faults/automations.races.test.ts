import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { aNode, aTask } from '../support/automations.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import * as two from '../support/twoProcesses.js';

function deleted(): void {
  const active = async (actions: Loose[], event: string): Promise<Loose> => {
    const { id } = dataOf(await two.asked.caller.post('/workflows', { name: 'Raced', trigger: { event }, actions }));
    return dataOf(await two.asked.caller.post(`/workflows/${id}/activate`, {}));
  };
  const runsOf = async ({ id }: Loose) =>
    (await two.outside.query(`select * from workflow_runs where workflow_id = '${id}'`)).rows as Loose[];
  const task = { type: 'create_task', config: { title: 'Raced' } };

  it('while the reader makes its run: that run does nothing', async () => {
    const workflow = await active([task], 'contact.created');
    // What is held up so waits as long as a statement may take, here and below: the limit for locks is over after 2 s.
    // Due later: it may be done before whoever deletes the workflow comes to it.
    await two.outside.query(`create function raced() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock(4343); new.due_at = new.due_at + interval ''1 hour''; return new; end'`);
    await two.outside.query('create trigger raced before insert on workflow_runs for each row execute function raced()');
    let contact: Loose = {};
    let deleting: { done: Promise<{ status: number }> } | undefined;
    await two.whileHeld(
      'select pg_advisory_xact_lock(4343)',
      async () => {
        contact = await two.person();
      },
      async () => {
        deleting = await two.begun(two.asked.caller.del(`/workflows/${workflow.id}`), 2);
      },
    );
    expect((await deleting!.done).status).toBe(200);
    await two.outside.query('drop trigger raced on workflow_runs');
    await eventually(async () => (await runsOf(workflow)).every(({ status }) => status !== 'running'), two.patience);
    expect((await runsOf(workflow)).map(({ status, error }) => [status, error])).toEqual([['failed', 'workflow_deleted']]);
    expect((await two.get(`/tasks?contact_id=${contact.id}`)).meta.total).toBe(0);
  });

  it('while one of its runs is retried: it is refused', async () => {
    const workflow = await active([{ type: 'update_field', config: { entity: 'deal', field: 'title', value: 'x' } }], 'contact.created');
    await two.person();
    const [run] = await eventually(async () => {
      const runs = await runsOf(workflow);
      return runs[0]?.status === 'failed' && runs;
    }, two.patience).then((runs) => runs as Loose[]);
    const holder = new pg.Client(two.worker.databaseUrl);
    await holder.connect();
    await holder.query('begin');
    await holder.query(`update workflows set deleted_at = now(), is_active = false where id = '${workflow.id}'`);
    const retrying = await two.begun(two.asked.caller.post(`/workflows/${workflow.id}/runs/${run!.id}/retry`, {}), 1);
    await holder.query('commit');
    await holder.end();
    expect((await retrying.done).status).toBe(409);
    expect((await runsOf(workflow)).map(({ status }) => status)).toEqual(['failed']);
  });
}

function cancelled(): void {
  it('between a fault and its putting off: it does not come due again', async () => {
    // The condition reads the contact, so that the task is written before it, while the run is held.
    const id = await two.published([aTask('task', 'asks'), aNode('asks', 'condition', { conditions: {} }, 'end'), aNode('end', 'end')]);
    const contact = await two.person();
    await two.outside.query(`create function failing() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock(4444); raise exception ''failing''; end'`);
    await two.outside.query('create trigger failing before insert on tasks for each row execute function failing()');
    let deleting: { done: Promise<{ status: number }> } | undefined;
    await two.whileHeld(
      'select pg_advisory_xact_lock(4444)',
      () => two.enroll(id, contact),
      async () => {
        deleting = await two.begun(two.asked.caller.del(`/contacts/${contact.id}`), 2);
      },
    );
    expect((await deleting!.done).status).toBe(200);
    await two.outside.query('drop trigger failing on tasks');
    const next = await two.published([aTask('task', 'end'), aNode('end', 'end')]);
    const another = await two.person();
    await two.enroll(next, another);
    await two.expectOnce(next, another, ['task completed', 'end completed']);
    const { rows } = await two.outside.query(`select status, due_at from automation_runs where automation_id = '${id}'`);
    expect(rows).toEqual([{ status: 'cancelled', due_at: null }]);
  });
}

function merged(): void {
  it('while the reader ends its wait, by an event about the contact that it had: it goes on with the one who is kept', async () => {
    const [kept, gone] = [await two.person(), await two.person()];
    dataOf(await two.asked.caller.patch(`/contacts/${kept.id}`, { city: 'Bergen' }));
    const wait = aNode('wait', 'wait', { event: 'contact.updated', conditions: { city: 'Oslo' } }, 'task');
    const id = await two.published([wait, aTask('task', 'end'), aNode('end', 'end')]);
    await two.enroll(id, gone);
    const rows = async () => (await two.outside.query(`select * from automation_runs where automation_id = '${id}'`)).rows as Loose[];
    await eventually(async () => (await rows())[0]?.status === 'waiting', two.patience);
    const move = (by: string) => two.outside.query(`update feed_readers set pos = pos ${by} 1000000000000 where name = 'automations'`);
    await move('+');
    dataOf(await two.asked.caller.patch(`/contacts/${gone.id}`, { city: 'Oslo' }));
    await two.outside.query(`create function merging() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock(4545); return new; end'`);
    await two.outside.query(`create trigger merging before update on automation_runs for each row
      when (new.contact_id is distinct from old.contact_id) execute function merging()`);
    let merging: Promise<{ status: number }> | undefined;
    await two.whileHeld(
      'select pg_advisory_xact_lock(4545)',
      async () => {
        merging = two.asked.caller.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
      },
      async () => {
        await move('-');
        // The reader waits for the row that the merge has.
        await two.begun(new Promise(() => {}), 2);
      },
    );
    expect((await merging!).status).toBe(200);
    await two.outside.query('drop trigger merging on automation_runs');
    await two.expectOnce(id, kept, ['wait completed', 'task completed', 'end completed']);
  });
}

function changed(): void {
  it('while others change it: the run is not held up', async () => {
    const id = await two.published([aNode('end', 'end')]);
    const contact = await two.person();
    const holder = new pg.Client(two.worker.databaseUrl);
    await holder.connect();
    await holder.query('begin');
    await holder.query(`select from contacts where id = '${contact.id}' for no key update`);
    expect((await two.enroll(id, contact)).enrolled).toBe(1);
    await holder.query('commit');
    await holder.end();
    await two.expectOnce(id, contact, ['end completed']);
  });

  it('while others change what a condition saw of it, before an action changes it: the condition is asked again', async () => {
    const asks = aNode('asks', 'condition', { conditions: { city: 'Oslo' } }, null, [{ when: 'yes', next: 'field' }]);
    const action = { type: 'update_field', config: { field: 'jobTitle', value: 'Customer' } };
    const id = await two.published([asks, aNode('field', 'action', action, null)]);
    const contact = await two.person();
    dataOf(await two.asked.caller.patch(`/contacts/${contact.id}`, { city: 'Oslo' }));
    await two.whileHeld(
      `update contacts set city = 'Bergen', updated_at = now() where id = '${contact.id}'`,
      () => two.enroll(id, contact),
      async () => {},
    );
    await two.expectOnce(id, contact, ['asks completed']);
    expect(await two.get(`/contacts/${contact.id}`)).toMatchObject({ city: 'Bergen', jobTitle: null });
  });
}

onPostgres(describe)('what runs are made of and about', () => {
  two.processes();
  describe('a workflow that is deleted', deleted);
  describe('a run that is cancelled', cancelled);
  describe('a run whose contact is merged', merged);
  describe('a contact for whom a run begins', changed);
});
