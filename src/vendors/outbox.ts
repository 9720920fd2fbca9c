import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/base/clock.js';
import { dayMs, hourMs } from '../kernel/base/durations.js';

const keptMs = dayMs;
const ours = /^[\da-f-]{36}\.json(\.part)?$/;

/**
 * Where simulators leave what they would send: each message one JSON file, whole or not at all. Links in them let people in,
 * so a file goes after a day.
 */
export class Outbox {
  readonly #timer: NodeJS.Timeout;
  #swept = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
  ) {
    void this.#sweep();
    this.#timer = setInterval(() => void this.#sweep(), hourMs).unref();
  }

  /** Keeps a message under an id, a new one by default: the same id is the same file. */
  async write(message: object, id = this.clock.id()): Promise<string> {
    if (this.clock.now().getTime() - this.#swept > hourMs) await this.#sweep();
    const now = this.clock.now();
    const path = join(this.directory, `${id}.json`);
    await mkdir(this.directory, { recursive: true });
    await writeFile(`${path}.part`, JSON.stringify({ id, ...message, sentAt: now.toISOString() }, null, 2), { mode: 0o600 });
    await utimes(`${path}.part`, now, now);
    await rename(`${path}.part`, path);
    return id;
  }

  /** Removes what is older than a day; what is no message of ours stays. A directory that is not there has none. */
  async #sweep(): Promise<void> {
    const now = this.clock.now().getTime();
    this.#swept = now;
    const names = await readdir(this.directory).catch(() => []);
    for (const path of names.filter((name) => ours.test(name)).map((name) => join(this.directory, name))) {
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
      if (now - mtimeMs > keptMs) await rm(path, { force: true }).catch(() => {});
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
