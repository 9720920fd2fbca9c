import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../kernel/base/config.js';
import type { App } from '../kernel/context/context.js';
import type { Database } from '../kernel/database/index.js';
import { type Channel, MemoryChannel, RedisChannel } from '../kernel/events/channel.js';
import { JobQueue, waitingJobs } from './jobs.js';
import { outboxWake, Relay, waitingEvents } from './relay.js';

/** What goes on beside the requests: the relay and the jobs, in every process that is not for the API alone. */
export class Background {
  readonly channel: Channel;
  readonly jobs: JobQueue;
  readonly #relay?: Relay;

  constructor(
    { role }: Config,
    private readonly database: Database,
    redis: Redis | undefined,
    log: Logger,
  ) {
    // One process at most uses the embedded database: it does everything, and nobody is out of its reach.
    const isAlone = database.kind === 'pglite';
    const works = isAlone || role !== 'api';
    this.channel = redis ? new RedisChannel(redis, log) : new MemoryChannel(isAlone);
    this.jobs = new JobQueue({ database, channel: this.channel, log }, works);
    if (works) this.#relay = new Relay(database, this.channel, log);
  }

  /** Called after a commit that wrote events. */
  readonly eventsWritten = (): void => {
    if (this.#relay) this.#relay.wake();
    else this.channel.publish(outboxWake, '');
  };

  /** What waits: events for their places, jobs for a worker; how many, and how many seconds the oldest. */
  async waiting(): Promise<{ queue: string; count: number; age: number }[]> {
    const [events, jobs] = await Promise.all([waitingEvents(this.database), waitingJobs(this.database)]);
    return [{ queue: 'events', ...events }, ...jobs];
  }

  async start(app: App, sweeps = true): Promise<void> {
    await this.jobs.start(app, sweeps);
    this.#relay?.start();
  }

  async stop(): Promise<void> {
    await this.jobs.stop();
    await this.#relay?.stop();
    this.channel.close();
  }
}
