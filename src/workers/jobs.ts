import PgBoss from 'pg-boss';
import type { App } from '../kernel/context/context.js';
import type { Job, JobOptions, Jobs } from '../kernel/context/jobQueue.js';
import type { Transaction } from '../kernel/database/accountScope.js';
import type { Database } from '../kernel/database/index.js';
import { actingFor } from './acting.js';
import { sweep } from './sweeps.js';

/** A run that takes longer counts as crashed unless its job says otherwise, and its job is taken again. */
const leaseSeconds = 30;
/** How often crashed runs are looked for. */
const maintenanceSeconds = 5;
/** How often a queue is looked at when nobody says that there is work: jobs that begin later, wakes that were lost. */
const pollMs = 1000;
/** Jobs of one queue that run at once in this process. */
const concurrency = 4;
/** Sweeps run this often, in whichever process comes first. */
const sweepSeconds = 300;
const sweepQueue = 'sweep';

/** The wake of a queue's workers. */
const jobsWake = (queue: string) => `jobs:${queue}`;

type Taken = PgBoss.JobWithMetadata<Job>;

/** The queue: pg-boss in the server's own database, so that a job begins to exist with the change that asks for it. */
export class JobQueue implements Jobs {
  readonly #boss: PgBoss;
  readonly #workers: Worker[] = [];
  #timer?: NodeJS.Timeout;

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

  /** Makes the queues, and in a worker begins to work on them. @param sweeps whether it sweeps by itself every five minutes */
  async start(app: App, sweeps = true): Promise<void> {
    await this.#boss.start();
    const queues = [sweepQueue, ...app.registry.jobs.keys()];
    const known = new Set((await this.#boss.getQueues()).map((queue) => queue.name));
    for (const name of queues) if (!known.has(name)) await this.#boss.createQueue(name);
    if (!this.works) return;
    for (const name of queues) this.#workers.push(new Worker(app, this.#boss, name, (job) => run(app, job)));
    if (!sweeps) return;
    const sweeping = () => this.#boss.send(sweepQueue, {}, { singletonKey: 'all', singletonSeconds: sweepSeconds }).catch(this.#note);
    this.#timer = setInterval(sweeping, sweepSeconds * 500).unref();
    await sweeping();
  }

  async add(connection: Transaction, { queue, ...job }: Job, options: JobOptions = {}): Promise<void> {
    const executeSql = async (text: string, values: unknown[]) => ({
      rows: (await connection.$queryRawUnsafe(text, ...values)) as object[],
    });
    const { retryDelay } = options;
    await this.#boss.send(queue, job, { ...options, ...(retryDelay && { retryBackoff: true }), db: { executeSql } });
  }

  wake(queue: string): void {
    this.base.channel.publish(jobsWake(queue), '');
  }

  /** Takes no more jobs and waits for those that run; what is not done by then is taken by another worker. */
  async stop(patienceMs = 5000): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#workers.map((worker) => worker.stop(patienceMs)));
    await this.#boss.stop({ graceful: false });
  }

  #note = (error: Error) => this.base.log.warn({ err: error }, 'job queue');
}

async function run(app: App, { name, data, id, retryCount }: Taken): Promise<void> {
  if (name === sweepQueue) return sweep(app);
  const handler = app.registry.jobs.get(name)!;
  await handler(await actingFor(app, id, data), data.data, { id, retries: retryCount });
}

/** Works on one queue. Each job settles by itself, so that a crash repeats only what had not ended. */
class Worker {
  readonly #running = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  readonly #leave: () => void;
  #stopped = false;
  #woken = false;
  #wake = () => {};

  constructor(
    private readonly app: App,
    private readonly boss: PgBoss,
    private readonly queue: string,
    private readonly run: (job: Taken) => Promise<void>,
  ) {
    this.#leave = app.channel.subscribe(jobsWake(queue), () => this.#stir());
    this.#loop = this.#work();
  }

  async stop(patienceMs: number): Promise<void> {
    this.#stopped = true;
    this.#leave();
    this.#stir();
    await this.#loop;
    const patience = new Promise((resume) => setTimeout(resume, patienceMs).unref());
    await Promise.race([Promise.all(this.#running.values()), patience]);
    const unfinished = [...this.#running.keys()];
    for (const id of unfinished) await this.boss.fail(this.queue, id, { message: 'the server stopped' }).catch(this.#note);
  }

  #stir() {
    this.#woken = true;
    this.#wake();
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const free = concurrency - this.#running.size;
      const jobs = free > 0 ? await this.#take(free) : [];
      for (const job of jobs) this.#begin(job);
      if (jobs.length < free || free === 0) await this.#rest();
    }
  }

  async #take(batchSize: number): Promise<Taken[]> {
    try {
      return (await this.boss.fetch<Job>(this.queue, { batchSize, includeMetadata: true })) ?? [];
    } catch (error) {
      this.#note(error as Error);
      return [];
    }
  }

  /** Until somebody tells of work, there is room again, or the time has come to look. */
  #rest(): Promise<void> {
    if (this.#woken || this.#stopped) return Promise.resolve();
    return new Promise((resume) => {
      const timer = setTimeout(resume, pollMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resume();
      };
    });
  }

  #begin(job: Taken) {
    const running = this.#settle(job).finally(() => {
      const wasFull = this.#running.size >= concurrency;
      this.#running.delete(job.id);
      if (wasFull) this.#stir();
    });
    this.#running.set(job.id, running);
  }

  async #settle(job: Taken): Promise<void> {
    try {
      await this.run(job);
      await this.boss.complete(this.queue, job.id);
    } catch (error) {
      this.app.log.error({ err: error, queue: this.queue, job: job.id, retries: job.retryCount }, 'a job failed');
      await this.boss.fail(this.queue, job.id, { message: (error as Error).message }).catch(this.#note);
    }
  }

  readonly #note = (error: Error) => this.app.log.warn({ err: error, queue: this.queue }, 'job queue');
}

/** How many jobs of each queue are due, and for how many seconds the oldest has been. */
export async function waitingJobs(database: Database): Promise<{ queue: string; count: number; age: number }[]> {
  const { rows } = await database.execute(
    `select name as queue, count(*)::int as count, extract(epoch from now() - min(start_after))::float8 as age
     from pgboss.job where state in ('created', 'retry') and start_after <= now() group by name`,
  );
  return rows as { queue: string; count: number; age: number }[];
}
