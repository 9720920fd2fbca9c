import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { type Account, account, send, statements } from './client.js';
import { emptyDatabase } from './database.js';
import { freePort, ourServer, type Running, started } from './process.js';
import { median } from './report.js';

/*
 * npm run bench:react: deliveries a second against a bare loop of SKIP LOCKED and undici (react.bare.ts), both with at most 40 under
 * way to 40 endpoints of one process; and contacts that are created a second by an account that has 20 webhooks and 20 workflows
 * for them, against one that has none: with the API alone, and with a worker beside it, which shares the machine.
 *
 *   REACT_DELIVERIES   deliveries of a round (3000)
 *   REACT_ROUNDS       rounds of each side, A B B A … (4)
 *   REACT_SECONDS      length of a round of contacts (3)
 *   BENCH_DATABASE_URL PostgreSQL, as one who may make databases
 */
const { REACT_DELIVERIES = '3000', REACT_ROUNDS = '4', REACT_SECONDS = '3' } = process.env;
const [deliveries, rounds, seconds] = [REACT_DELIVERIES, REACT_ROUNDS, REACT_SECONDS].map(Number) as [number, number, number];
const [endpoints, callers] = [40, 16];

/** Counts what it is sent, and answers 200. */
class Sink {
  times: number[] = [];
  url = '';
  readonly #server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      this.times.push(performance.now());
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

const webhooksOf = (server: Running, { headers }: Account, count: number, sink: Sink) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const body = { url: `${sink.url}/${n}`, events: ['contact.created'] };
      return (await send(`${server.url}/api/v1/webhooks/manage`, body, headers)).data.id as string;
    }),
  );

async function workflowsOf(server: Running, { headers }: Account, count: number): Promise<void> {
  const actions = [{ type: 'create_task', config: { title: 'Call' } }];
  for (let n = 0; n < count; n++) {
    const body = { name: `W${n}`, trigger: { event: 'contact.created', conditions: { city: `City ${n}` } }, actions };
    const { data } = await send(`${server.url}/api/v1/workflows`, body, headers);
    await send(`${server.url}/api/v1/workflows/${data.id}/activate`, {}, headers);
  }
}

const body = JSON.stringify({ event: 'contact.created', data: { firstName: 'Ada', text: 'x'.repeat(900) } });

interface Stage {
  database: pg.Client;
  databaseUrl: string;
  api: Running;
  worker: Running;
  sink: Sink;
}

/** Both sides of deliveries, in turn. */
async function sending({ database, databaseUrl, api, worker, sink }: Stage): Promise<void> {
  const own = await account(api, 'sender');
  const webhooks = await webhooksOf(api, own, endpoints, sink);
  await database.query(`create table bare_deliveries (id uuid primary key, url text, body text, status text default 'pending',
    due_at timestamptz, attempt int default 0, leased_until timestamptz, response_status int)`);
  await database.query('create index on bare_deliveries (due_at) where due_at is not null');
  const mine = async () => {
    const before = await statements(worker);
    await database.query(
      `insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, due_at, created_at, updated_at)
      select $1, gen_random_uuid(), w, w, gen_random_uuid(), 'contact.created', $3, now(), now(), now()
      from (select ($2::uuid[])[1 + n % $4] as w from generate_series(1, $5::int) n) x`,
      [own.id, webhooks, body, endpoints, deliveries],
    );
    const rate = await sink.rate(deliveries);
    await setTimeout(500);
    return { rate, sql: ((await statements(worker)) - before) / deliveries };
  };
  const bare = async () => {
    await database.query(
      `insert into bare_deliveries (id, url, body, due_at) select gen_random_uuid(), $1 || '/' || n % $2::int, $3, now()
      from generate_series(1, $4::int) n`,
      [sink.url, endpoints, body, deliveries],
    );
    const least = started({ name: 'the bare loop', port: 0, script: 'dist/test/bench/react.bare.js', env: { DATABASE_URL: databaseUrl } });
    const rate = await sink.rate(deliveries);
    await least.stop();
    return { rate, sql: 0 };
  };
  const seen = { mine: [] as number[], bare: [] as number[] };
  let sql = 0;
  await mine();
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['mine', 'bare'] as const) : (['bare', 'mine'] as const)) {
      const one = await (side === 'mine' ? mine() : bare());
      seen[side].push(one.rate);
      if (side === 'mine') sql = one.sql;
    }
  }
  const ratio = median(seen.mine.map((rate, n) => rate / seen.bare[n]!));
  console.log(
    `deliveries a second: ${median(seen.mine).toFixed(0)}, bare loop ${median(seen.bare).toFixed(0)}, ratio ${ratio.toFixed(2)}; ${sql.toFixed(2)} SQL each besides taking`,
  );
}

async function creating({ url }: Running, { headers }: Account, length = seconds): Promise<number> {
  const end = Date.now() + length * 1000;
  let made = 0;
  const caller = async () => {
    while (Date.now() < end) {
      await send(`${url}/api/v1/contacts`, { firstName: 'Ada', email: `${made++}.${end}@example.com` }, headers);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return made / length;
}

interface Compared {
  server: Running;
  busy: Account;
  idle: Account;
  /** Done after each round of the busy one, so that nothing of it is left to do in the next. */
  after?: () => Promise<void>;
}

async function compare(what: string, { server, busy, idle, after = async () => {} }: Compared): Promise<void> {
  await creating(server, busy, 2);
  await after();
  await creating(server, idle, 2);
  const seen = { busy: [] as number[], idle: [] as number[] };
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['busy', 'idle'] as const) : (['idle', 'busy'] as const)) {
      seen[side].push(await creating(server, side === 'busy' ? busy : idle));
      if (side === 'busy') await after();
    }
  }
  const ratio = median(seen.busy.map((rate, n) => rate / seen.idle[n]!));
  console.log(
    `contacts created a second with 20 webhooks and 20 workflows, ${what}: ${median(seen.busy).toFixed(0)}, without ${median(seen.idle).toFixed(0)}, ratio ${ratio.toFixed(2)}`,
  );
}

const behind = `select (select count(*) from webhook_deliveries where due_at is not null)::int
  + (select count(*) from feed_readers r join feed_heads h using (account_id) where r.pos < h.pos)::int
  + (select count(*) from outbox_events e where not exists (
    select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq))::int as n`;

/** Waits until the worker has nothing left to do; what waits to be sent is not sent. */
async function drained(database: pg.Client): Promise<void> {
  for (;;) {
    await database.query(
      "update webhook_deliveries set status = 'cancelled', due_at = null where due_at is not null and leased_until is null",
    );
    const { rows } = await database.query<{ n: number }>(behind);
    if (rows[0]!.n === 0) return;
    await setTimeout(50);
  }
}

/** An account with twenty of each, and one with none. */
async function accounts(api: Running, sink: Sink, names: [string, string]): Promise<{ busy: Account; idle: Account }> {
  const [busy, idle] = [await account(api, names[0]), await account(api, names[1])];
  await webhooksOf(api, busy, 20, sink);
  await workflowsOf(api, busy, 20);
  return { busy, idle };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'react-'));
  const sink = new Sink();
  await sink.open();
  await emptyDatabase('crm_react', async (url) => {
    const database = new pg.Client(url);
    const env = { WEBHOOK_ALLOW_PRIVATE: '1', DEFAULT_PLAN: 'enterprise' };
    const [port, other] = [await freePort(), await freePort()];
    const api = ourServer({ port, databaseUrl: url, dataDir: folder, env: { ...env, ROLE: 'api' } });
    const running = [api];
    try {
      await api.ready();
      await database.connect();
      await compare('the API alone', { server: api, ...(await accounts(api, sink, ['busy', 'idle'])) });
      // What waits for the worker is no part of what follows.
      await database.query('delete from feed_readers');
      const worker = ourServer({ port: other, databaseUrl: url, dataDir: folder, env: { ...env, ROLE: 'worker' } });
      running.push(worker);
      await worker.ready();
      await drained(database);
      sink.times = [];
      await sending({ database, databaseUrl: url, api, worker, sink });
      const both = await accounts(api, sink, ['busier', 'idler']);
      await compare('a worker beside it', { server: api, ...both, after: () => drained(database) });
    } finally {
      await database.end();
      await Promise.all(running.map((one) => one.stop()));
      sink.close();
    }
  });
  rmSync(folder, { recursive: true });
}

await main();
