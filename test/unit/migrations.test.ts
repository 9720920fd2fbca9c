import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrationNames, prismaDir } from '../../src/kernel/database/engine.js';
import { memoryPGlite } from '../../src/kernel/database/pglite.js';

/** From here on; the rows below are of the schema before. */
const first = '20261124120000';
const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [account, pipeline, stage, likely, given, event] = [1, 2, 3, 4, 5, 6].map(id);

/** Automations by what they say of their start: where it is said, and what the fields say already. */
const conditions = { source: 'web' };
const starting = (config: object) => ({ id: 'a', type: 'trigger', config });
const started: [number, object][] = [
  [11, { graph: { startNodeId: 'a', nodes: [starting({ event: 'contact.created', conditions })] } }],
  [12, { nodes: [starting({ event: 'deal.won', other: 1 })], start_node_id: 'a' }],
  [13, { graph: { startNodeId: 'a', nodes: [{ id: 'a', type: 'end', config: { event: 'deal.won' } }] } }],
  [14, { graph: { startNodeId: 'a', nodes: [starting({ event: 'deal.won' })] }, trigger_event: 'deal.lost' }],
  [15, { graph: { startNodeId: 'a', nodes: { a: 1 } } }],
];
const automations = started.map(
  ([n, draft]) => `insert into automations (account_id, id, name, created_at, updated_at, graph, nodes, start_node_id, trigger_event)
    select '${account}', '${id(n)}', 'A', now(), now(), d.graph, d.nodes, d.start_node_id, d.trigger_event
    from jsonb_to_record('${JSON.stringify(draft)}') d(graph jsonb, nodes jsonb, start_node_id text, trigger_event text);`,
);

const rows = `set session_replication_role = replica;
  insert into stages (account_id, id, pipeline_id, name, probability, created_at, updated_at)
    values ('${account}', '${stage}', '${pipeline}', 'New', 0.3, now(), now());
  insert into deals (account_id, id, pipeline_id, stage_id, title, probability, created_at, updated_at)
    select '${account}', d.id, '${pipeline}', '${stage}', 'Deal', d.p, now(), now() from (values ('${likely}'::uuid, 0.3), ('${given}', 0.5)) d(id, p);
  insert into outbox_events (seq, account_id, id, name, entity_type, entity_id, data, only_for, created_at) overriding system value
    values (1, '${account}', '${event}', 'deal.created', 'deal', '${likely}', '{}', '${stage}', now());
  ${automations.join('\n')}
  insert into feed_positions (account_id, pos, seq) values ('${account}', 1, 1);
  set session_replication_role = origin`;

let pg: PGlite;
const run = (name: string) => pg.exec(readFileSync(join(prismaDir, 'migrations', name, 'migration.sql'), 'utf8'));
const listed = async (text: string) => (await pg.query<Record<string, unknown>>(text)).rows;

/** The tables that this transaction keeps everybody else from reading. */
const closedTables = async () =>
  (
    await listed(`select c.relname from pg_locks l join pg_class c on c.oid = l.relation
      where l.mode = 'AccessExclusiveLock' and l.pid = pg_backend_pid() and c.relkind = 'r'`)
  ).map(({ relname }) => String(relname));

const changed = async (table: string) =>
  (await listed(`select 1 from ${table} where xmin::text = pg_current_xact_id()::xid::text limit 1`)).length > 0;

describe('an upgrade of a database that is in use', () => {
  const both: string[] = [];
  beforeAll(async () => {
    pg = await memoryPGlite();
    for (const name of migrationNames().filter((one) => one < first)) await run(name);
    await pg.exec(rows);
    for (const name of migrationNames().filter((one) => one >= first)) {
      await pg.exec('begin');
      await run(name);
      for (const table of await closedTables()) if (await changed(table)) both.push(`${name} ${table}`);
      await pg.exec('commit');
    }
  });
  afterAll(() => pg.close());

  it('changes no rows of a table while nobody can read it', () => {
    expect(both).toEqual([]);
  });

  it('knows which probabilities are those of stages', async () => {
    const known = await listed('select id, probability_from_stage as follows from deals order by id');
    expect(known).toEqual([
      { id: likely, follows: true },
      { id: given, follows: false },
    ]);
  });

  it('shows what starts an automation where its start alone said it', async () => {
    const shown = await listed('select trigger_event as event, trigger, trigger_conditions as conditions from automations order by id');
    expect(shown).toEqual([
      { event: 'contact.created', trigger: { event: 'contact.created', conditions }, conditions },
      { event: 'deal.won', trigger: { event: 'deal.won' }, conditions: null },
      { event: null, trigger: null, conditions: null },
      { event: 'deal.lost', trigger: null, conditions: null },
      { event: null, trigger: null, conditions: null },
    ]);
  });

  it('names the places of the events that were there', async () => {
    expect(await listed('select name, only_for from feed_positions')).toEqual([{ name: 'deal.created', only_for: stage }]);
  });
});
