import { Redis } from 'ioredis';
import type { Logger } from 'pino';

const retryStrategy = (attempt: number) => Math.min(50 * attempt, 500);

/** What a server answers, by itself or out of a script, that is not the one for writes: the name may lead to another one by now. */
const isElsewhere = /(?:^|-)(?:READONLY|MASTERDOWN|LOADING) /;

/** A command on a dead Redis must fail at once: the limiter goes on in process, the channels by polling. */
export function connectRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // The limiter gives up sooner by itself: this is for what else is asked.
    commandTimeout: 1000,
    connectTimeout: 2000,
    retryStrategy,
    reconnectOnError: ({ message }) => isElsewhere.test(message),
  });
  redis.on('error', (error: Error) => log.warn({ err: error.message }, 'Redis'));
  return redis;
}

/** Asks whether writes are taken: a replica, and a server that has no room for more, answer what only reads. */
export const tryToWrite = (redis: Redis): Promise<unknown> => redis.set('crm:probe', '1', 'PX', 1000);

/** Whether Redis itself says no: its line works. */
export const isRefusal = (error: Error): boolean => error.name === 'ReplyError';

/** Which server a line leads to, by the id that it gave itself as it began; '' where it does not tell. */
export const serverOf = async (redis: Redis): Promise<string> => /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? '';
