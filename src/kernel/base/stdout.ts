import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Characters of lines that wait for stdout; what comes on top of them is lost. */
const mostWaiting = 16 * 1024 * 1024;
/** Characters of several lines that are written at once. */
const mostAtOnce = 16 * 1024;
/** After how long stdout is tried again. */
const againMs = 20;
/** How often one write is tried again at the end of the process, where the reader of stdout does not read. */
const lastTries = 100;

const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMs);

/**
 * Lines on stdout. Where it takes none (a disk that is full, a reader that has stopped), they wait and are tried again, and nothing else
 * waits for them. At the end of the process they are written, and dropped where stdout still takes none. pino's own destination tries a
 * full disk for ever, and nothing else runs meanwhile.
 */
export class Stdout implements DestinationStream {
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

  /** Writes all that waits, as far as stdout takes it: at the end of the process, and after what is fatal (pino calls it). */
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
