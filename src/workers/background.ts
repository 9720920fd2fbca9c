import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../kernel/base/config.js';
import type { App } from '../kernel/context/context.js';
import type { Database } from '../kernel/database/index.js';
import { type Channel, MemoryChannel, RedisChannel } from '../kernel/events/channel.js';
import { DueWorkers } from './dueWork.js';
import { FeedReaders, waitingForAll } from './feedReaders.js';
import { JobQueue, waitingJobs } from './jobs.js';
import { outboxWake, Relay, waitingEvents } from './relay.js';

/** What goes on beside the requests: the relay and the jobs, in every process that is not for the API alone. */
export class Background {
  readonly channel: Channel;
  readonly jobs: JobQueue;
  readonly #relay?: Relay;
  readonly #due?: DueWorkers;
  readonly #readers?: FeedReaders;

  constructor(
    { role }: Config,
    readonly database: Database,
    redis: Redis | undefined,
    log: Logger,
  ) {
    // One process at most uses the embedded database: it does everything, and nobody is out of its reach.
    const isAlone = database.kind === 'pglite';
    const works = isAlone || role !== 'api';
    this.channel = redis ? new RedisChannel(redis, log) : new MemoryChannel(isAlone);
    this.jobs = new JobQueue({ database, channel: this.channel, log }, works);
    if (!works) return;
    const readers = new FeedReaders();
    this.#readers = readers;
    this.#relay = new Relay(database, this.channel, log, (accounts) => readers.placed(accounts));
    this.#due = new DueWorkers();
  }

  /** Called after a commit that wrote events. */
  readonly eventsWritten = (): void => {
    if (this.#relay) this.#relay.wake();
    else this.channel.publish(outboxWake, '');
  };

  /** What waits: events for their places, jobs for a worker; how many, and how many seconds the oldest. */
  async waiting(): Promise<{ queue: string; count: number; age: number }[]> {
    const [events, jobs, readers] = await Promise.all([waitingEvents(this.database), waitingJobs(this.database), waitingForAll(this)]);
    return [{ queue: 'events', ...events }, ...jobs, ...readers];
  }

  async start(app: App, sweeps = true): Promise<void> {
    await this.jobs.start(app, sweeps);
    this.#due?.start(app);
    this.#readers?.start(app);
    this.#relay?.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.jobs.stop(), this.#due?.stop()]);
    await this.#relay?.stop();
    await this.#readers?.stop();
    this.channel.close();
  }
}
