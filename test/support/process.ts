import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { resolve } from 'node:path';
import { startedWith } from './started.js';

/** The built server as a process of its own, as `npm start` runs it. */
export class ServerProcess {
  output = '';
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;

  constructor(env: Record<string, string>) {
    const { PATH = '' } = process.env;
    const { flags, settings } = startedWith();
    this.#child = spawn(process.execPath, ['--no-warnings', ...flags, resolve('dist/src/main.js')], {
      env: { PATH, PORT: '0', ...settings, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.#exit = once(this.#child, 'exit').then(([code]) => code as number | null);
  }

  /** The address that it listens on, once the banner is printed. */
  async address(): Promise<string> {
    for (;;) {
      const found = /^ {2}REST +(http\S+)\/api\/v1$/m.exec(this.output)?.[1];
      if (found) return found;
      const ended = await Promise.race([this.#exit, once(this.#child.stdout!, 'data').then(() => 'more' as const)]);
      if (ended !== 'more') throw new Error(`The server ended with ${ended}: ${this.output}`);
    }
  }

  /** Resident memory in MiB. */
  memory(): number {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))![1]) / 1024;
  }

  /** How far its priority lies below the usual one, as by `nice`. */
  niceness(): number {
    return getPriority(this.#child.pid);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Its exit code, once it has ended; null when a signal ended it. */
  ended(): Promise<number | null> {
    return this.#exit;
  }

  /** Ends it whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
