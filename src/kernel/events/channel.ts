import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { serverOf, tryToWrite } from '../base/redis.js';

/** What a listener gets: a short text, or '' when messages may have been lost and the listener must poll. */
export type Listener = (payload: string) => void;

/**
 * Wakes across processes. A message may be lost or come twice, so it never carries what must arrive: who is woken looks
 * in the database.
 */
export interface Channel {
  publish(name: string, payload: string): void;
  /** Returns the way to stop. */
  subscribe(name: string, listener: Listener): () => void;
  /** Whether what other processes publish arrives here. While it does not, listeners poll now and then. */
  readonly connected: boolean;
  close(): void;
}

/** A channel within this process. */
export class MemoryChannel implements Channel {
  /** @param connected true where there can be no other process */
  constructor(readonly connected: boolean) {}

  readonly #listeners = new Map<string, Set<Listener>>();

  get names(): string[] {
    return [...this.#listeners.keys()];
  }

  has(name: string): boolean {
    return this.#listeners.has(name);
  }

  publish(name: string, payload: string): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(payload);
  }

  subscribe(name: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
    };
  }

  close(): void {
    this.#listeners.clear();
  }
}

const prefix = 'crm:wake:';
/** Between two looks whether what is published goes to the server that all others publish to. */
const lookMs = 1000;
/** All listeners poll once what listens is made anew: not more often than that, wherever the name leads. */
const restMs = 5000;

/** A channel through Redis. This process hears itself at once and does not need Redis for it. */
export class RedisChannel implements Channel {
  readonly #local = new MemoryChannel(true);
  readonly #subscriber: Redis;
  readonly #looks: NodeJS.Timeout;
  /** The server of the line that publishes, and of the one that listens: undefined while it is asked, '' where it has not told. */
  readonly #servers: { publishing?: string; listening?: string } = {};
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Whether a new line publishes, to a server of which nobody knows whether it is the one of before. */
  #isUnsure = false;
  #publishingLines = 0;

  /** @param redis fails at once while Redis is gone; a connection of its own is made for listening */
  constructor(
    private readonly redis: Redis,
    private readonly log: Logger,
  ) {
    const subscriber = new Redis({
      ...redis.options,
      // A subscription that ioredis renews by itself and that fails is an unhandled rejection, which ends the process.
      autoResubscribe: false,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    });
    subscriber.on('error', (error: Error) => log.debug({ err: error.message }, 'the channel has lost Redis'));
    subscriber.on('message', (name: string, payload: string) => this.#local.publish(name.slice(prefix.length), payload));
    subscriber.on('ready', () => {
      // It answers no other commands once it listens.
      void this.#noteServer('listening', subscriber);
      this.#begin();
    });
    this.#subscriber = subscriber;
    redis.on('ready', this.#notePublishing);
    if (redis.status === 'ready') void this.#notePublishing();
    this.#looks = setInterval(() => this.#look(), lookMs).unref();
  }

  get connected(): boolean {
    return this.#subscriber.status === 'ready' && this.redis.status === 'ready';
  }

  publish(name: string, payload: string): void {
    this.#local.publish(name, payload);
    this.redis.publish(prefix + name, payload).catch((error: Error) => this.log.debug({ err: error.message }, 'a wake was not published'));
  }

  subscribe(name: string, listener: Listener): () => void {
    const isFirst = !this.#local.has(name);
    const leave = this.#local.subscribe(name, listener);
    if (isFirst) this.#send('subscribe', name);
    return () => {
      leave();
      if (!this.#local.has(name)) this.#send('unsubscribe', name);
    };
  }

  /** A replica takes what is published and keeps it to itself. It refuses a write, after which a new line is made (`connectRedis`). */
  #look(): void {
    if (this.redis.status !== 'ready') return;
    tryToWrite(this.redis).then(
      () => this.#follow(),
      (error: Error) => this.log.debug({ err: error.message }, 'Redis takes no write'),
    );
  }

  readonly #notePublishing = async () => {
    this.#publishingLines++;
    await this.#noteServer('publishing', this.redis);
  };

  async #noteServer(by: 'publishing' | 'listening', line: Redis): Promise<void> {
    this.#servers[by] = undefined;
    try {
      this.#servers[by] = await serverOf(line);
    } catch (error) {
      this.#servers[by] = '';
      this.log.debug({ err: error }, 'a server of Redis does not tell which one it is');
    }
    // Who may not ask which one it is takes each new line for one to another.
    if (by === 'publishing') this.#isUnsure = !this.#servers.publishing && this.#publishingLines > 1;
    this.#follow();
  }

  /**
   * What is published may go to another server by now: what listens follows it there. A new line to the same one, as after an answer that
   * was late, changes nothing.
   */
  #follow(): void {
    const { publishing, listening } = this.#servers;
    const isElsewhere = publishing && listening !== undefined && publishing !== listening;
    if (!(isElsewhere || this.#isUnsure) || !this.connected || performance.now() - this.#renewedAt < restMs) return;
    this.#renewedAt = performance.now();
    this.#isUnsure = false;
    this.#subscriber.disconnect(true);
  }

  /** A new line listens to nothing yet, and what was published while there was none is lost: listeners must poll. */
  #begin() {
    for (const name of this.#local.names) this.#send('subscribe', name).then(() => this.#local.publish(name, ''));
  }

  /** What is not answered on a line that seems to be there is asked again on another. */
  async #send(command: 'subscribe' | 'unsubscribe', name: string): Promise<void> {
    const subscriber = this.#subscriber;
    try {
      await subscriber[command](prefix + name);
    } catch (error) {
      this.log.debug({ err: error }, `could not ${command}`);
      if (subscriber.status === 'ready') subscriber.disconnect(true);
    }
  }

  close(): void {
    clearInterval(this.#looks);
    this.redis.off('ready', this.#notePublishing);
    this.#local.close();
    this.#subscriber.disconnect();
  }
}
