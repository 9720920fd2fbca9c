import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, planOf, server, type TestServer, vacuumed } from '../support/index.js';

/*
 * Broad filters of lists are counted from indexes alone. What is expected follows from how the rows were made, by their number from the
 * oldest, 1, to the newest.
 */
const many = 3000;
const isListed = (n: number) => n % 10 !== 0;
const numbersTo = (most: number) => Array.from({ length: most }, (_, i) => i + 1);
const numbers = numbersTo(many).filter(isListed);
const even = (n: number) => n % 2 === 0;

let api: TestServer;
let acme: Account;

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { prisma } = api.app.database;
  await prisma.$executeRaw`
    insert into companies (account_id, id, name, owner_id, lifecycle_stage, created_at, updated_at, deleted_at)
    select ${acme.id}::uuid, gen_random_uuid(), n::text, case when n % 7 = 0 then ${acme.ownerId}::uuid end, case when n % 60 = 1 then 'Lead' end,
      now() + make_interval(secs => n), now(), case when n % 10 = 0 then now() end
    from generate_series(1, ${many}::int) n`;
  // Two open deals with each company whose number is even, a won one with every company, and an open one that is deleted. They are as wide
  // as deals are, and come in no order of time.
  const deal = await acme.deal({ title: 'first' });
  await prisma.$executeRaw`
    insert into deals (account_id, id, title, pipeline_id, stage_id, company_id, status, created_at, updated_at, deleted_at,
      expected_close_date, probability)
    select d.account_id, gen_random_uuid(), repeat('deal ', 60), d.pipeline_id, d.stage_id, c.id, case s.n when 3 then 'won' else 'open' end,
      now() - random() * interval '1 year', now() - random() * interval '1 year',
      case when s.n = 4 then now() end, case when random() < 0.5 then current_date + (random() * 300)::int end, random()
    from deals d join companies c on c.account_id = d.account_id cross join generate_series(1, 4) s(n)
    where d.id = ${deal.id}::uuid and (s.n > 2 or c.name::int % 2 = 0)`;
  // One conversation of fifty is idle, the others wait for an answer, one in two, or were answered; one of a hundred is closed.
  await prisma.$executeRaw`
    with made as (insert into contacts (account_id, id, first_name, created_at, updated_at)
      select ${acme.id}::uuid, gen_random_uuid(), n::text, now(), now() from generate_series(1, ${many}::int) n returning account_id, id, first_name::int as n)
    insert into conversations (account_id, contact_id, last_message_at, last_inbound_at, last_outbound_at, closed_at, created_at, updated_at)
    select account_id, id, at, case when n % 2 = 0 then at else at - interval '1 hour' end, case when n % 2 = 1 then at end,
      case when n % 100 = 0 then now() end, now(), now()
    from (select *, case when n % 50 = 1 then null else now() - make_interval(mins => n) end as at from made) m`;
  await prisma.$executeRaw`
    insert into activities (account_id, id, type, title, description, created_at)
    select ${acme.id}::uuid, gen_random_uuid(), 'call', case when n % 2 = 0 then 'Spoke' else 'MISSED' end, n::text, now() - make_interval(hours => n)
    from generate_series(1, ${many}::int) n`;
  await prisma.$executeRaw`
    insert into tasks (account_id, id, title, priority, created_at, updated_at)
    select ${acme.id}::uuid, gen_random_uuid(), repeat('task ', 40), case when n % 3 = 0 then 'high' else 'low' end, now() - make_interval(hours => n), now()
    from generate_series(1, ${many}::int) n`;
  await vacuumed(api, ['companies', 'deals', 'conversations', 'activities', 'tasks']);
}, 120_000);
afterAll(() => api.close());

const found = async (path: string): Promise<Loose> => dataOf(await acme.owner.get(path));

describe('companies by their open deals', () => {
  it.each([
    ['true', even],
    ['false', (n: number) => !even(n)],
  ] as [string, (n: number) => boolean][])('are counted by these, and read in order: %s', async (has, holds) => {
    const expected = numbers.filter(holds).toReversed();
    for (const page of [1, 7, 200]) {
      const { data, meta } = await found(`/companies?has_open_deals=${has}&per_page=100&page=${page}`);
      const names = (data as Loose[]).map(({ name }) => Number(name));
      expect([meta.total, names]).toEqual([expected.length, expected.slice((page - 1) * 100, page * 100)]);
    }
    const plan = await planOf(api, 'from companies', () => found(`/companies?has_open_deals=${has}`));
    expect(plan).toMatch(/CTE counted.*Index Only Scan using deals_open_by_company.*CTE walked/s);
  });
});

describe('deals by the day on which they are to close, and by their probability', () => {
  it.each(['expectedCloseDate', 'probability'])('are read in order from an index, both ways: %s', async (sort) => {
    for (const [order, index] of [
      ['asc', ''],
      ['desc', '_desc'],
    ]) {
      const plan = await planOf(api, 'from deals', () => found(`/deals?sort=${sort}&order=${order}&per_page=20`));
      const column = sort === 'probability' ? sort : 'expected_close_date';
      // The rows of the page leave the index in their order: nothing sorts the others.
      expect(plan).toMatch(new RegExp(`Limit [^\\n]*\\n *-> +Index Scan using deals_by_${column}${index} `));
    }
  });
});

describe('deals by what they bear or lead to', () => {
  it('are put together of those that each index finds, and not looked up again', async () => {
    const all = await found('/deals?search=deal&per_page=3');
    expect([all.meta.total, all.data.length]).toEqual([many + many, 3]);
    expect((await found('/deals?search=deal&status=won')).meta.total).toBe(many);
    // By the company's name, which begins with it: three with each even one, one with each other.
    const companies = numbers.filter((n) => String(n).startsWith('29'));
    const expected = companies.reduce((sum, n) => sum + (even(n) ? 3 : 1), 0);
    expect((await found('/deals?search=29')).meta.total).toBe(expected);
    for (const query of ['search=deal', 'search=deal&status=won']) {
      const plan = await planOf(api, 'from deals', () => found(`/deals?${query}`));
      const matching = /CTE matching(.*?)InitPlan \d+[^\n]*\n +-> +Aggregate/s.exec(plan)![1]!;
      expect(matching).toMatch(/deals_search.*deals_by_contact.*deals_by_company/s);
      expect(matching).not.toMatch(/deals_id_key|deals_pkey/);
    }
  });
});

const indexCalled = async (name: string): Promise<string> => {
  const { rows } = await api.app.database.execute(
    'select pg_get_indexdef(indexrelid) as of from pg_index where indexrelid = $1::text::regclass',
    [name],
  );
  return (rows as { of: string }[])[0]!.of;
};

describe('appointments of a calendar', () => {
  it('are counted by their status and who they are for without the rows', async () => {
    expect(await indexCalled('appointments_by_calendar')).toContain(
      '(account_id, calendar_id, start_time, id) INCLUDE (status, assigned_to)',
    );
  });
});

describe('invoices by their status', () => {
  it.each(['draft', 'void', 'overdue'])('are counted and read from one index: %s', async (status) => {
    const { id: contactId } = await acme.contact();
    await acme.invoice({ contactId });
    const { meta, data } = await found(`/invoices?status=${status}`);
    expect(meta.total).toBe(data.length);
    expect(await indexCalled('invoices_by_status')).toContain(
      '(account_id, status, created_at, id) INCLUDE (due_date, total, amount_paid)',
    );
  });
});

describe('the summary of deals', () => {
  it('is read from an index alone', async () => {
    const { meta } = await found('/deals?summary=true');
    expect(meta.summary.count).toBe(meta.total);
    const plan = await planOf(api, "'byStage'", () => found('/deals?summary=true'));
    expect(plan).toContain('Index Only Scan using deals_in_figures');
  });
});

describe('conversations by whose turn it is', () => {
  const all = numbersTo(many);
  const isClosed = (n: number) => n % 100 === 0;
  const isIdle = (n: number) => n % 50 === 1;
  const states: [string, (n: number) => boolean, string][] = [
    ['closed', isClosed, 'using conversations_closed'],
    ['idle', (n) => !isClosed(n) && isIdle(n), 'Bitmap Index Scan on conversations_by_last_message_desc'],
    ['awaiting_reply', (n) => !isClosed(n) && !isIdle(n) && even(n), 'Index Only Scan using conversations_by_last_message_desc'],
    ['replied', (n) => !isClosed(n) && !isIdle(n) && !even(n), 'Index Only Scan using conversations_by_last_message_desc'],
  ];

  it.each(states)('are counted by an index, and read in order: %s', async (state, holds, index) => {
    const { data, meta } = await found(`/conversations?state=${state}&per_page=20`);
    expect(meta.total).toBe(all.filter(holds).length);
    expect((data as Loose[]).map(({ conversationState }) => conversationState)).toEqual(Array(20).fill(state));
    const plan = await planOf(api, 'from conversations', () => found(`/conversations?state=${state}`));
    expect(plan).toContain(index);
  });
});

describe('companies by their owner and their stage', () => {
  const filters: [string, (n: number) => boolean, string][] = [
    ['owner_id', (n) => n % 7 === 0, 'Index Only Scan using companies_by_owner'],
    ['lifecycle_stage', (n) => n % 60 === 1, 'companies_by_lifecycle_stage'],
  ];

  it.each(filters)('are told by an index: %s', async (name, holds, index) => {
    const path = `/companies?${name}=${name === 'owner_id' ? acme.ownerId : 'LEAD'}`;
    expect((await found(path)).meta.total).toBe(numbers.filter(holds).length);
    expect(await planOf(api, 'from companies', () => found(path))).toContain(index);
  });
});

describe('deals that need something done', () => {
  it('are counted by indexes, with the tasks of the account alone', async () => {
    const open = await found('/deals?status=open&count=none');
    expect(open.data.length).toBeGreaterThan(0);
    const [task] = (open.data as Loose[]).map(({ id }) => id);
    const all = (await found('/deals?status=open')).meta.total as number;
    expect((await found('/deals?needs_action=true')).meta.total).toBe(all);
    await acme.task({ dealId: task, dueDate: '2999-01-01T00:00:00Z' });
    expect((await found('/deals?needs_action=true')).meta.total).toBe(all - 1);
    const { meta, data } = await found('/deals?needs_action=false&per_page=200');
    expect(meta.total).toBe((await found('/deals')).meta.total - all + 1);
    expect((data as Loose[]).filter(({ status }) => status === 'open').length).toBeLessThanOrEqual(1);
    const plan = await planOf(api, 'from deals', () => found('/deals?needs_action=true'));
    expect(plan).toMatch(/CTE seen/);
    expect(plan).toMatch(/Index Only Scan using deals_by_status/);
    expect(plan).toMatch(/ on tasks[^\n]*\n[^\n]*account_id = '/);
  });
});

describe('searches of the log', () => {
  const searched = async (text: string) => (await found(`/activities?type=call&search=${encodeURIComponent(text)}&per_page=3`)) as Loose;
  const ofThe = (data: Loose[]) => data.map(({ description }) => Number(description));

  it('count what many entries meet without keeping it, and show the newest first', async () => {
    for (const [text, total, newest] of [
      ['missed', many / 2, [1, 3, 5]],
      ['99', numbersTo(many).filter((n) => String(n).includes('99')).length, [99, 199, 299]],
      ['nothing like it', 0, []],
    ] as [string, number, number[]][]) {
      const { data, meta } = await searched(text);
      expect([text, meta.total, ofThe(data)]).toEqual([text, total, newest]);
    }
    const plan = await planOf(api, 'from activities', () => searched('missed'));
    expect(plan).toMatch(/CTE matching.*CTE seen.*One-Time Filter/s);
  });
});

describe('tasks by their priority', () => {
  it.each([
    ['high', many / 3],
    ['low', many - many / 3],
  ])('are counted by the index of their places: %s', async (priority, total) => {
    const { data, meta } = await found(`/tasks?priority=${priority}&per_page=5`);
    expect([meta.total, (data as Loose[]).map((task) => task.priority)]).toEqual([total, Array(5).fill(priority)]);
    const plan = await planOf(api, 'from tasks', () => found(`/tasks?priority=${priority}`));
    expect(plan).toMatch(/Index Only Scan using tasks_by_priority/);
  });
});

describe('contacts by an e-mail address in a condition', () => {
  it('are looked up by it in lower case, one or several', async () => {
    await api.app.database.prisma
      .$executeRaw`update contacts set email = 'Person' || first_name || '@Example.com' where account_id = ${acme.id}::uuid`;
    await vacuumed(api, ['contacts']);
    for (const [op, value] of [
      ['eq', 'person7@example.COM'],
      ['in', ['person7@example.COM', 'PERSON8@example.com']],
    ] as const) {
      const path = `/contacts?filters=${encodeURIComponent(JSON.stringify({ field: 'email', op, value }))}`;
      expect((await found(path)).meta.total).toBe(op === 'eq' ? 1 : 2);
      expect(await planOf(api, 'from contacts', () => found(path))).toMatch(
        /Index (Only )?Scan using contacts_by_email|Bitmap Index Scan on contacts_by_email/,
      );
    }
  });
});
