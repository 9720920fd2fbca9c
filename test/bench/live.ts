import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { asJson, dataOf, newCaller } from './caller.js';
import { emptyDatabase } from './database.js';
import { ourServer, type Running } from './process.js';
import { median } from './report.js';

/*
 * npm run bench:live: what a write costs while more and more different live queries of its account are watched, each the contacts
 * of another company. One of them is concerned: the others should cost nothing.
 *
 *   LIVE_QUERIES       how many are watched, step by step (1,100,1000)
 *   LIVE_CHANGES       changes at each step, one after the other (100)
 *   BENCH_DATABASE_URL PostgreSQL, as one who may make databases
 *   BENCH_PORT         a free port (4180)
 */
const { LIVE_QUERIES = '1,100,1000', LIVE_CHANGES = '100', BENCH_PORT = '4180' } = process.env;
const steps = LIVE_QUERIES.split(',').map(Number);
const changes = Number(LIVE_CHANGES);
const warmChanges = 100;

const document = `subscription ($companyId: ID!) { live { contacts(first: 10, filter: { companyId: $companyId }) {
  isWhole removed rows { recordId index change node { id firstName lastName email } } } } }`;

interface Message {
  id: string;
  type: string;
}

/** As many subscriptions as one socket takes. */
const mostOfSocket = 50;

/** A socket with live queries. */
class Watcher {
  watched = 0;
  #heard = (_message: Message) => {};

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.#heard(JSON.parse(data.toString()) as Message));
  }

  static async connect(server: Running, authorization: string): Promise<Watcher> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
    await once(socket, 'message');
    return new Watcher(socket);
  }

  /** Resolves with the next message of one subscription. */
  #next(id: string): Promise<void> {
    return new Promise((resume, fail) => {
      this.#heard = (message) => {
        if (message.type === 'error' || message.type === 'complete') fail(new Error(JSON.stringify(message)));
        if (message.type === 'next' && message.id === id) resume();
      };
    });
  }

  /** Watches the contacts of a company, and waits for them. */
  async watch(companyId: string): Promise<void> {
    const id = String(this.watched++);
    const first = this.#next(id);
    this.socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: document, variables: { companyId } } }));
    await first;
  }

  /** Milliseconds from a change until the first live query tells of it. */
  async time(change: () => Promise<unknown>): Promise<number> {
    const heard = this.#next('0');
    const begun = performance.now();
    await Promise.all([heard, change()]);
    return performance.now() - begun;
  }

  close(): void {
    this.socket.terminate();
  }
}

async function statementsOf(server: Running): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return [...text.matchAll(/^db_queries_total(?:\{.*\})? (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

async function measure(server: Running): Promise<void> {
  const { api, headers } = await newCaller(server);
  const companies: string[] = [];
  for (let n = 0; n < Math.max(...steps); n++) {
    companies.push((await dataOf(fetch(`${api}/companies`, asJson('POST', { name: `Company ${n}` }, headers)))).id);
    await dataOf(fetch(`${api}/contacts`, asJson('POST', { firstName: `Person ${n}`, companyId: companies[n] }, headers)));
  }
  const { id } = await dataOf(fetch(`${api}/contacts`, asJson('POST', { firstName: 'Ada', companyId: companies[0] }, headers)));
  const watchers: Watcher[] = [];
  let nth = 0;
  const change = () => fetch(`${api}/contacts/${id}`, asJson('PATCH', { lastName: `Nth ${++nth}` }, headers));
  for (const many of steps) {
    for (let n = watchers.reduce((sum, { watched }) => sum + watched, 0); n < many; n++) {
      if (n % mostOfSocket === 0) watchers.push(await Watcher.connect(server, headers.authorization));
      await watchers.at(-1)!.watch(companies[n]!);
    }
    const watcher = watchers[0]!;
    for (let n = 0; n < warmChanges; n++) await watcher.time(change);
    const [cpu, statements] = [server.cpu(), await statementsOf(server)];
    const times: number[] = [];
    for (let n = 0; n < changes; n++) times.push(await watcher.time(change));
    const each = { cpu: (server.cpu() - cpu) / changes, statements: ((await statementsOf(server)) - statements) / changes };
    const told = `${median(times).toFixed(1)} ms until it is told, ${each.cpu.toFixed(2)} ms CPU, ${each.statements.toFixed(1)} statements`;
    console.log(`${String(many).padStart(5)} live queries: a change takes ${told}`);
  }
  for (const watcher of watchers) watcher.close();
}

const folder = mkdtempSync(join(tmpdir(), 'live-'));
await emptyDatabase('crm_live', async (url) => {
  // One caller watches them all here.
  const env = { GRAPHQL_MAX_LIVE_COST: '1000000', DEFAULT_PLAN: 'enterprise' };
  const server = ourServer({ port: Number(BENCH_PORT), databaseUrl: url, dataDir: folder, env });
  try {
    await server.ready();
    await measure(server);
  } finally {
    await server.stop();
  }
});
rmSync(folder, { recursive: true });
