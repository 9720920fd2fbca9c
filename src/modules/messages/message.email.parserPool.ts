import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { check, unavailable } from '../../kernel/base/errors.js';
import { TurnQueue } from '../../kernel/base/turnQueue.js';
import type { Mail, Read, Reading } from './message.email.parserWorker.js';

/** Milliseconds in which a mail must be read. */
const longestMs = 30_000;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Mails that are read at one time in this process, one of an account. */
const turns = new TurnQueue(2);
/** Threads that wait for the next mail. */
const idle: Worker[] = [];
/** A thread that read a larger mail is not kept: neither is the memory that it took. */
const mostBytesToStay = 1_000_000;

/**
 * Reads a mail in a thread beside the server. Undefined where it cannot be read, or not with 256 MB. Throws 503 where the thread
 * did not answer within thirty seconds (`most`, in milliseconds). Mails of one account (`whose`) wait for each other.
 */
export const readMail = (whose: string, reading: Reading, most = longestMs): Promise<Mail | undefined> =>
  turns.run(whose, async () => {
    const thread = idle.pop() ?? newThread();
    const read = await readIn(thread, reading, AbortSignal.timeout(most));
    if (read && reading.body.length <= mostBytesToStay) {
      thread.unref();
      idle.push(thread);
    } else void thread.terminate();
    check(read, () => unavailable('The mail could not be read for now', undefined, new Error('a mail was not read in its time')));
    return read.mail;
  });

function newThread(): Worker {
  const thread = new Worker(new URL('./message.email.parserWorker.js', import.meta.url), { resourceLimits, env: {} });
  // Whoever waits for an answer is told; else it is an end like any other.
  return thread
    .on('error', () => {})
    .on('exit', () => {
      if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
    });
}

/** What a thread answers; undefined where it did not answer in time. What takes more memory than it has cannot be read. */
async function readIn(thread: Worker, reading: Reading, signal: AbortSignal): Promise<Read | undefined> {
  thread.ref();
  thread.postMessage(reading);
  const [answer] = await once(thread, 'message', { signal }).catch((error) => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? [{}] : []));
  return answer as Read | undefined;
}
