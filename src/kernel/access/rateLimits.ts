import { isNativeError } from 'node:util/types';
import type { Redis, Result } from 'ioredis';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { Extensions } from 'type-graphql';
import type { RateLimits } from '../base/config.js';
import { AppError } from '../base/errors.js';
import { clientKey } from './clientKey.js';
import { Breaker } from './redisBreaker.js';

/** The named buckets of the contract's "Limits", and those that keep imports, mails and guesses within bounds. */
export type Bucket =
  | ('general' | 'key' | 'graphql' | 'login' | 'register' | 'security' | 'create' | 'form' | 'import')
  | ('failedLogin' | 'invite' | 'recipient' | 'vendorLine');

/** The rows of the contract's "Limits" that stand in the place of the general one, which is of "other endpoints". */
const insteadOfGeneral: readonly Bucket[] = ['login', 'register', 'create'];

/** Whether a request without a key spends the general bucket, by the named ones of its operation. */
export const spendsGeneral = (buckets: readonly Bucket[] = []): boolean => !buckets.some((bucket) => insteadOfGeneral.includes(bucket));

/** Marks a root field as spending named buckets besides its caller's own, once a field, through REST and GraphQL. */
export const Limited = (...buckets: Bucket[]) => Extensions({ buckets });

const seconds: Record<Bucket, number> = {
  general: 15 * 60,
  key: 60,
  graphql: 60,
  login: 15 * 60,
  register: 60 * 60,
  security: 60,
  create: 60,
  form: 60,
  import: 60,
  failedLogin: 15 * 60,
  invite: 60 * 60,
  recipient: 60 * 60,
  vendorLine: 60,
};

/** What spending one point of a bucket left. */
export interface Spent {
  bucket: Bucket;
  /** Whose bucket it is. */
  key: string;
  limit: number;
  remaining: number;
  /** When the bucket is full again. */
  resetAt: Date;
  refused: boolean;
}

// The counter only counts: each call brings its own limit, since keys have limits of their own.
const unlimited = 2 ** 31;

interface Counter {
  consume(key: string, points: number): Promise<RateLimiterRes>;
  /** What is spent in the window that goes on; null where none does. */
  get(key: string): Promise<RateLimiterRes | null>;
  /** Gives one point back to the window that ends in `left` milliseconds by the caller's clock, and to no other. */
  giveBack(key: string, left: number): Promise<unknown>;
}

interface CounterOptions {
  points: number;
  /** Seconds of a window. */
  duration: number;
  keyPrefix: string;
}

/**
 * Milliseconds by which the end of a window may differ from the one that a point was spent under. Windows of a key end at least one
 * duration apart, so half of it tells them apart, however late an answer came.
 */
const tolerance = ({ duration }: CounterOptions): number => (duration * 1000) / 2;

/** Milliseconds to the end of a window: never more than it is long, also where the clock that told its end was set back. */
const within = (duration: number, left: number): number => Math.min(left, duration * 1000);

/** Counts in process. */
class OwnCounter implements Counter {
  readonly #counts: RateLimiterMemory;

  constructor(private readonly options: CounterOptions) {
    this.#counts = new RateLimiterMemory(options);
  }

  consume(key: string, points: number): Promise<RateLimiterRes> {
    return this.#counts.consume(key, points);
  }

  get(key: string): Promise<RateLimiterRes | null> {
    return this.#counts.get(key);
  }

  async giveBack(key: string, left: number): Promise<void> {
    const window = await this.#counts.get(key);
    if (!window || window.consumedPoints <= 0 || window.msBeforeNext <= 0) return;
    const own = within(this.options.duration, window.msBeforeNext);
    if (Math.abs(own - left) < tolerance(this.options)) await this.#counts.reward(key, 1);
  }
}

// One script, so that the window cannot end between the look and the change: DECR of a key that has expired would make one that never does.
const giveBackScript = `
  local left = math.min(redis.call('pttl', KEYS[1]), 2 * tonumber(ARGV[2]))
  if left > 0 and math.abs(left - tonumber(ARGV[1])) < tonumber(ARGV[2]) and tonumber(redis.call('get', KEYS[1])) > 0 then
    redis.call('decr', KEYS[1])
  end
  return left`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    giveBackPoint(key: string, left: number, tolerance: number): Result<number, Context>;
  }
}

/** Counts in Redis, and in process while Redis is away. */
class SharedCounter implements Counter {
  readonly #shared: RateLimiterRedis;
  readonly #own: OwnCounter;

  constructor(
    private readonly redis: Redis,
    private readonly breaker: Breaker,
    private readonly options: CounterOptions,
  ) {
    this.#shared = new RateLimiterRedis({ storeClient: redis, ...options, rejectIfRedisNotReady: true });
    redis.defineCommand('giveBackPoint', { numberOfKeys: 1, lua: giveBackScript });
    this.#own = new OwnCounter(options);
  }

  consume(key: string, points: number): Promise<RateLimiterRes> {
    return this.breaker.ask(
      () => this.#shared.consume(key, points),
      () => this.#own.consume(key, points),
    );
  }

  get(key: string): Promise<RateLimiterRes | null> {
    return this.breaker.ask(
      () => this.#shared.get(key),
      () => this.#own.get(key),
    );
  }

  giveBack(key: string, left: number): Promise<unknown> {
    return this.breaker.ask<unknown>(
      () => this.redis.giveBackPoint(this.#shared.getKey(key), left, tolerance(this.options)),
      () => this.#own.giveBack(key, left),
    );
  }
}

/** Counts requests in fixed windows, one atomic step each: in process, or in Redis with the process as its insurance. */
export class Limiter {
  readonly #counters = new Map<number, Counter>();
  readonly #breaker?: Breaker;

  constructor(
    readonly limits: RateLimits,
    private readonly redis?: Redis,
    log?: Logger,
  ) {
    if (redis) this.#breaker = new Breaker(redis, log);
  }

  /** The limit of a bucket, from the environment. */
  limitOf(bucket: Bucket): number {
    return bucket === 'failedLogin' ? this.limits.login * 2 : this.limits[bucket];
  }

  async spend(bucket: Bucket, key: string, limit = this.limitOf(bucket)): Promise<Spent> {
    const result = await this.#counter(seconds[bucket]).consume(`${bucket}:${key}`, 1).catch(asResult);
    return this.#asSpent({ bucket, key, limit }, result);
  }

  /** How a bucket stands, without spending a point of it: `refused` once one was. */
  async look(bucket: Bucket, key: string, limit = this.limitOf(bucket)): Promise<Spent> {
    const window = await this.#counter(seconds[bucket]).get(`${bucket}:${key}`);
    const result = window && window.msBeforeNext > 0 ? window : { consumedPoints: 0, msBeforeNext: 0 };
    return this.#asSpent({ bucket, key, limit }, result);
  }

  #asSpent(
    of: Pick<Spent, 'bucket' | 'key' | 'limit'>,
    { consumedPoints, msBeforeNext }: Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>,
  ): Spent {
    return {
      ...of,
      remaining: Math.max(0, of.limit - consumedPoints),
      resetAt: new Date(Date.now() + Math.max(0, within(seconds[of.bucket], msBeforeNext))),
      refused: this.limits.enabled && consumedPoints > of.limit,
    };
  }

  /** Takes a spent point back: what it was spent on turned out not to count. Nothing of it is left once its window has ended. */
  async giveBack({ bucket, key, resetAt }: Pick<Spent, 'bucket' | 'key' | 'resetAt'>): Promise<void> {
    const duration = seconds[bucket];
    await this.#counter(duration).giveBack(`${bucket}:${key}`, within(duration, resetAt.getTime() - Date.now()));
  }

  #counter(duration: number): Counter {
    const known = this.#counters.get(duration);
    if (known) return known;
    const options = { points: unlimited, duration, keyPrefix: `crm:${duration}` };
    const { redis } = this;
    const counter = redis && this.#breaker ? new SharedCounter(redis, this.#breaker, options) : new OwnCounter(options);
    this.#counters.set(duration, counter);
    return counter;
  }
}

function asResult(error: unknown): RateLimiterRes {
  if (isNativeError(error)) throw error;
  return error as RateLimiterRes;
}

/** The 429 of a refused bucket: `retryAfter` is its reset in seconds. */
export class RateLimited extends AppError {
  constructor(readonly spent: Spent) {
    super('rate_limited', 'Too many requests', { retryAfter: Math.max(1, Math.ceil((spent.resetAt.getTime() - Date.now()) / 1000)) });
  }
}

export const limited = (spent: Spent): AppError => new RateLimited(spent);

const atLeastOne = (limiter: Limiter) => Math.max(1, limiter.limitOf('general'));

/**
 * Counts what comes from an address without credentials under a name of its own, apart from the address's other requests. Throws 429 once
 * there were more of it than an address has requests without a key (`RATE_LIMIT_GENERAL`); one is always taken.
 */
export async function limitAddress(limiter: Limiter, what: string, ip: string): Promise<void> {
  const spent = await limiter.spend('general', `${what}:${clientKey(ip)}`, atLeastOne(limiter));
  if (spent.refused) throw limited(spent);
}

/** Throws 429 once `limitAddress` has, and counts nothing: before it is known whether what comes is to be counted. */
export async function checkAddress(limiter: Limiter, what: string, ip: string): Promise<void> {
  const seen = await limiter.look('general', `${what}:${clientKey(ip)}`, atLeastOne(limiter));
  if (seen.refused) throw limited(seen);
}
