import { beforeAll, describe, expect, it } from '@jest/globals';
import { aNode } from '../support/automations.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import * as two from '../support/twoProcesses.js';

/** Holds whatever begins to wait for an event, before it is committed. */
const beginning = 'select pg_advisory_xact_lock(4646)';

/** Waits until the reader is behind an event of a record. */
const passed = (name: string, { id }: Loose) =>
  eventually(async () => {
    const { rows } = await two.outside.query(
      `select from outbox_events e join feed_positions p using (account_id, seq) join feed_readers r using (account_id)
        where e.name = $1 and e.entity_id = $2 and r.name = 'automations' and r.pos >= p.pos`,
      [name, id],
    );
    return rows.length > 0;
  }, 5000);

const waitsFor = (event: string) => [aNode('wait', 'wait', { event }, 'end'), aNode('end', 'end')];

function meanwhile(): void {
  it('while an event of its contact gets its place: the event ends the wait', async () => {
    const id = await two.published(waitsFor('contact.updated'));
    const contact = await two.person();
    await two.whileHeld(
      beginning,
      () => two.enroll(id, contact),
      async () => {
        dataOf(await two.asked.caller.patch(`/contacts/${contact.id}`, { city: 'Oslo' }));
        // The reader passes over it: it waits for no run that begins to wait.
        await passed('contact.updated', contact);
      },
    );
    await two.expectOnce(id, contact, ['wait completed', 'end completed']);
  });

  it('while its record is deleted: it fails', async () => {
    const id = await two.published(waitsFor('deal.won'), {
      triggerEvent: 'deal.created',
    });
    const { id: pipelineId, stages } = (await two.get('/pipelines'))[0];
    let deal: Loose = {};
    await two.whileHeld(
      beginning,
      async () => {
        deal = dataOf(await two.asked.caller.post('/deals', { title: 'Going', value: 1, pipelineId, stageId: stages[0].id }));
      },
      async () => {
        dataOf(await two.asked.caller.del(`/deals/${deal.id}`));
        await passed('deal.deleted', deal);
      },
    );
    const [run] = await eventually(async () => {
      const { data } = await two.get(`/automations/${id}/runs`);
      return data.length > 0 && data[0].status !== 'running' && data[0].status !== 'waiting' && (data as Loose[]);
    }, two.patience).then((runs) => runs as Loose[]);
    expect([run!.status, run!.error]).toEqual(['failed', expect.stringContaining('is deleted')]);
    dataOf(await two.asked.caller.del(`/automations/${id}`));
  });

  it('and its process is killed as it looks what came: the event ends the wait', async () => {
    const id = await two.published(waitsFor('contact.updated'));
    const contact = await two.person();
    await two.outside.query(`create function looking() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock(4747); return new; end'`);
    await two.outside.query(`create trigger looking before update on automation_runs for each row
      when (old.wait_event is not null) execute function looking()`);
    const announced = () =>
      two.whileHeld(
        beginning,
        () => two.enroll(id, contact),
        async () => {
          dataOf(await two.asked.caller.patch(`/contacts/${contact.id}`, { city: 'Oslo' }));
          await passed('contact.updated', contact);
        },
      );
    await two.whileHeld('select pg_advisory_xact_lock(4747)', announced, async () => {
      await two.worker.process.kill();
      // What it had begun is taken back, as where its machine is gone.
      await two.outside.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
    });
    await two.outside.query('drop trigger looking on automation_runs');
    await two.worker.start();
    await two.expectOnce(id, contact, ['wait completed', 'end completed']);
  });
}

function many(): void {
  it('hold up no reader, however many they are', async () => {
    const id = await two.published(waitsFor('contact.updated'));
    const probe = await two.published([aNode('end', 'end')], { triggerEvent: 'tag.created' });
    const contacts = await Promise.all(Array.from({ length: 200 }, two.person));
    await two.whileHeld(
      beginning,
      async () =>
        dataOf(await two.asked.caller.post(`/automations/${id}/bulk-enroll`, { contactIds: contacts.map((contact) => contact.id) })),
      async () => {
        dataOf(await two.asked.caller.post('/tags', { name: 'Read meanwhile', color: '#000000' }));
        // As many as are worked on at once begin to wait, and none of them is over.
        await eventually(async () => (await two.get(`/automations/${probe}/runs`)).meta.total === 1, 5000);
      },
    );
    await eventually(async () => {
      const { rows } = await two.outside.query(
        `select from automation_runs where automation_id = '${id}' and status = 'waiting' and due_at is null`,
      );
      return rows.length === contacts.length;
    }, two.patience);
    for (const each of [id, probe]) dataOf(await two.asked.caller.del(`/automations/${each}`));
  });
}

onPostgres(describe)('runs that begin to wait', () => {
  two.processes();
  beforeAll(async () => {
    await two.outside.query(`create function beginning() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock_shared(4646); return new; end'`);
    await two.outside.query(`create trigger beginning before update on automation_runs for each row
      when (new.wait_event is not null and old.wait_event is null) execute function beginning()`);
  });

  describe('one while something happens', meanwhile);
  describe('many of them', many);
});
