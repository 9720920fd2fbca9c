import { describe, expect, it } from '@jest/globals';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { allPlaced, aNode, aTask } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, type Loose, minute } from '../support/index.js';
import { eventually } from '../support/live.js';

served();

describe('a run that waits for an event and comes due at another moment than its wait ends', () => {
  it('does not look again what came since it began: of that the reader has told it', async () => {
    const run = await automations.begin([
      aNode('wait', 'wait', { event: 'contact.updated', timeout: { days: 1 } }, 'end'),
      aNode('end', 'end'),
    ]);
    await eventually(async () => (await automations.run(run)).dueAt!.getTime() > api.clock.now().getTime() + minute);
    const { execute } = api.app.database;
    const { contactId } = await automations.run(run);
    const other = await automations.contact();
    dataOf(await automations.key.patch(`/contacts/${other}`, { city: 'Oslo' }));
    // Many more of the same.
    await execute(
      `insert into outbox_events select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'seq', nextval(pg_get_serial_sequence('outbox_events', 'seq'))))).*
        from outbox_events e cross join generate_series(1, 500) where e.account_id = $1 and e.name = 'contact.updated' and e.entity_id = $2`,
      [acme.id, other],
    );
    await allPlaced(acme);
    await automations.read();
    // As after a fault of the database.
    const { rows } = await execute(
      "update automation_runs set due_at = now() - interval '1 second', leased_until = now() + interval '1 hour' where id = $1 returning attempt",
      [run],
    );
    const ctx = await actingForAccount(api.app, acme.id);
    const count = async () => (await api.metrics.queries.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await count();
    await api.app.registry.due.get('automationRuns')!.work(ctx!, { id: run, attempt: (rows as [{ attempt: number }])[0].attempt });
    expect((await count()) - before).toBeLessThan(20);
    const after = await automations.run(run);
    expect([after.status, after.dueAt]).toEqual(['waiting', after.waitUntil]);
    // It still hears of its own.
    dataOf(await automations.key.patch(`/contacts/${contactId}`, { city: 'Bergen' }));
    await automations.until(run, 'success');
  });
});

describe('a run of an automation', () => {
  it('looks for no record that may have an id which the server has made: only ids that clients choose are looked for', async () => {
    // What is looked for goes through all types of records.
    await api.app.database.execute(`create or replace function id_is_free(free boolean) returns text language plpgsql as
      'begin raise exception ''An id is looked for''; end'`);
    const field = aNode('field', 'action', { type: 'update_field', config: { field: 'jobTitle', value: 'Customer' } }, 'hook');
    const hook = aNode('hook', 'action', { type: 'send_webhook', config: { url: 'https://example.com/' } }, 'wait');
    const wait = aNode('wait', 'wait', { event: 'contact.updated', timeout: { days: 1 } });
    const run = await automations.begin([aTask('task', 'field'), field, hook, wait]);
    await automations.until(run, 'waiting', 'failed');
    expect(await automations.path(run)).toEqual(['task completed', 'field completed', 'hook completed', 'wait waiting']);
  });
});

describe('a dry run', () => {
  const renamed = aNode('field', 'action', { type: 'update_field', config: { field: 'jobTitle', value: 'Customer' } }, 'branch');
  const tried = async (id: string, contactId: string) => dataOf(await automations.key.post(`/automations/${id}/dry-run`, { contactId }));

  it('reads the contact once for all branches behind an action', async () => {
    const contactId = await automations.contact();
    const branching = async (count: number) => {
      const others = Array.from({ length: count }, (_, n) => ({ when: { city: `City ${n}` }, next: null }));
      const last = { when: { jobTitle: 'Customer' }, next: 'end' };
      const id = await automations.make([renamed, aNode('branch', 'branch', {}, null, [...others, last]), aNode('end', 'end')]);
      const { outcome, steps } = await tried(id, contactId);
      expect([outcome, steps[1].output.branch]).toEqual(['completed', count]);
      return api.statements(() => tried(id, contactId));
    };
    expect(await branching(90)).toBe(await branching(1));
  });

  it('ends before the 101st action, with the way until there', async () => {
    const contactId = await automations.contact();
    const tasks = (count: number) =>
      Array.from({ length: count }, (_, n) => aTask(`task${n}`, n + 1 < count ? `task${n + 1}` : undefined, 'Call'));
    const { outcome, steps } = await tried(await automations.make(tasks(1000)), contactId);
    expect([outcome, steps.length, steps.at(-1).next]).toEqual(['limit', 100, 'task100']);
    expect(await tried(await automations.make(tasks(100)), contactId)).toMatchObject({ outcome: 'completed' });
  });
});

describe('a run of very many steps that neither act nor wait', () => {
  it('is kept in portions', async () => {
    const goals = Array.from({ length: 990 }, (_, n) => aNode(`goal${n}`, 'goal', {}, n + 1 < 990 ? `goal${n + 1}` : null));
    const run = await automations.begin(goals);
    await automations.until(run, 'success');
    const { rows } = await api.app.database.execute(
      'select count(*)::int as count from automation_step_logs where run_id = $1 group by xmin::text order by min(nth)',
      [run],
    );
    expect(rows).toEqual([{ count: 500 }, { count: 490 }]);
  });
});

describe('a branch that compares a long value thousands of times', () => {
  const others = (count: number) => Array.from({ length: count }, () => ({ field: 'customFields.a', value: '1' }));
  const titled = (title: string, next: string | null) => ({ when: { jobTitle: title }, next });
  const entitle = (title: string) =>
    aNode(`title${title}`, 'action', { type: 'update_field', config: { field: 'jobTitle', value: title } }, 'round');
  /** Goes around three times, each time by all conditions, after a wait that begins anew. */
  const circle = () => {
    const large = Array.from({ length: 98 }, () => ({ when: { and: others(199) }, next: null }));
    return [
      aNode('wait', 'wait', { seconds: 1 }, 'branch'),
      aNode('branch', 'branch', {}, 'title1', [...large, titled('2', null), titled('1', 'title2')]),
      entitle('1'),
      entitle('2'),
      aNode('round', 'goal', {}, 'wait'),
    ];
  };
  const longValued = () => automations.contact({ customFields: { a: 'x'.repeat(60_000) } });

  it('tells in a dry run how the value begins', async () => {
    const [id, contactId] = [await automations.make(circle()), await longValued()];
    const { outcome, steps } = dataOf(await automations.key.post(`/automations/${id}/dry-run`, { contactId }));
    const seen: string[] = steps[1].output.branches
      .slice(0, 98)
      .flatMap(({ conditions }: Loose) => conditions.map((one: Loose) => one.seen));
    expect([outcome, seen.length, seen[0], seen.at(-1)]).toEqual(['repeats', 98 * 199, `${'x'.repeat(500)}…`, `${'x'.repeat(40)}…`]);
    expect(JSON.stringify(steps).length).toBeLessThan(4_000_000);
  });

  it('is kept in portions of some megabytes', async () => {
    const [run] = await automations.enroll(await automations.make(circle()), await longValued());
    await eventually(async () => ['success', 'failed'].includes((await automations.run(run!)).status), 60_000);
    const { rows } = await api.app.database.execute(
      'select count(*)::int as steps, sum(octet_length(output::text))::int as bytes from automation_step_logs where run_id = $1 group by xmin::text order by min(nth)',
      [run],
    );
    const portions = rows as { steps: number; bytes: number }[];
    // What a wait came to is kept with the steps after it.
    expect(portions.map(({ steps }) => steps)).toEqual([2, 2, 2, 2, 2]);
    for (const { bytes } of portions) expect(bytes).toBeLessThan(4_000_000);
    expect(portions[0]!.bytes).toBeGreaterThan(1_000_000);
  });

  it('ends a dry run once its steps have ten million characters', async () => {
    const conditions = { not: { or: others(190) } };
    const nodes = Array.from({ length: 100 }, (_, n) => aNode(`node${n}`, 'condition', { conditions }, n < 99 ? `node${n + 1}` : null));
    const [id, contactId] = [await automations.make(nodes), await longValued()];
    const { outcome, steps } = dataOf(await automations.key.post(`/automations/${id}/dry-run`, { contactId }));
    expect([outcome, steps.at(-1).next]).toEqual(['limit', `node${steps.length}`]);
    expect(JSON.stringify(steps).length).toBeLessThan(11_000_000);
  });
});
