import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Loose } from './client.js';
import { eventually } from './live.js';
import { messagesLeft } from './outbox.js';

/** Below those that the system gives away, and apart by worker: nobody takes one of them while what is to listen on it begins. */
const ports = 20_000 + 1000 * (Number(process.env.JEST_WORKER_ID ?? 1) % 10);
let next = randomInt(1000);

/** A port of the loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports + (next++ % 1000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

export type Vendor = 'mail' | 'sms' | 'line' | 'stripe';

/** The simulators of the vendors as a process of their own, as `npm run vendors` runs them. */
export class Simulators {
  readonly outboxDir = mkdtempSync(join(tmpdir(), 'crm-vendors-'));
  output = '';
  readonly #child: ChildProcess;

  private constructor(publicUrl: string) {
    const env = { PATH: process.env.PATH ?? '', VENDORS_PORT: '0', OUTBOX_DIR: this.outboxDir, PUBLIC_URL: publicUrl };
    this.#child = spawn(process.execPath, ['--no-warnings', resolve('dist/src/simulators.js')], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
  }

  /** Those of a server with this public address. */
  static async begin(publicUrl: string): Promise<Simulators> {
    const simulators = new Simulators(publicUrl);
    while (!simulators.output.includes('# Ready')) await once(simulators.#child.stdout!, 'data');
    return simulators;
  }

  /** What they say is to be set. */
  get settings(): Record<string, string> {
    return Object.fromEntries([...this.output.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
  }

  /** Tells one of them what to do; its answer. */
  async tell(vendor: Vendor, what: string, told: object): Promise<Loose> {
    const base = new RegExp(`^# ${vendor} +(\\S+)$`, 'm').exec(this.output)?.[1];
    const reply = await fetch(`${base}/${what}`, { method: 'POST', body: JSON.stringify(told) });
    return (await reply.json()) as Loose;
  }

  /** Waits until a message has met each behaviour that one of them was told. */
  async met(vendor: Vendor): Promise<void> {
    await eventually(async () => (await this.tell(vendor, 'waiting', {})).waiting === 0, 20_000);
  }

  /** The messages to an address or a number, each file once. */
  sentTo(to: string): Loose[] {
    return messagesLeft(this).filter((one) => one.to === to);
  }

  async end(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exit;
    rmSync(this.outboxDir, { recursive: true, force: true });
  }
}
