import { write, writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

/** Members of an error that hold what people entered: rows that PostgreSQL quotes, values of a statement, replies of a mail server. */
const quoting = new Set(['detail', 'where', 'parameters', 'params', 'response', 'rejected', 'rejectedErrors']);

/**
 * An address, as it stands in the words of a mail server. A package in a stack has a slash before its @. It is looked for where a word
 * begins, and in so many characters: a long text costs no more than its length.
 */
const address = /(?<![\p{L}\p{N}_.!#$%&*+?^~-])[\p{L}\p{N}_.!#$%&*+?^~-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

/** How deep the members of an error are looked at: those of Prisma's lie three levels below. Nothing below is told. */
const deepest = 6;

function withoutQuotes(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(address, '<address>');
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return undefined;
  if (Array.isArray(value)) return value.map((one) => withoutQuotes(one, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return withoutQuotes(value.toJSON(), depth + 1);
  const kept = Object.entries(value).filter(([name]) => !quoting.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutQuotes(member, depth + 1)]));
}

/** An error as the log tells it: without the members that quote what people entered, and without their addresses. */
const err = (error: Error) => withoutQuotes(stdSerializers.err(error));

/** Characters of lines that wait for stdout; what comes on top of them is lost. */
const mostWaiting = 16 * 1024 * 1024;
/** Characters of several lines that are written at once. */
const mostAtOnce = 16 * 1024;
/** After how long stdout is tried again, and how often at the end of the process where its reader does not read. */
const [againMs, lastTries] = [20, 100];

const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMs);

/**
 * Lines on stdout. Where it takes none (a disk that is full, a reader that has stopped), they wait and are tried again, and nothing else
 * waits for them; the end of the process drops them. pino's own destination tries a full disk for ever, and nothing else runs meanwhile.
 */
class Stdout implements DestinationStream {
  #parts: string[] = [];
  #waiting = 0;
  /** The part that is being written. */
  #part = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'pausing' = 'idle';

  constructor() {
    // What others write there, such as the banner, ends nothing either.
    process.stdout.on('error', () => {});
    process.on('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.#waiting + line.length > mostWaiting) return;
    this.#waiting += line.length;
    const last = this.#parts.at(-1);
    if (last !== undefined && last.length + line.length <= mostAtOnce) this.#parts[this.#parts.length - 1] = last + line;
    else this.#parts.push(line);
    this.#next();
  }

  #next(): void {
    if (this.#state !== 'idle') return;
    if (this.#part.length === 0) {
      const part = this.#parts.shift();
      if (part === undefined) return;
      this.#waiting -= part.length;
      this.#part = Buffer.from(part);
    }
    this.#state = 'writing';
    write(1, this.#part, (error, written) => {
      this.#part = this.#part.subarray(written);
      if (!error) return this.#goOn();
      this.#state = 'pausing';
      setTimeout(() => this.#goOn(), againMs).unref();
    });
  }

  #goOn(): void {
    this.#state = 'idle';
    this.#next();
  }

  /** Writes all that waits: at the end of the process, and after what is fatal (pino calls it). */
  flushSync(): void {
    let rest = Buffer.from(this.#parts.join(''));
    [this.#parts, this.#waiting] = [[], 0];
    // What is being written is on its way, and goes first.
    if (this.#state === 'writing') standStill();
    else [rest, this.#part] = [Buffer.concat([this.#part, rest]), Buffer.alloc(0)];
    for (let tries = 0; rest.length > 0; ) {
      try {
        rest = rest.subarray(writeSync(1, rest));
        tries = 0;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++tries > lastTries) return;
        standStill();
      }
    }
  }
}

/** The log of the server: JSON lines of a level and above, on stdout unless said otherwise. */
export function logger(level: string, destination: DestinationStream = new Stdout()): Logger {
  return pino({ level, serializers: { err } }, destination);
}
