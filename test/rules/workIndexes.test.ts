import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepOf } from '../../src/kernel/database/sweep.js';
import { oldOutcomes } from '../../src/kernel/operations/idempotency.claims.js';
import { oldPublicOutcomes } from '../../src/kernel/operations/idempotency.public.js';
import { modules } from '../../src/modules.js';
import { type Account, dataOf, type Loose, planOf, server, type TestServer, vacuumed } from '../support/index.js';

/* What is written all day long and read now and then: enrollments, runs, deliveries, outcomes. */
let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** How the database would read a large table: for few rows it would look at all of them. */
async function explained(query: string): Promise<string> {
  const { prisma } = api.app.database;
  const [, , , rows] = await prisma.$transaction([
    prisma.$executeRawUnsafe('set local enable_seqscan = off'),
    prisma.$executeRawUnsafe('set local enable_bitmapscan = off'),
    prisma.$executeRawUnsafe('set local enable_sort = off'),
    prisma.$queryRawUnsafe<Record<string, string>[]>(`explain ${query}`),
  ]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('a list of what work left', () => {
  // Steps by their place are asked for within a run, which an index of their own keeps.
  const worked: Record<string, string[]> = {
    enrollments: ['createdAt', 'updatedAt', 'nextEmailAt'],
    workflow_runs: ['startedAt', 'createdAt', 'updatedAt'],
    webhook_deliveries: ['createdAt'],
    automation_runs: ['startedAt'],
    automation_step_logs: ['startedAt'],
  };
  const asked = Object.entries(worked).flatMap(([table, keys]) => keys.map((key) => [table, key] as const));

  it.each(asked)('%s is read from an index in the order of %s, both ways', async (name, key) => {
    const table = modules.flatMap((module) => module.tables ?? []).find((one) => one.name === name)!;
    expect(Object.keys(table.sorts)).toEqual(expect.arrayContaining(worked[name]!));
    const { by, nullable } = table.sorts[key]!;
    for (const order of ['asc', 'desc']) {
      const plan = await explained(`select t.* from ${name} t where t.account_id = '${acme.id}'
        order by ${by} ${order} ${nullable ? 'nulls last' : ''}, t.id ${order} limit 51`);
      expect([order, plan]).toEqual([order, expect.stringMatching(/Index Scan.* using /)]);
      expect([order, plan]).toEqual([order, expect.not.stringMatching(/Sort/)]);
    }
  });
});

describe('what failed among much that did not', () => {
  const [many, failed] = [3000, 5];
  let workflow: string;
  let webhook: string;

  beforeAll(async () => {
    const { prisma } = api.app.database;
    workflow = dataOf(await acme.owner.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions: [] })).id;
    webhook = dataOf(await acme.owner.post('/webhooks/manage', { url: 'https://example.com/hook', events: ['contact.created'] })).id;
    await prisma.$executeRaw`
      insert into workflow_runs (account_id, id, workflow_id, workflow_name, trigger_event, status, event_at, started_at, completed_at, duration_ms,
        created_at, updated_at)
      select ${acme.id}::uuid, gen_random_uuid(), ${workflow}::uuid, 'W', 'contact.created', case when n <= ${failed}::int then 'failed' else 'success' end,
        at, at, at, 0, at, at
      from (select n, now() - make_interval(mins => n) as at from generate_series(1, ${many}::int) n) m`;
    await prisma.$executeRaw`
      insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, status, created_at, updated_at)
      select ${acme.id}::uuid, gen_random_uuid(), ${webhook}::uuid, ${webhook}::uuid, gen_random_uuid(), 'contact.created', '{}',
        case when n <= ${failed}::int then 'failed' else 'delivered' end, at, at
      from (select n, now() - make_interval(mins => n) as at from generate_series(1, ${many}::int) n) m`;
    await vacuumed(api, ['workflow_runs', 'webhook_deliveries']);
  }, 120_000);

  it.each([
    ['workflow_runs', () => `/workflows/${workflow}/runs?status=failed`],
    ['webhook_deliveries', () => `/webhooks/manage/${webhook}/deliveries?status=failed`],
  ])('is found by an index of its own: %s', async (table, path) => {
    const { meta, data } = dataOf(await acme.owner.get(path()));
    expect([meta.total, (data as Loose[]).map(({ status }) => status)]).toEqual([failed, Array(failed).fill('failed')]);
    expect(await planOf(api, `from ${table} t`, () => acme.owner.get(path()))).toContain(`${table}_failed`);
  });

  it.each([
    ['workflow_runs', 'workflowRuns'],
    ['webhook_deliveries', 'webhookDeliveries'],
  ])('is found by an index of its own in the list of all: %s', async (table, list) => {
    const read = () => acme.owner.gql(`{ ${list}(filter: { status: failed }) { totalCount nodes { status } } }`);
    expect((await read()).data[list].totalCount).toBe(failed);
    expect(await planOf(api, `from ${table} t`, read)).toContain(`${table}_failed`);
  });
});

describe('what has expired', () => {
  it.each([
    ['idempotency_keys', oldOutcomes],
    ['public_outcomes', oldPublicOutcomes],
  ])('is found by its moment, without a look at what has not: %s', async (table, sweep) => {
    const { text, values } = sweepOf(sweep, new Date(), 5000);
    const written = text.replace(/\$(\d+)/g, (_slot, nth: string) => `'${values[Number(nth) - 1]}'`);
    const plan = await explained(written);
    expect(plan).toMatch(new RegExp(`using ${table}_expires_at_idx[^\\n]*\\n\\s*Index Cond: \\((?:\\w+\\.)?expires_at <`));
  });
});
