import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Context, JobHandler } from '../../src/kernel/context/context.js';
import { fromDatabase } from '../../src/kernel/database/errors.js';
import { type Sql, sql } from '../../src/kernel/database/sql.js';
import { actingForPerson } from '../../src/modules/auth/auth.acting.js';
import { JobQueue } from '../../src/workers/jobs.js';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, onPostgres, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let crm: TestServer;
let account: Account;
let ctx: Context;
/** The queues of the tests, beside those of the modules. */
const declared = new Map<string, JobHandler>();
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  const app = { ...crm.app, registry: { ...crm.app.registry, jobs: declared } };
  ctx = (await actingForPerson(app, account.id, account.ownerId, 'test'))!;
});
afterAll(() => crm.close());

/** A worker beside the server's own, with jobs of the test's. */
async function worker(jobs: Record<string, JobHandler>, of = crm): Promise<JobQueue> {
  for (const [name, handler] of Object.entries(jobs)) declared.set(name, handler);
  const queue = new JobQueue(of.app, true);
  const app = { ...of.app, registry: { ...of.app.registry, jobs: new Map(Object.entries(jobs)) } };
  await queue.prepare(app);
  queue.start(app);
  return queue;
}

const waiting = async (queue: string) => {
  const { rows } = await crm.app.database.execute('select state::text, retry_count::int as retries from pgboss.job where name = $1', [
    queue,
  ]);
  return rows as { state: string; retries: number }[];
};

describe('a job', () => {
  it('runs once, as the person and in the account that caused it, and may change what they may', async () => {
    const runs: unknown[] = [];
    const jobs = await worker({
      'test.greet': async (inside, data) => {
        runs.push([inside.caller.userId, inside.caller.account.id, data]);
        await inside.transaction((tx) => tx.emit({ name: 'contact.updated', record: { id: data.id } }));
      },
    });
    const id = crm.clock.id();
    await ctx.transaction((inside) => inside.enqueue('test.greet', { id }));
    await eventually(async () => (await waiting('test.greet'))[0]?.state === 'completed');
    expect(runs).toEqual([[account.ownerId, account.id, { id }]]);
    await eventually(async () =>
      (await account.owner.get('/events')).body.data.data.some((event: { entityId: string }) => event.entityId === id),
    );
    await jobs.stop();
  });

  it('of a name that no module declares is a fault of ours, and takes its cause back', async () => {
    const leaving = ctx.transaction(async (inside) => {
      inside.insert('Tag', { name: 'never', color: '#000000' });
      await inside.enqueue('test.nobody', {});
    });
    const fault = (await leaving.catch((error: unknown) => error)) as Error;
    expect([fault.message, fromDatabase(fault)]).toEqual(['No module does jobs of the name test.nobody', undefined]);
    expect(await ctx.db.tag.count({ where: { name: 'never' } })).toBe(0);
  });

  it('is taken back with the transaction of its cause', async () => {
    const runs: unknown[] = [];
    const jobs = await worker({ 'test.undone': async (_ctx, data) => void runs.push(data) });
    const failing = ctx.transaction(async (inside) => {
      await inside.enqueue('test.undone', { n: 1 });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await ctx.enqueue('test.undone', { n: 2 });
    await eventually(() => runs.length > 0);
    expect(runs).toEqual([{ n: 2 }]);
    expect(await waiting('test.undone')).toHaveLength(1);
    await jobs.stop();
  });
});

describe('a job that is not done at once', () => {
  it('runs again after an error, as often as it says, and not before its time', async () => {
    const runs: number[] = [];
    const jobs = await worker({
      'test.stubborn': async (_ctx, _data, { retries }) => {
        runs.push(retries);
        throw new Error('not today');
      },
      'test.later': async () => void runs.push(99),
    });
    await ctx.enqueue('test.later', {}, { startAfter: 60 });
    await ctx.enqueue('test.stubborn', {}, { retryLimit: 1 });
    await eventually(async () => (await waiting('test.stubborn'))[0]?.state === 'failed');
    expect(runs).toEqual([0, 1]);
    expect(await waiting('test.later')).toEqual([{ state: 'created', retries: 0 }]);
    await jobs.stop();
  });

  it('waits while its account is suspended, as it was asked for', async () => {
    const runs: unknown[] = [];
    const other = await crm.seed.account();
    const app = { ...crm.app, registry: { ...crm.app.registry, jobs: declared } };
    const theirs = (await actingForPerson(app, other.id, other.ownerId, 'test'))!;
    await crm.app.database.prisma.account.update({ where: { id: other.id }, data: { suspendedAt: crm.clock.now() } });
    const jobs = await worker({ 'test.suspended': async (_ctx, data) => void runs.push(data) });
    await theirs.enqueue('test.suspended', { n: 1 }, { retryLimit: 7, expireInSeconds: 90 });
    const states = async () => (await waiting('test.suspended')).map(({ state }) => state).sort();
    await eventually(async () => (await states()).join() === 'completed,created');
    const { rows } = await crm.app.database.execute(
      `select data, retry_limit::int as tries, extract(epoch from expire_in)::int as seconds from pgboss.job
        where name = 'test.suspended' and state = 'created' and start_after > now() + interval '50 minutes'`,
    );
    expect(rows).toEqual([{ data: { accountId: other.id, userId: other.ownerId, data: { n: 1 } }, tries: 7, seconds: 90 }]);
    expect(runs).toEqual([]);
    await jobs.stop();
  });

  it('and that a stopping server does not finish, is left for another', async () => {
    let begun = 0;
    const first = await worker({ 'test.long': () => new Promise(() => void begun++) });
    await ctx.enqueue('test.long', {});
    await eventually(() => begun === 1);
    await first.stop(10);
    const second = await worker({ 'test.long': async () => void begun++ });
    await eventually(async () => (await waiting('test.long'))[0]?.state === 'completed');
    expect(begun).toBe(2);
    await second.stop();
  });

  it('is counted while it waits', async () => {
    const { prisma } = crm.app.database;
    expect(await prisma.$queryRaw`select name from pgboss.queue where name = 'test.later'`).toHaveLength(1);
    await ctx.enqueue('test.later', {});
    const text = await eventually(async () => {
      const reply = await crm.anybody().raw({ path: '/metrics' });
      return /queue_depth\{queue="test.later"\} 1/.test(reply.text) && reply.text;
    });
    expect(text).toMatch(/queue_depth\{queue="events"\} \d/);
    expect(text).toMatch(/queue_age_seconds\{queue="test.later"\} \d/);
  });
});

onPostgres(describe)('a worker that is killed', () => {
  it('leaves its job to another, when the lease is over', async () => {
    const { databaseUrl } = crm.place;
    const runs: number[] = [];
    const take: JobHandler = async (_ctx, _data, { retries }) => void runs.push(retries);
    declared.set('test.doomed', take);
    const child = spawn(process.execPath, ['--no-warnings', resolve('test/support/doomed.mjs'), databaseUrl!, 'test.doomed'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    await ctx.enqueue('test.doomed', {}, { expireInSeconds: 1 });
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const begun = Date.now();
    const jobs = await worker({ 'test.doomed': take });
    await eventually(() => runs.length > 0, 20_000);
    expect(runs).toEqual([1]);
    expect(Date.now() - begun).toBeLessThan(15_000);
    await jobs.stop();
  });
});

describe('a run of a job that was overtaken', () => {
  it.each(['ends well', 'fails'])('settles nothing when it %s: the job is of the run that has it now', async (how) => {
    const queue = `test.overtaken.${how.replace(' ', '')}`;
    const ends: (() => void)[] = [];
    const handler: JobHandler = (_ctx, _data, { retries }) =>
      new Promise((resolve, reject) => {
        ends[retries] = () => (retries === 0 && how === 'fails' ? reject(new Error('too late')) : resolve());
      });
    const jobs = await worker({ [queue]: handler });
    await ctx.enqueue(queue, {});
    await eventually(() => ends.length === 1);
    // As when its time is over.
    await crm.app.database.execute("update pgboss.job set state = 'retry' where name = $1", [queue]);
    await eventually(() => ends.length === 2);
    ends[0]!();
    // The run has settled, or not, once the worker logs so.
    await eventually(() => crm.logs.some((line) => line.includes(queue) && /another run has it|a job failed/.test(line)));
    await jobs.add(crm.app.database.prisma, { queue, accountId: account.id, userId: null, data: {} }, { startAfter: 1_000_000_000 });
    expect(await waiting(queue)).toContainEqual({ state: 'active', retries: 1 });
    ends[1]!();
    await eventually(async () => (await waiting(queue)).some(({ state, retries }) => state === 'completed' && retries === 1));
    await jobs.stop();
    crm.logs.length = 0;
  });
});

describe('an import whose job is gone', () => {
  it('is taken up again by the sweep', async () => {
    const { data } = (await account.owner.post('/imports', { rows: [{ lastName: 'Left behind' }] })).body;
    await crm.app.database.execute("update imports set status = 'processing' where id = $1::uuid", [data.id]);
    await sweep(crm.app);
    await eventually(async () => (await account.owner.get(`/imports/${data.id}`)).body.data.status === 'completed');
    const { rows } = await crm.app.database.execute("select state::text from pgboss.job where name = 'contactImport'");
    expect(rows).toHaveLength(1);
  });
});

describe('a sweep that fails in one account', () => {
  it('is done in the others, and fails as a job', async () => {
    const others = await Promise.all(Array.from({ length: 2 }, () => crm.seed.account()));
    const [first] = others.map(({ id }) => id).sort();
    const done: string[] = [];
    const work = async ({ caller }: Context) => {
      if (caller.account.id === first) throw new Error('not here');
      done.push(caller.account.id);
      return false;
    };
    const ids = others.map(({ id }) => id);
    const accounts = () => sql`select id from accounts where id = any(${ids}::uuid[]) order by id`;
    const after = { accounts: () => sql`${accounts()} desc`, work };
    const sweeps = new Map(Object.entries({ before: { accounts, work }, after }));
    const app = { ...crm.app, registry: { ...crm.app.registry, sweeps } };
    await expect(sweep(app)).rejects.toThrow('2 sweeps failed');
    const second = others.map(({ id }) => id).sort()[1];
    expect(done).toEqual([second, second]);
  });
});

describe('a sweep that has more to do than there is time for', () => {
  it('leaves the rest to the next one, and the others are done; none is where the process stops', async () => {
    let begun = 0;
    const endless = {
      rows: ({ most }: { most: Sql }) => sql`select generate_series(1, ${most})`,
      before: (now: Date) => {
        begun++;
        return now;
      },
    };
    let done = 0;
    const after = {
      accounts: () => sql`select id from accounts where id = ${account.id}::uuid`,
      work: async () => {
        done++;
        return false;
      },
    };
    const app = { ...crm.app, registry: { ...crm.app.registry, sweeps: new Map(Object.entries({ endless, after })) } };
    const time = { ofOne: 50, ofAll: 0 };
    await sweep(app, time);
    await sweep(app, time);
    expect([begun, done]).toEqual([2, 2]);
    await sweep({ ...app, ready: false }, time);
    expect([begun, done]).toEqual([2, 2]);
    const said = crm.logs.filter((line) => line.includes('there is more to sweep than there was time for'));
    expect(said.map((line) => JSON.parse(line).sweeps)).toEqual([['endless'], ['endless']]);
    const going = {
      ...app,
      get ready() {
        return begun < 5;
      },
    };
    await sweep(going, { ofOne: 10, ofAll: 60_000 });
    expect([begun, done]).toEqual([5, 3]);
  });

  it('has its job to itself until the next one is due', async () => {
    const queue = await worker({});
    const text = "select distinct extract(epoch from expire_in)::int as seconds from pgboss.job where name = 'sweep'";
    const kept = async () => (await crm.app.database.execute(text)).rows;
    await eventually(async () => (await kept()).length > 0);
    await queue.stop();
    expect(await kept()).toEqual([{ seconds: 300 }]);
  });
});
