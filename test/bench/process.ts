import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startedWith } from '../support/started.js';

const tick = 10;
const startSeconds = 60;

/** A program of the bench as a process, with what `npm start` gives a server, or the flags that are to be tried. */
export function started(name: string, port: number, script: string, env: Record<string, string> = {}): Running {
  const { flags, settings } = startedWith();
  const tried = process.env.BENCH_FLAGS?.split(' ').filter(Boolean) ?? flags;
  return new Running(name, port, [...tried, resolve(script)], { ...settings, ...env });
}

/** Our server over a database, without limits; `inspected` is the port of its inspector. */
export function ourServer(port: number, databaseUrl: string, dataDir: string, inspected?: number): Running {
  const quiet = { LOG_LEVEL: 'warn', RATE_LIMIT_ENABLED: '0' };
  const inspector: Record<string, string> = inspected ? { NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` } : {};
  const env = { DATABASE_URL: databaseUrl, SECRET_KEY: 'b'.repeat(64), DATA_DIR: dataDir, ...quiet, ...inspector };
  return started('the server', port, 'dist/src/main.js', env);
}

/** A server under test, as a process of its own. */
export class Running {
  readonly url: string;
  readonly #child: ChildProcess;
  #output = '';

  constructor(
    readonly name: string,
    readonly port: number,
    args: string[],
    env: Record<string, string>,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    const { PATH = '' } = process.env;
    this.#child = spawn(process.execPath, ['--no-warnings', ...args], {
      env: { PATH, NODE_ENV: 'production', PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-10_000);
      });
    }
  }

  /** Resolves once the server answers; throws with what it printed when it ends before. */
  async ready(): Promise<void> {
    const patience = Date.now() + startSeconds * 1000;
    while (Date.now() < patience) {
      if (this.#child.exitCode !== null) break;
      const answer = await fetch(`${this.url}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      await new Promise((resume) => setTimeout(resume, 100));
    }
    throw new Error(`${this.name} did not start: ${this.#output}`);
  }

  /** Milliseconds of processor time that the process has taken, all its threads together. */
  cpu(): number {
    const fields = this.#proc('stat')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tick;
  }

  /** Resident memory in MiB. */
  memory(): number {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(this.#proc('status'))![1]) / 1024;
  }

  #proc(name: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'utf8');
  }

  /** SQL statements sent so far. */
  async statements(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(/^db_queries_total (\d+)$/m.exec(text)![1]);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
