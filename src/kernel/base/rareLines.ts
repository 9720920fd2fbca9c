import type { Logger } from 'pino';

/** Writes a line, which tells how many of its kind were left out since the one before, where some were. */
type Line = (leftOut: { leftOut?: number }) => void;

interface Waiting {
  count: number;
  last?: Line;
}

interface Kind {
  kind: string;
  /** Milliseconds between two lines of the kind. */
  pauseMs: number;
}

/** Lines of a log of which each kind comes at most once in its pause: the first one at once, then the last one of each pause. */
class RareLines {
  readonly #waiting = new Map<string, Waiting>();

  write(of: Kind, line: Line): void {
    const waiting = this.#waiting.get(of.kind);
    if (waiting) {
      waiting.count++;
      waiting.last = line;
    } else this.#begin(of, line, 0);
  }

  #begin(of: Kind, line: Line, leftOut: number): void {
    const waiting: Waiting = { count: 0 };
    this.#waiting.set(of.kind, waiting);
    const end = () => {
      this.#waiting.delete(of.kind);
      if (waiting.last) this.#begin(of, waiting.last, waiting.count - 1);
    };
    setTimeout(end, of.pauseMs).unref();
    line(leftOut > 0 ? { leftOut } : {});
  }
}

const linesOf = new WeakMap<Logger, RareLines>();

/** Writes a line to a log, of its kind at most one in a pause; the last one of those that came meanwhile is written behind it. */
export function writeRarely(log: Logger, of: Kind, line: Line): void {
  const lines = linesOf.get(log) ?? new RareLines();
  linesOf.set(log, lines);
  lines.write(of, line);
}
