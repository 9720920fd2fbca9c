import { describe, expect, it } from '@jest/globals';
import { sql } from '../../src/kernel/database/sql.js';
import { aNode } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, type Loose } from '../support/index.js';
import { eventually } from '../support/live.js';

served();

/** What the reader of automations wants, and how many pages of the database are looked at for it. */
async function wantedNow(): Promise<{ wanted: string[]; pages: number }> {
  const reader = api.app.registry.readers.get('automations')!;
  const { text, values } = reader.wanted(sql`${acme.id}::uuid`);
  const { database } = api.app;
  const { rows } = await database.execute(`select w.name from (${text}) w (name)`, values);
  const { rows: plans } = await database.execute(`explain (analyze, buffers, format json) ${text}`, values);
  const [plan] = plans as { 'QUERY PLAN': Loose[] }[];
  const { Plan: root } = plan!['QUERY PLAN'][0]!;
  return {
    wanted: [...new Set((rows as { name: string }[]).map(({ name }) => name))].sort(),
    pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

describe('what runs that wait want of the feed', () => {
  it('is found by its names, and costs no more the more of them wait', async () => {
    const id = await automations.make([aNode('wait', 'wait', { event: 'deal.won' }, 'end'), aNode('end', 'end')], {
      triggerEvent: 'deal.created',
    });
    const deal = await acme.deal({ contactId: null });
    const [run] = await eventually(async () => {
      const runs = await automations.runs(id);
      return runs[0]?.status === 'waiting' && runs[0].dueAt === null && runs;
    }).then((runs) => runs as Loose[]);
    const upTo = async (waits: number) => {
      for (let more = true; more; ) {
        const { rows } = await api.app.database.execute(
          `insert into automation_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'entity_id', gen_random_uuid(),
              'event_id', gen_random_uuid(), 'wait_step_id', gen_random_uuid()))).*
            from automation_runs r
            cross join generate_series(1, least(1000, $2::int - (select count(*)::int from automation_runs where automation_id = $1::uuid)))
            where r.id = $3::uuid returning 1`,
          [id, waits, run!.id],
        );
        more = rows.length > 0;
      }
      await api.app.database.execute('analyze automation_runs');
    };
    await upTo(2000);
    const few = await wantedNow();
    await upTo(20_000);
    const many = await wantedNow();
    expect(few.wanted).toEqual(['deal.created', 'deal.deleted', 'deal.won']);
    expect(many.wanted).toEqual(few.wanted);
    expect(many.pages).toBeLessThanOrEqual(few.pages * 1.25);
    // They are still found: the one whose record it is goes on, and no other.
    dataOf(await automations.key.patch(`/deals/${deal.id}`, { status: 'won' }));
    await automations.until(run!.id, 'success');
    const { rows } = await api.app.database.execute(
      "select count(*)::int as n from automation_runs where automation_id = $1::uuid and status = 'waiting'",
      [id],
    );
    expect(rows).toEqual([{ n: 19_999 }]);
  });
});
