import type { Logger } from 'pino';
import { AppError } from '../base/errors.js';
import { kindOfFault } from '../database/errors.js';
import { inLog, type RequestInfo } from './app.js';

/** Milliseconds between two lines of a kind: an outage fails thousands of requests a second. */
const pauseMs = 1000;

/** Writes a line, which tells how many of its kind were left out since the one before. */
type Line = (leftOut: number) => void;

interface Waiting {
  count: number;
  last?: Line;
}

/** Lines of a log of which each kind comes at most once a second: the first one at once, then the last one of each second. */
class RareLines {
  readonly #waiting = new Map<string, Waiting>();

  write(kind: string, line: Line): void {
    const waiting = this.#waiting.get(kind);
    if (waiting) {
      waiting.count++;
      waiting.last = line;
    } else this.#begin(kind, line, 0);
  }

  #begin(kind: string, line: Line, leftOut: number): void {
    const waiting: Waiting = { count: 0 };
    this.#waiting.set(kind, waiting);
    const end = () => {
      this.#waiting.delete(kind);
      if (waiting.last) this.#begin(kind, waiting.last, waiting.count - 1);
    };
    setTimeout(end, pauseMs).unref();
    line(leftOut);
  }
}

const linesOf = new WeakMap<Logger, RareLines>();

interface Logging {
  log: Logger;
}

/**
 * Warns that something was not done since the database, or a turn at it, was not to be had: because of an error, or of the cause that it
 * has as an answer to a caller. At most once a second for each message and each `code` (the SQLSTATE, else another code or the words of the
 * error): `leftOut` tells how many lines more there would have been.
 */
export function warnThrottled({ log }: Logging, error: unknown, message: string, request?: RequestInfo): void {
  const cause = (error instanceof AppError && error.cause) || error;
  const lines = linesOf.get(log) ?? new RareLines();
  linesOf.set(log, lines);
  const code = kindOfFault(cause);
  lines.write(`${message} ${code}`, (leftOut) =>
    log.warn({ err: cause, code, ...(request && inLog(request)), ...(leftOut > 0 && { leftOut }) }, message),
  );
}

/**
 * Warns of a request that is answered with 503 (`warnThrottled`), where something is behind it that an operator can look for; not of a
 * server that stops. Whoever answers calls it, whichever way the answer goes.
 */
export function logUnavailable(app: Logging, { code, cause }: AppError, request?: RequestInfo): void {
  if (code === 'unavailable' && cause !== undefined) warnThrottled(app, cause, 'a request was answered with 503', request);
}
