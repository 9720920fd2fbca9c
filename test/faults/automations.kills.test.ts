import { describe, expect, it } from '@jest/globals';
import { aNode, aTask } from '../support/automations.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { ServerProcess } from '../support/process.js';
import { Receiver } from '../support/receiver.js';
import * as two from '../support/twoProcesses.js';

function inTheDatabase(): void {
  it('is killed inside the batch of a reader: each event starts its run, once', async () => {
    const id = await two.published([aTask('task', 'end'), aNode('end', 'end')], { triggerEvent: 'contact.created' });
    let contact: Loose = {};
    // The reader holds the automations for which it starts runs: here it waits for one, behind the events that it has taken.
    const holding = `select 1 from automations where id = '${id}' for update`;
    await two.whileHeld(
      holding,
      async () => {
        contact = await two.person();
      },
      () => two.worker.process.kill(),
    );
    expect((await two.get(`/automations/${id}/runs`)).meta.total).toBe(0);
    await two.worker.start();
    await two.expectOnce(id, contact, ['task completed', 'end completed']);
    dataOf(await two.asked.caller.del(`/automations/${id}`));
  });

  it('is killed between an action and its mark: the action is done once', async () => {
    const id = await two.published([aTask('task1', 'task2'), aTask('task2', 'end'), aNode('end', 'end')]);
    const contact = await two.person();
    await two.outside.query(`create function held() returns trigger language plpgsql set lock_timeout = 0 as
      'begin perform pg_advisory_xact_lock(4242); return new; end'`);
    await two.outside.query(`create trigger held before update on automation_runs for each row
      when (new.status is distinct from old.status) execute function held()`);
    await two.whileHeld(
      'select pg_advisory_xact_lock(4242)',
      () => two.enroll(id, contact),
      () => two.worker.process.kill(),
    );
    await two.outside.query('drop trigger held on automation_runs');
    await two.worker.start();
    await two.expectOnce(id, contact, ['task1 completed', 'task2 completed', 'end completed']);
  });
}

function onTheWayOut(): void {
  it('is killed between the 200 of a receiver and the settling: it is sent again as the same message, and the run is not', async () => {
    const receiver = await Receiver.open();
    let up: Promise<unknown> = Promise.resolve();
    receiver.answer = (_request, response, nth) => {
      if (nth > 1) return void response.end();
      // Frozen before it can read the answer, and killed after it was given.
      two.worker.process.signal('SIGSTOP');
      response.end('ok', () => {
        up = two.worker.process.kill().then(() => two.worker.start());
      });
    };
    const send = aNode('send', 'action', { type: 'send_webhook', config: { url: receiver.url } }, 'task');
    const id = await two.published([send, aTask('task', 'end'), aNode('end', 'end')]);
    const contact = await two.person();
    await two.enroll(id, contact);
    const [first, again] = await receiver.until(2, two.patience);
    await up;
    const run = await two.expectOnce(id, contact, ['send completed', 'task completed', 'end completed']);
    expect([again!.body, again!.headers['webhook-id']]).toEqual([first!.body, first!.headers['webhook-id']]);
    const explained = await eventually(async () => {
      const told = await two.get(`/webhooks/deliveries/${first!.headers['webhook-id']}/explain`);
      return told.status === 'delivered' && told;
    });
    expect(explained).toMatchObject({ runId: run.id, attempts: [{ responseStatus: 200 }] });
    await receiver.close();
  });
}

function frozen(): void {
  it('is frozen with a run that it has taken: another does it, and the late one settles nothing', async () => {
    const id = await two.published([aTask('task', 'end'), aNode('end', 'end')]);
    const contact = await two.person();
    let other: ServerProcess | undefined;
    const attempt = async () =>
      (await two.outside.query(`select attempt, due_at from automation_runs where automation_id = '${id}'`)).rows[0];
    // It has the run and reads the contact when it is frozen.
    const holding = 'lock table contacts in access exclusive mode';
    const before = await enrolled(id, contact);
    await two.whileHeld(holding, before, async () => {
      expect(await attempt()).toMatchObject({ attempt: 1 });
      two.worker.process.signal('SIGSTOP');
      other = (await two.worker.beside()).process;
    });
    try {
      const run = await two.expectOnce(id, contact, ['task completed', 'end completed']);
      two.worker.process.signal('SIGCONT');
      // What the late one does next, it does after what it had begun.
      const next = await two.published([aTask('task', 'end'), aNode('end', 'end')]);
      await other!.kill();
      const another = await two.person();
      await two.enroll(next, another);
      await two.expectOnce(next, another, ['task completed', 'end completed']);
      expect(await two.expectOnce(id, contact, ['task completed', 'end completed'])).toEqual(run);
    } finally {
      await other?.kill();
    }
  });
}

/** Begins a run that is due when a row says so: what enrols reads contacts, too, and must not wait. */
async function enrolled(id: string, contact: Loose): Promise<() => Promise<unknown>> {
  await two.outside.query(`create function late() returns trigger language plpgsql as
    'begin new.due_at = new.due_at + interval ''1 day''; return new; end'`);
  await two.outside.query('create trigger late before insert on automation_runs for each row execute function late()');
  await two.enroll(id, contact);
  await two.outside.query('drop trigger late on automation_runs');
  return () => two.outside.query(`update automation_runs set due_at = now() where automation_id = '${id}'`);
}

onPostgres(describe)('a process that is killed, or frozen, while automations run', () => {
  two.processes();
  inTheDatabase();
  onTheWayOut();
  frozen();
});
