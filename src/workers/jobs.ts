import PgBoss from 'pg-boss';
import { minuteMs, secondMs } from '../kernel/base/durations.js';
import { pause } from '../kernel/base/eventLoop.js';
import type { App } from '../kernel/context/context.js';
import type { Job, JobOptions, Jobs } from '../kernel/context/jobQueue.js';
import type { Transaction } from '../kernel/database/accountScope.js';
import type { Database } from '../kernel/database/index.js';
import { actingForPerson } from '../modules/auth/auth.acting.js';
import { mostCounted, type Waiting } from './dueWaiting.js';
import { sweep } from './sweeps.js';
import { type Work, Worker } from './worker.js';

/** A run that takes longer counts as crashed unless its job says otherwise, and its job is taken again. */
const leaseSeconds = 30;
/** How often crashed runs are looked for. */
const maintenanceSeconds = 5;
/** Jobs of one queue that run at once in this process. */
const concurrency = 4;
/** Seconds that the jobs of a suspended account wait before they are looked at again. */
const suspendedSeconds = 60 * 60;
/** Sweeps run this often, in whichever process comes first. */
const sweepSeconds = 300;
const sweepQueue = 'sweep';
const queueLock = 7_240_113;

/** The wake of those who work on a queue, or on rows that are due. */
export const workWake = (queue: string) => `jobs:${queue}`;

/** What is kept of a job: its queue is the name that it is kept under. */
type Kept = Omit<Job, 'queue'>;
type Taken = PgBoss.JobWithMetadata<Kept>;

/** The queues that there are jobs for. */
export const queuesOf = ({ jobs }: App['registry']) => [sweepQueue, ...jobs.keys()];

/** The queue: pg-boss in the server's own database, so that a job begins to exist with the change that asks for it. */
export class JobQueue implements Jobs {
  readonly #boss: PgBoss;
  readonly #workers: Worker<Taken>[] = [];
  #timer?: NodeJS.Timeout;
  #sweeping?: Promise<unknown>;

  /** @param works whether this process works on jobs, or only adds them */
  constructor(
    private readonly base: Pick<App, 'database' | 'channel' | 'log'>,
    private readonly works: boolean,
  ) {
    const executeSql = (text: string, values: unknown[]) => base.database.execute(text, values);
    this.#boss = new PgBoss({
      db: { executeSql },
      schedule: false,
      supervise: works,
      maintenanceIntervalSeconds: maintenanceSeconds,
      expireInSeconds: leaseSeconds,
    });
    this.#boss.on('error', this.#note);
  }

  /** Makes the queues. */
  async prepare({ registry }: App): Promise<void> {
    await this.#boss.start();
    await this.#alone(() => this.#makeQueues(queuesOf(registry)));
  }

  /** In a worker, begins to work on them. @param sweeps whether it sweeps by itself every five minutes */
  start(app: App, sweeps = true): void {
    if (!this.works) return;
    for (const name of queuesOf(app.registry)) this.#workers.push(new Worker(app, queueWork(this.#boss, this.base.database, name)));
    if (!sweeps) return;
    // The sweeps together may take longer than a job usually does, and what one leaves the next one takes.
    const options = { singletonKey: 'all', singletonSeconds: sweepSeconds, expireInSeconds: sweepSeconds, retryLimit: 1 };
    const sweeping = () => this.#boss.send(sweepQueue, {}, options).catch(this.#note);
    // Asked for twice a period, so that none is left out; the queue takes one for each.
    this.#timer = setInterval(sweeping, sweepSeconds * 500).unref();
    this.#sweeping = sweeping();
  }

  async #makeQueues(queues: readonly string[]): Promise<void> {
    const known = new Set((await this.#boss.getQueues()).map((queue) => queue.name));
    for (const name of queues) if (!known.has(name)) await this.#boss.createQueue(name);
  }

  /** Of processes that start at once one makes the queues, and the others wait: each is a table, and two that make some may deadlock. */
  async #alone(work: () => Promise<void>): Promise<void> {
    const { database } = this.base;
    if (database.kind === 'pglite') return work();
    await database.prisma.$transaction(
      async (tx) => {
        await tx.$executeRaw`set local idle_in_transaction_session_timeout = '60s'`;
        // Asked again and again: a statement that waits is ended after some seconds.
        for (let mine = false; !mine; ) {
          [{ mine }] = await tx.$queryRaw<[{ mine: boolean }]>`select pg_try_advisory_xact_lock(${queueLock}) as mine`;
          if (!mine) await pause(100);
        }
        await work();
      },
      { timeout: minuteMs, maxWait: 10 * secondMs },
    );
  }

  async add(connection: Transaction, { queue, ...job }: Job, options: JobOptions = {}): Promise<void> {
    const executeSql = async (text: string, values: unknown[]) => ({
      rows: (await connection.$queryRawUnsafe(text, ...values)) as object[],
    });
    const { as: { userId, actor } = job, ...given } = options;
    await this.#boss.send(
      queue,
      { ...job, userId, actor },
      { ...given, ...(given.retryDelay && { retryBackoff: true }), db: { executeSql } },
    );
  }

  async has(queue: string, account: string, data: object): Promise<boolean> {
    const text = "select 1 from pgboss.job where name = $1 and state < 'completed' and data @> $2::jsonb limit 1";
    const { rows } = await this.base.database.execute(text, [queue, JSON.stringify({ accountId: account, data })]);
    return rows.length > 0;
  }

  wake(queue: string): void {
    this.base.channel.publish(workWake(queue), '');
  }

  /** Takes no more jobs and waits for those that run; what is not done by then is taken by another worker. */
  async stop(patienceMs = 5000): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await Promise.all(this.#workers.map((worker) => worker.stop(patienceMs)));
    await this.#boss.stop({ graceful: false });
  }

  #note = (error: Error) => this.base.log.warn({ err: error }, 'job queue');
}

/** A run of a job: each time it is taken counts as one, so that who was overtaken is known. */
const runOf = ({ id, retryCount }: Pick<Taken, 'id' | 'retryCount'>) => `${id} ${retryCount}`;

const isOurs = "name = $1 and id = $2::uuid and state = 'active' and retry_count = $3::int";

/**
 * How the runs of a queue are settled: only while the job is theirs. One whose time is over has been given to another run, or waits for
 * one, which settles it.
 */
const settling = (boss: PgBoss, { execute, prisma }: Database, queue: string) => {
  const placeOf = (run: string): [string, string, number] => {
    const [id, nth] = run.split(' ') as [string, string];
    return [queue, id, Number(nth)];
  };
  return {
    async complete(run: string): Promise<boolean> {
      const text = `update pgboss.job set state = 'completed', completed_on = now() where ${isOurs} returning 1`;
      return (await execute(text, placeOf(run))).rows.length > 0;
    },
    fail: (run: string, message: string): Promise<void> =>
      prisma.$transaction(async (tx) => {
        const executeSql = async (text: string, values: unknown[]) => ({ rows: await tx.$queryRawUnsafe<object[]>(text, ...values) });
        const { rows } = await executeSql(`select 1 as held from pgboss.job where ${isOurs} for update`, placeOf(run));
        if (rows.length > 0) await boss.fail(queue, placeOf(run)[1], { message }, { db: { executeSql } });
      }),
  };
};

/** The work on one queue. */
function queueWork(boss: PgBoss, database: Database, queue: string): Work<Taken> {
  const { complete, fail } = settling(boss, database, queue);
  return {
    wake: workWake(queue),
    concurrency,
    idOf: runOf,
    take: async (_app, batchSize) => (await boss.fetch<Kept>(queue, { batchSize, includeMetadata: true })) ?? [],
    async run(app, job) {
      try {
        await run(app, job);
        if (!(await complete(runOf(job))))
          app.log.warn({ queue, job: job.id, retries: job.retryCount }, 'a job took too long: another run has it');
      } catch (error) {
        app.log.error({ err: error, queue, job: job.id, retries: job.retryCount }, 'a job failed');
        await fail(runOf(job), (error as Error).message);
      }
    },
    abandon: (run) => fail(run, 'the server stopped'),
  };
}

/** Whether a job that began earlier still sweeps: two at once would wait for each other's rows. */
async function isSweptElsewhere({ database }: App, id: string): Promise<boolean> {
  const text = `select 1 as found from pgboss.job where name = $1 and state = 'active' and started_on + expire_in > now()
    and (started_on, id) < (select m.started_on, m.id from pgboss.job m where m.name = $1 and m.id = $2::uuid) limit 1`;
  return (await database.execute(text, [sweepQueue, id])).rows.length > 0;
}

async function run(app: App, job: Taken): Promise<void> {
  const { name, data, id, retryCount, retryLimit, retryDelay } = job;
  if (name === sweepQueue) return (await isSweptElsewhere(app, id)) ? undefined : sweep(app);
  const ctx = await actingForPerson(app, data.accountId, data.userId, id, data.actor);
  if (ctx) return app.registry.jobs.get(name)!(ctx, data.data, { id, retries: retryCount });
  app.log.info({ queue: name, job: id, accountId: data.accountId }, 'a job waits: its account is suspended');
  // PostgreSQL's driver hands its numeric on as a text.
  const expireInSeconds = Number(job.expireInSeconds);
  const asBefore = { retryLimit, retryDelay, expireInSeconds };
  await app.jobs.add(app.database.prisma, { ...data, queue: name }, { startAfter: suspendedSeconds, ...asBefore });
}

/** How many jobs of each queue are due, and for how many seconds the oldest has been; of those whose queue is empty nothing. */
export async function waitingJobs(database: Pick<Database, 'execute'>): Promise<Waiting[]> {
  const { rows } = await database.execute(
    `select q.name as queue, count(*)::int as count, extract(epoch from now() - min(w.start_after))::float8 as age
     from pgboss.queue q cross join lateral (
       select j.start_after from pgboss.job j where j.name = q.name and j.state < 'active' and j.start_after <= now()
       order by j.start_after limit ${mostCounted}) w
     group by q.name`,
  );
  return rows as Waiting[];
}
