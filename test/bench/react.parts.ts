import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { type Account, send } from './client.js';
import type { Running } from './process.js';

/** Counts what it is sent, and answers 200. */
export class Sink {
  times: number[] = [];
  url = '';
  /** Told of each body, where somebody wants to know. */
  heard?: (body: string) => void;
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => this.heard && chunks.push(chunk));
    request.on('end', () => {
      this.times.push(performance.now());
      this.heard?.(Buffer.concat(chunks).toString());
      response.end();
    });
  });

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What came in a second, from the first to the last of so many. */
  async rate(count: number): Promise<number> {
    while (this.times.length < count) await setTimeout(5);
    const rate = (count - 1) / ((this.times[count - 1]! - this.times[0]!) / 1000);
    this.times = [];
    return rate;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Wanted {
  count: number;
  events?: string[];
}

/** Registers webhooks of an account, each with an address of its own; answers their ids. */
export const webhooksOf = (server: Running, { headers }: Account, { count, events = ['contact.created'] }: Wanted, sink: Sink) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const body = { url: `${sink.url}/${n}`, events };
      return (await send(`${server.url}/api/v1/webhooks/manage`, body, headers)).data.id as string;
    }),
  );

const actions = [{ type: 'create_task', config: { title: 'Call' } }];

/** Makes a workflow that creates a task, and activates it. */
export async function workflowOf(server: Running, { headers }: Account, name: string, trigger: object): Promise<void> {
  const { data } = await send(`${server.url}/api/v1/workflows`, { name, trigger, actions }, headers);
  await send(`${server.url}/api/v1/workflows/${data.id}/activate`, {}, headers);
}

/** Makes contacts of an account by hand; answers their ids. */
export async function contactsOf(database: pg.Client, { id }: Account, count: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `insert into contacts (account_id, id, first_name, email, city, created_at, updated_at)
    select $1::uuid, gen_random_uuid(), 'Ada', 'ada.' || n || '@react.example', 'Oslo', now(), now() from generate_series(1, $2::int) n returning id`,
    [id, count],
  );
  return rows.map((row) => row.id);
}

/** The servers over one database: one that answers, one that works. */
export interface Stage {
  database: pg.Client;
  databaseUrl: string;
  api: Running;
  worker: Running;
  sink: Sink;
}

const behind = `select (select count(*) from webhook_deliveries where due_at is not null)::int
  + (select count(*) from feed_readers r join feed_heads h using (account_id) where r.pos < h.pos)::int
  + (select count(*) from outbox_events e where not exists (
    select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq))::int as n`;

/** Waits until the worker has nothing left to do; what waits to be sent is not sent. */
export async function drained(database: pg.Client): Promise<void> {
  for (;;) {
    await database.query(
      "update webhook_deliveries set status = 'cancelled', due_at = null where due_at is not null and leased_until is null",
    );
    const { rows } = await database.query<{ n: number }>(behind);
    if (rows[0]!.n === 0) return;
    await setTimeout(50);
  }
}
