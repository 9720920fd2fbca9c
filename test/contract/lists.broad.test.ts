import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, planOf, server, type TestServer, vacuumed } from '../support/index.js';

/*
 * Filters that many records meet, or few, of lists whose totals take the less time for a statement of their own. What is expected follows
 * from how the rows were made, by their number from the newest, 1, to the oldest, 3,000: their titles, as wide as rows are.
 */
const many = 3000;
const numbers = Array.from({ length: many }, (_, i) => i + 1);

let api: TestServer;
let acme: Account;

/** The newest deals are closed, those of an odd number after them open and behind their day; those of an even one have a task to come. */
const isClosed = (n: number) => n <= 600;
const needsNothing = (n: number) => isClosed(n) || n % 2 === 0;
const statusOf = (n: number) => (n % 10 === 5 ? 'done' : n % 10 === 0 ? 'in_progress' : 'todo');
const priorityOf = (n: number) => (n % 500 === 0 ? 'urgent' : n % 3 === 0 ? 'high' : 'low');
const isOverdue = (n: number) => n % 5 !== 0 && n % 4 === 1;

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { prisma } = api.app.database;
  const pipeline = await acme.pipeline();
  await prisma.$executeRaw`
    insert into deals (account_id, id, title, pipeline_id, stage_id, status, expected_close_date, created_at, updated_at)
    select ${acme.id}::uuid, gen_random_uuid(), lpad(n::text, 250, '0'), ${pipeline.id}::uuid, ${pipeline.stages[0].id}::uuid,
      case when n <= 600 then 'won' else 'open' end, case when n % 2 = 1 then date '2020-01-01' end, now() - make_interval(mins => n), now()
    from generate_series(1, ${many}::int) n`;
  await prisma.$executeRaw`
    insert into tasks (account_id, id, title, deal_id, status, priority, due_date, created_at, updated_at)
    select account_id, gen_random_uuid(), title, id, case when n % 10 = 5 then 'done' when n % 10 = 0 then 'in_progress' else 'todo' end,
      case when n % 500 = 0 then 'urgent' when n % 3 = 0 then 'high' else 'low' end,
      case when n % 2 = 0 then timestamptz '2999-01-01' when n % 4 = 1 then timestamptz '2020-01-01' end, created_at, now()
    from (select *, title::int as n from deals where account_id = ${acme.id}::uuid) d`;
  await vacuumed(api, ['deals', 'tasks']);
}, 120_000);
afterAll(() => api.close());

const found = async (path: string): Promise<Loose> => dataOf(await acme.owner.get(path));

/** Has a list show those whose numbers these are, page by page, in both directions. */
async function expectShown(path: string, expected: readonly number[]): Promise<void> {
  const last = Math.max(1, Math.ceil(expected.length / 100));
  for (const [order, shown] of [
    ['desc', expected],
    ['asc', expected.toReversed()],
  ] as const) {
    for (const page of new Set([1, 2, last, last + 1])) {
      const { data, meta } = await found(`${path}&sort=createdAt&order=${order}&per_page=100&page=${page}`);
      const titles = (data as Loose[]).map(({ title }) => Number(title));
      expect([page, meta.total, titles]).toEqual([page, expected.length, shown.slice((page - 1) * 100, page * 100)]);
    }
  }
}

describe('what does not meet a condition', () => {
  it('is counted by what does: deals that need nothing done', async () => {
    await expectShown('/deals?needs_action=false', numbers.filter(needsNothing));
    await expectShown(
      '/deals?needs_action=true',
      numbers.filter((n) => !needsNothing(n)),
    );
    // With another condition it is counted as any list is.
    await expectShown(
      '/deals?needs_action=false&status=open',
      numbers.filter((n) => needsNothing(n) && !isClosed(n)),
    );
    expect((await found('/deals?needs_action=false&count=none')).meta.total).toBeNull();
    const plan = await planOf(api, 'from deals', () => found('/deals?needs_action=false'));
    expect(plan).toMatch(/ on counts deals.*Index Only Scan using deals_by_status on deals/s);
  });

  it('is counted by what does: tasks that are not overdue', async () => {
    await expectShown(
      '/tasks?overdue=false',
      numbers.filter((n) => !isOverdue(n)),
    );
    await expectShown('/tasks?overdue=true', numbers.filter(isOverdue));
    const plan = await planOf(api, 'from tasks', () => found('/tasks?overdue=false'));
    expect(plan).toMatch(/ on counts tasks.*Index Only Scan using tasks_open/s);
  });

  it('is looked for where few do not', async () => {
    const bell = await api.seed.account();
    const pipeline = await bell.pipeline();
    for (const status of ['open', 'open', 'won']) await bell.deal({ pipeline, status });
    const { meta, data } = dataOf(await bell.owner.get('/deals?needs_action=false')) as Loose;
    expect([meta.total, data.length]).toEqual([1, 1]);
  });

  it('has a total on pages that a cursor begins', async () => {
    const document = `query ($after: String) { deals(filter: { needsAction: false }, first: 2, after: $after) {
      totalCount nodes { title } pageInfo { endCursor } } }`;
    const expected = numbers.filter(needsNothing);
    let after: string | undefined;
    for (const page of [0, 1]) {
      const { deals } = (await acme.owner.gql(document, { after })).data as Loose;
      const titles = (deals.nodes as Loose[]).map(({ title }) => Number(title));
      expect([deals.totalCount, titles]).toEqual([expected.length, expected.slice(page * 2, page * 2 + 2)]);
      after = deals.pageInfo.endCursor;
    }
  });
});

describe('tasks by their priority and their status', () => {
  const has = (asked: Loose) => (n: number) =>
    (asked.priority ?? priorityOf(n)) === priorityOf(n) && (asked.status ?? statusOf(n)) === statusOf(n);
  const filters: [Loose, string][] = [
    [{ priority: 'low' }, 'tasks_by_priority'],
    [{ priority: 'urgent' }, 'tasks_by_priority'],
    [{ status: 'in_progress' }, 'tasks_by_status'],
    [{ status: 'done', priority: 'high' }, 'tasks_by_(priority|status)'],
  ];

  it.each(filters)('are counted by the index of their places: %j', async (asked, index) => {
    const path = `/tasks?${new URLSearchParams(asked)}`;
    await expectShown(path, numbers.filter(has(asked)));
    expect(await planOf(api, 'from tasks', () => found(path))).toMatch(new RegExp(`Index Only Scan using ${index}`));
  });

  it('are none where nobody has it', async () => {
    await expectShown('/tasks?priority=medium', []);
  });
});

describe('searches beside writes', () => {
  it('read little that no index has taken in yet', async () => {
    const { rows } = await api.app.database.execute(
      `select c.relname as name, c.reloptions @> '{gin_pending_list_limit=512}' as is from pg_class c join pg_am a on a.oid = c.relam
      where a.amname = 'gin' and c.relnamespace = 'public'::regnamespace`,
    );
    expect((rows as Loose[]).length).toBeGreaterThan(0);
    expect((rows as Loose[]).filter((row) => !row.is)).toEqual([]);
  });
});
