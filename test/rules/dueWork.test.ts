import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitingWork } from '../../src/workers/dueWaiting.js';
import { DueWorkers } from '../../src/workers/dueWork.js';
import { sweep } from '../../src/workers/sweeps.js';
import { attempted, queued } from '../support/deliveries.js';
import { type Account, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

/** Later than anything that the server's own workers look for. */
const [year, due] = ['2100-01-01', '2099-01-01'];

let api: TestServer;
let accounts: Account[];
beforeAll(async () => {
  api = await server();
  accounts = [];
  for (let n = 0; n < 4; n++) accounts.push(await api.seed.account());
});
afterAll(() => api.close());

const query = (text: string, values: unknown[]) => api.app.database.execute(text, values);

/** Makes runs of a workflow of an account that come due one millisecond after the other. */
async function runsOf({ id }: Account, count: number, afterMs: number): Promise<void> {
  const workflow = api.app.clock.id();
  await query("insert into workflows (account_id, id, name, created_at, updated_at) values ($1::uuid, $2::uuid, 'W', now(), now())", [
    id,
    workflow,
  ]);
  await query(
    `insert into workflow_runs (account_id, id, workflow_id, workflow_name, trigger_event, event_at, started_at, created_at, updated_at, due_at)
    select $1::uuid, gen_random_uuid(), $2::uuid, 'W', 'contact.created', now(), now(), now(), now(),
      $3::timestamptz + make_interval(secs => (n + $4::int) / 1000.0) from generate_series(1, $5::int) n`,
    [id, workflow, due, afterMs, count],
  );
}

/** The accounts of rows in the order in which they are worked on, `most` at once, until `count` were. */
async function order(most: number, count: number): Promise<string[]> {
  const seen: string[] = [];
  const clock = Object.assign(Object.create(api.app.clock), { now: () => new Date(year) });
  const work = {
    table: 'workflow_runs',
    concurrency: most,
    async work(ctx: { caller: { account: { id: string } } }, { id }: { id: string }) {
      seen.push(ctx.caller.account.id);
      await query('update workflow_runs set due_at = null, leased_until = null where id = $1::uuid', [id]);
    },
  };
  const workers = new DueWorkers();
  workers.start(Object.assign(Object.create(api.app), { clock, registry: { ...api.app.registry, due: new Map([['turns', work]]) } }));
  await eventually(async () => seen.length >= count, 20_000);
  await workers.stop();
  await query('update workflow_runs set due_at = null, leased_until = null where due_at >= $1::timestamptz', [due]);
  return seen;
}

describe('rows that are due', () => {
  it('of one account do not hold up later ones of others, one at a time', async () => {
    const [busy, ...others] = accounts as [Account, ...Account[]];
    await runsOf(busy, 200, 0);
    for (const other of others) await runsOf(other, 2, 10_000);
    const first = (await order(1, 9)).slice(0, 9);
    for (const other of others) expect(first.filter((id) => id === other.id)).toHaveLength(2);
  });

  it('of very many accounts are looked at some accounts at a time: none of them waits for all rows of another', async () => {
    const [busy] = accounts as [Account];
    const found = await query(
      `insert into accounts (select (json_populate_record(a, json_build_object('id', gen_random_uuid()))).* from accounts a,
        generate_series(1, 450) where a.id = $1::uuid) returning id`,
      [busy.id],
    );
    const others = (found.rows as { id: string }[]).map(({ id }) => id);
    await query(
      `insert into workflows (account_id, id, name, created_at, updated_at)
        select id, id, 'W', now(), now() from unnest($1::uuid[]) id`,
      [others],
    );
    await query(
      `insert into workflow_runs (account_id, id, workflow_id, workflow_name, trigger_event, event_at, started_at, created_at, updated_at, due_at)
        select id, gen_random_uuid(), id, 'W', 'contact.created', now(), now(), now(), now(), $2::timestamptz + interval '1 minute' from unnest($1::uuid[]) id`,
      [others, due],
    );
    await runsOf(busy, 700, 0);
    const first = new Set((await order(16, 600)).slice(0, 600));
    expect(others.filter((id) => !first.has(id))).toEqual([]);
  });

  it('are all worked on, the oldest of an account first, where one alone has some', async () => {
    await runsOf(accounts[0]!, 40, 0);
    expect(new Set(await order(16, 40))).toEqual(new Set([accounts[0]!.id]));
  });
});

describe('a row in whose middle one process after the other has ended', () => {
  /** Works at a moment until something holds. Answers the rows that were worked on. */
  async function workedOnAt(moment: string, until: () => Promise<boolean>): Promise<string[]> {
    const seen: string[] = [];
    const clock = Object.assign(Object.create(api.app.clock), { now: () => new Date(moment) });
    const work = async (_ctx: unknown, { id }: { id: string }) => {
      seen.push(id);
      await query('update workflow_runs set due_at = null, leased_until = null where id = $1::uuid', [id]);
    };
    const registry = { ...api.app.registry, due: new Map([['lapsing', { table: 'workflow_runs', work }]]) };
    const workers = new DueWorkers();
    workers.start(Object.assign(Object.create(api.app), { clock, registry }));
    await eventually(until, 10_000);
    await workers.stop();
    return seen;
  }

  it('is left alone for a while, and then tried once more: what ended them may be mended', async () => {
    await runsOf(accounts[0]!, 1, 0);
    const { rows } = await query('select account_id, id, due_at from workflow_runs where due_at >= $1::timestamptz', [due]);
    const [{ account_id, id }] = rows as [{ account_id: string; id: string }];
    await query("insert into due_lapses (account_id, kind, id, n) values ($1, 'workflow_runs', $2, 5)", [account_id, id]);
    await query("update workflow_runs set leased_until = now() - interval '1 second' where id = $1", [id]);
    const isAt = (text: string) => async () => (await query(`select 1 from workflow_runs where id = $1 and ${text}`, [id])).rows.length > 0;
    expect(await workedOnAt(year, isAt(`due_at = '${year}T01:00:00Z' and leased_until is null`))).toEqual([]);
    expect(await workedOnAt(`${year}T01:00:01Z`, isAt('due_at is null'))).toEqual([id]);
    await eventually(async () => (await query('select from due_lapses', [])).rows.length === 0);
  });
});

describe('how often processes ended in the middle of the work on a row', () => {
  it('is forgotten where something else has settled it, or it is gone', async () => {
    await runsOf(accounts[0]!, 2, 0);
    const { rows: runs } = await query('select account_id, id from workflow_runs where due_at >= $1::timestamptz order by due_at', [due]);
    const [waits, settled] = runs as { account_id: string; id: string }[];
    const gone = { ...settled!, id: api.app.clock.id() };
    for (const { account_id, id } of [waits!, settled!, gone])
      await query("insert into due_lapses (account_id, kind, id, n) values ($1, 'workflow_runs', $2, 3)", [account_id, id]);
    await query('update workflow_runs set due_at = null where id = $1', [settled!.id]);
    await sweep(api.app);
    expect((await query('select kind, id, n from due_lapses', [])).rows).toEqual([{ kind: 'workflow_runs', id: waits!.id, n: 3 }]);
    await query('update workflow_runs set due_at = null where due_at >= $1::timestamptz', [due]);
    await sweep(api.app);
    expect((await query('select from due_lapses', [])).rows).toEqual([]);
  });
});

describe('what waits of rows that are due', () => {
  const waitingAt = async (moment: string) => {
    const clock = Object.assign(Object.create(api.app.clock), { now: () => new Date(moment) });
    const all = await waitingWork(Object.assign(Object.create(api.app), { clock }));
    return (queue: string) => all.find((one) => one.queue === queue);
  };

  it('is counted with the age of the oldest, without what somebody works on', async () => {
    await runsOf(accounts[0]!, 5, 0);
    await runsOf(accounts[1]!, 2, 60_000);
    const ids: string[] = [];
    for (const account of accounts) ids.push(await queued(api, account, { url: 'ftp://127.0.0.1/' }));
    // Until the server's own worker is through with them.
    for (const id of ids) await attempted(api, id, 1);
    await query('update webhook_deliveries set due_at = $1::timestamptz, leased_until = null where id = any($2::uuid[])', [due, ids]);
    const at = await waitingAt(`${due}T00:00:30Z`);
    expect(at('workflowRuns')).toMatchObject({ count: 5, age: expect.closeTo(30, 0) });
    expect(at('deliveries')).toEqual({ queue: 'deliveries', count: 4, age: 30 });
    await query(`update webhook_deliveries set leased_until = now() + interval '1 minute' where id = $1::uuid`, [ids[0]]);
    expect((await waitingAt(`${due}T00:00:30Z`))('deliveries')).toMatchObject({ count: 3 });
    await query('update webhook_deliveries set leased_until = null where id = any($1::uuid[])', [ids]);
    // The age is that of the oldest, whichever source has it.
    for (const [nth, id] of ids.entries()) {
      await query(`update webhook_deliveries set due_at = $1::timestamptz - interval '10 seconds' where id = $2::uuid`, [due, id]);
      expect([nth, (await waitingAt(`${due}T00:00:30Z`))('deliveries')]).toEqual([nth, { queue: 'deliveries', count: 4, age: 40 }]);
      await query('update webhook_deliveries set due_at = $1::timestamptz where id = $2::uuid', [due, id]);
    }
    expect((await waitingAt('2098-01-01'))('deliveries')).toEqual({ queue: 'deliveries', count: 0, age: 0 });
    await query('update workflow_runs set due_at = null where due_at >= $1::timestamptz', [due]);
    await query('update webhook_deliveries set due_at = null where id = any($1::uuid[])', [ids]);
  });

  it('is told of the others where one kind cannot be counted', async () => {
    await query('alter table workflow_runs rename to workflow_runs_away', []);
    try {
      await eventually(async () => {
        const { text } = await api.anybody().raw({ path: '/metrics' });
        return /queue_depth\{queue="events"\} \d/.test(text) && !/(depth|seconds)\{queue="workflowRuns"/.test(text);
      });
      const { text } = await api.anybody().raw({ path: '/metrics' });
      const unknown = [...text.matchAll(/^queue_unknown\{queue="(.+)"\} 1$/gm)].map(([, queue]) => queue);
      expect(unknown).toEqual([...api.app.registry.due.keys()]);
    } finally {
      await query('alter table workflow_runs_away rename to workflow_runs', []);
    }
    await eventually(async () => !(await api.anybody().raw({ path: '/metrics' })).text.includes('queue_unknown{'));
  });

  it('is told by the metrics, of every kind', async () => {
    await eventually(async () => (await api.anybody().raw({ path: '/metrics' })).text.includes('queue="workflowRuns"'));
    const { text } = await api.anybody().raw({ path: '/metrics' });
    for (const queue of api.app.registry.due.keys()) {
      expect(text).toMatch(new RegExp(`queue_depth\\{queue="${queue}"\\} \\d`));
      expect(text).toMatch(new RegExp(`queue_age_seconds\\{queue="${queue}"\\} \\d`));
    }
  });
});
