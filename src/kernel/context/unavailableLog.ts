import type { Logger } from 'pino';
import { secondMs } from '../base/durations.js';
import { AppError, internalError } from '../base/errors.js';
import { writeRarely } from '../base/rareLines.js';
import { fromDatabase, kindOfFault } from '../database/errors.js';
import { inLog, type RequestInfo } from './app.js';

/** An outage fails thousands of requests a second. */
const pauseMs = secondMs;

interface Logging {
  log: Logger;
}

/**
 * Warns that something was not done since the database, or a turn at it, was not to be had: because of an error, or of the cause that it
 * has as an answer to a caller. At most once a second for each message and each `code` (the SQLSTATE, else another code or the words of the
 * error): `leftOut` tells how many lines more there would have been. `more` is told besides.
 */
export function warnThrottled({ log }: Logging, error: unknown, message: string, more: object = {}): void {
  const cause = (error instanceof AppError && error.cause) || error;
  const code = kindOfFault(cause);
  writeRarely(log, { kind: `${message} ${code}`, pauseMs }, (leftOut) => log.warn({ err: cause, code, ...more, ...leftOut }, message));
}

/**
 * Notes what nobody's answer depends on; false where the database cannot take it now, as it is read-only, its disk is full or somebody
 * holds the row: the log says so (`warnThrottled`). Other faults are thrown.
 */
export async function tryToNote(app: Logging, note: () => Promise<unknown>, message: string): Promise<boolean> {
  try {
    await note();
    return true;
  } catch (error) {
    if (fromDatabase(error)?.code !== 'unavailable') throw error;
    warnThrottled(app, error, message);
    return false;
  }
}

/**
 * Warns of a request that is answered with 503 (`warnThrottled`), where something is behind it that an operator can look for; not of a
 * server that stops. Whoever answers calls it, whichever way the answer goes.
 */
export function logUnavailable(app: Logging, { code, cause }: AppError, request?: RequestInfo): void {
  if (code === 'unavailable' && cause !== undefined)
    warnThrottled(app, cause, 'a request was answered with 503', request && inLog(request));
}

interface Asked {
  app: Logging;
  request: RequestInfo;
}

/** What a caller hears of an error: what is known of it, else that it is a fault of ours. The log is told what is behind either. */
export function answerTo({ app, request }: Asked, error: unknown, known: AppError | undefined, message: string): AppError {
  if (known) logUnavailable(app, known, request);
  else app.log.error({ err: error, ...inLog(request) }, message);
  return known ?? internalError();
}
