import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../kernel/base/config.js';
import type { App } from '../kernel/context/context.js';
import type { Database } from '../kernel/database/index.js';
import { type Channel, MemoryChannel, RedisChannel } from '../kernel/events/channel.js';
import { FollowedFeeds } from '../kernel/events/followedFeeds.js';
import { type Waiting, waitingWork } from './dueWaiting.js';
import { DueWorkers } from './dueWork.js';
import { FeedReaders, queueOfReader, waitingForAll } from './feedReaders.js';
import { JobQueue, queuesOf, waitingJobs } from './jobs.js';
import { checkNumbers, outboxWake, Relay, waitingEvents } from './relay.js';
import { Statistics } from './statistics.js';

/** What waits in the queues, and those of which that cannot be told now, as where it takes too long to count. */
interface Told {
  waiting: Waiting[];
  unknown: string[];
}

/**
 * What goes on beside the requests, in every process that is not for the API alone: the relay of events, the readers of events, due rows,
 * jobs with the sweeps, and statistics. A process for the API alone has the channel, and puts jobs into the queue, but works on none.
 */
export class Background {
  readonly channel: Channel;
  readonly jobs: JobQueue;
  readonly followed = new FollowedFeeds();
  readonly #relay?: Relay;
  readonly #due?: DueWorkers;
  readonly #readers?: FeedReaders;
  readonly #statistics?: Statistics;
  #rested?: Promise<void>;
  #stopped = false;
  #app?: App;
  #looking?: Promise<Told>;

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
    this.#relay = new Relay(database, this.channel, log, { followed: this.followed, placed: (accounts) => readers.placed(accounts) });
    this.#due = new DueWorkers();
    this.#statistics = new Statistics(database, log);
  }

  /** Called after a commit that wrote events. */
  readonly eventsWritten = (account?: string): void => {
    if (this.#relay) this.#relay.wake(account);
    else this.channel.publish(outboxWake, '');
  };

  /**
   * What waits: events for their places and for those who read them, jobs and due rows for a worker. Asked for once, where several ask at a
   * time.
   */
  waiting(): Promise<Told> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<Told> {
    const app = this.#app;
    const asked: [queues: string[], Promise<Waiting[]>][] = [
      [['events'], waitingEvents(this.database).then((waiting) => [{ queue: 'events', ...waiting }])],
    ];
    if (app) {
      const { registry } = app;
      asked.push([queuesOf(registry), waitingJobs(this.database)]);
      asked.push([[...registry.readers.keys()].map(queueOfReader), waitingForAll(app)]);
      asked.push([[...registry.due.keys()], waitingWork(app)]);
    }
    const told: Told = { waiting: [], unknown: [] };
    const tell = ([queues, asking]: (typeof asked)[number]) =>
      asking.then(
        (waiting) => void told.waiting.push(...waiting),
        () => void told.unknown.push(...queues),
      );
    await Promise.all(asked.map(tell));
    return told;
  }

  /** Makes what requests need: the queues, with what keeps them in order. Throws where events would be lost. */
  async prepare(app: App): Promise<void> {
    this.#app = app;
    await checkNumbers(this.database);
    await this.jobs.prepare(app);
  }

  /** Begins to look for work. The first looks take a tenth of a start, so nobody who could be answered should wait for them. */
  start(app: App, sweeps = true): void {
    if (this.#stopped) return;
    this.jobs.start(app, sweeps);
    this.#due?.start(app);
    this.#readers?.start(app);
    this.#relay?.start();
    this.#statistics?.start();
  }

  /** Takes no more work that comes due, while requests are still answered: what is under way has the whole time of the stop to end. */
  rest(): void {
    this.#stopped = true;
    this.#rested ??= this.#due?.stop();
  }

  async stop(): Promise<void> {
    this.rest();
    await Promise.all([this.jobs.stop(), this.#rested]);
    await this.#relay?.stop();
    await this.#readers?.stop();
    await this.#statistics?.stop();
    this.channel.close();
  }
}
