import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { startedWith } from '../support/started.js';

const tick = 10;
const startSeconds = 60;

interface Program {
  name: string;
  port: number;
  /** The compiled program, below the checkout's folder. */
  script: string;
  env?: Record<string, string>;
  /** Node's flags, instead of those of npm start. */
  flags?: string[];
  /** The checkout, instead of this one. */
  folder?: string;
  /** The port of its inspector. */
  inspected?: number;
}

/** A program of the bench as a process, with what `npm start` gives a server, or the flags that are to be tried. */
export function started({ env, flags, inspected, ...program }: Program): Running {
  const { flags: usual, settings } = startedWith();
  const inspector: Record<string, string> = inspected ? { NODE_OPTIONS: `--inspect=127.0.0.1:${inspected}` } : {};
  return new Running({ ...program, flags: flags ?? usual, env: { ...settings, ...inspector, ...env } });
}

interface OurServer extends Partial<Program> {
  port: number;
  databaseUrl: string;
  dataDir: string;
}

/** Our server over a database, without limits. */
export function ourServer({ databaseUrl, dataDir, env, ...program }: OurServer): Running {
  const quiet = { LOG_LEVEL: 'warn', RATE_LIMIT_ENABLED: '0', SECRET_KEY: 'b'.repeat(64) };
  const whole = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...quiet, ...env };
  return started({ name: 'the server', script: 'dist/src/main.js', ...program, env: whole });
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };
  holder.close();
  await once(holder, 'close');
  return port;
}

/** Milliseconds of processor time that a process has taken, all its threads together. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tick;
}

/** A server under test, as a process of its own. */
export class Running {
  readonly name: string;
  readonly url: string;
  readonly #child: ChildProcess;
  #output = '';

  constructor({ name, port, script, flags = [], env, folder = '.' }: Program) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    const { PATH = '' } = process.env;
    this.#child = spawn(process.execPath, ['--no-warnings', ...flags, resolve(folder, script)], {
      cwd: resolve(folder),
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

  /** Milliseconds of processor time so far. */
  cpu(): number {
    return cpuOf(this.#child.pid!);
  }

  /** Resident memory in MiB. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
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
