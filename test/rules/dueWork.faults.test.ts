import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, aNode } from '../support/automations.js';
import { type Account, day, hour, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const execute = (text: string, values?: unknown[]) => api.app.database.execute(text, values);

/** Does something while the database refuses what would be a row of a table. */
async function whileRefused(table: string, when: string, work: () => Promise<void>): Promise<void> {
  await execute(`create function test_fault() returns trigger language plpgsql as $$ begin raise exception 'a fault of ours'; end $$`);
  await execute(`create trigger test_fault before insert on ${table} for each row when (${when}) execute function test_fault()`);
  try {
    await work();
  } finally {
    await execute(`drop trigger test_fault on ${table}`);
    await execute('drop function test_fault()');
  }
}

/** When a row comes due again after a fault at its moment: milliseconds from then. Taken as often as a long row of steps is. */
async function putOffBy(table: 'automations' | 'enrollments', id: string): Promise<number> {
  const dueAt = async () => {
    const { rows } = await execute(`select due_at from ${table} where id = $1`, [id]);
    return new Date((rows as [{ due_at: string }])[0].due_at).getTime();
  };
  await execute(`update ${table} set attempt = 11 where id = $1`, [id]);
  api.clock.advance(day + hour);
  await eventually(async () => (await dueAt()) > api.clock.now().getTime());
  return (await dueAt()) - api.clock.now().getTime();
}

describe('a fault of ours, however often the row came due before, puts off by a minute at most', () => {
  it('a step of a sequence', async () => {
    const sequences = new Sequences(acme, await acme.key());
    const id = await sequences.begin([aStep(0), aStep(1)]);
    await sequences.sent(id, 1);
    await whileRefused('messages', `new.enrollment_id = '${id}'`, async () => {
      expect(await putOffBy('enrollments', id)).toBeLessThanOrEqual(minute);
    });
    api.clock.advance(2 * minute);
    await sequences.sent(id, 2);
  });

  it('a moment of a schedule', async () => {
    const automations = new Automations(acme, await acme.key());
    const id = await automations.make([aNode('end', 'end')], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
    await whileRefused('automation_runs', `new.automation_id = '${id}'`, async () => {
      expect(await putOffBy('automations', id)).toBeLessThanOrEqual(minute);
    });
    api.clock.advance(2 * minute);
    await eventually(async () => (await automations.runs(id)).length === 1);
  });
});
