import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { asJson, dataOf, newCaller } from './caller.js';
import { emptyDatabase } from './database.js';
import { ourServer, type Running, started } from './process.js';
import { profiled, summary } from './profile.js';
import { median } from './report.js';

/*
 * npm run bench:fanout: one change of a contact heard by many subscribers of one document, against a bare WebSocket server
 * that sends the same bytes to as many clients. The time is that from the request to the last client that heard of it; our
 * server writes the change, gives its event its place in the feed and reads it back in that time, the bare one does nothing.
 *
 *   FANOUT_CLIENTS     subscribers (500)
 *   FANOUT_ROUNDS      rounds of each server, A B B A … (8)
 *   FANOUT_CHANGES     changes in each round, one after the other (25)
 *   BENCH_DATABASE_URL PostgreSQL, as one who may make databases
 *   BENCH_PORT         the first of four free ports (4170)
 *   FANOUT_LIVE=1      a live query instead of a subscription to events
 *   FANOUT_BESIDE=1    half of the subscribers are those of a second process, which hears of the change through Redis (REDIS_URL)
 *   FANOUT_PROFILE=1   profiles our server instead
 */
const { FANOUT_CLIENTS = '500', FANOUT_ROUNDS = '8', FANOUT_CHANGES = '25', BENCH_PORT = '4170' } = process.env;
const [clients, rounds, changes, port] = [FANOUT_CLIENTS, FANOUT_ROUNDS, FANOUT_CHANGES, BENCH_PORT].map(Number) as [
  number,
  number,
  number,
  number,
];
const profiling = process.env.FANOUT_PROFILE === '1';
const person = 'id firstName lastName email tags { name }';
const isLive = process.env.FANOUT_LIVE === '1';
const document = isLive
  ? `subscription { live { contacts(first: 20) { isWhole removed rows { recordId index change version node { ${person} } } } } }`
  : `subscription { contactEvents { id name entityId changes contact { ${person} } } }`;
const warmChanges = 200;
/** In one process, and over two. */
const [target, targetBeside] = [2, 3];
const hasBeside = process.env.FANOUT_BESIDE === '1';
const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;

interface Times {
  time: number;
  answer: number;
  spread: number;
}

/** A crowd of clients of one server: counts what they hear. */
class Crowd {
  readonly #sockets: WebSocket[] = [];
  #heard = 0;
  #first = 0;
  #all = () => {};
  /** The last text that one of them got. */
  text = '';

  /** Everybody joins, the servers in turn. */
  async join(urls: string[], greet: (socket: WebSocket) => Promise<void>): Promise<void> {
    for (let n = 0; n < clients; n++) {
      const socket = new WebSocket(urls[n % urls.length]!, 'graphql-transport-ws', { perMessageDeflate: false });
      await once(socket, 'open');
      await greet(socket);
      socket.on('message', (data: Buffer) => this.#hear(data));
      this.#sockets.push(socket);
    }
  }

  #hear(data: Buffer) {
    if (++this.#heard === 1) this.#first = performance.now();
    if (this.#heard < clients) return;
    this.text = data.toString();
    this.#heard = 0;
    this.#all();
  }

  /** Milliseconds from the request until everybody has heard, until its answer, and from the first who heard to the last. */
  async time(change: () => Promise<Response>): Promise<Times> {
    let last = 0;
    const heard = new Promise<void>((resume) => {
      this.#all = () => {
        last = performance.now();
        resume();
      };
    });
    const begun = performance.now();
    const answered = change().then(({ ok, status }) => {
      if (!ok) throw new Error(`The change was answered with ${status}`);
      return performance.now() - begun;
    });
    const [answer] = await Promise.all([answered, heard]);
    return { time: last - begun, answer, spread: last - this.#first };
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }
}

interface Side {
  servers: Running[];
  crowd: Crowd;
  change: () => Promise<Response>;
}

/** Subscribes as graphql-transport-ws has it. */
function subscribed(authorization: string) {
  return async (socket: WebSocket): Promise<void> => {
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query: document } }));
    // A live query begins with what it came to.
    const [first] = isLive ? ((await once(socket, 'message')) as Buffer[]) : [];
    if (first && !first.includes('"next"')) throw new Error(first.toString());
  };
}

/** The change is asked of the first server. */
async function ours(servers: Running[]): Promise<Side> {
  const { api, headers } = await newCaller(servers[0]!);
  const { id } = await dataOf(
    fetch(`${api}/contacts`, asJson('POST', { firstName: 'Ada', email: 'ada@example.com', tags: ['a', 'b'] }, headers)),
  );
  const crowd = new Crowd();
  const sockets = servers.map(({ url }) => `${url.replace('http', 'ws')}/graphql`);
  await crowd.join(sockets, subscribed(headers.authorization));
  if (!isLive) await everybodySubscribed(servers);
  let nth = 0;
  return { servers, crowd, change: () => fetch(`${api}/contacts/${id}`, asJson('PATCH', { lastName: `Nth ${++nth}` }, headers)) };
}

async function everybodySubscribed(servers: Running[]): Promise<void> {
  for (;;) {
    const counts = servers.map(async ({ url }) => Number(/^subscribers (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]));
    if ((await Promise.all(counts)).reduce((sum, count) => sum + count) === clients) return;
    await setTimeout(100);
  }
}

async function bare(server: Running): Promise<Side> {
  const crowd = new Crowd();
  await crowd.join([server.url.replace('http', 'ws')], async () => {});
  return { servers: [server], crowd, change: () => fetch(server.url, asJson('POST', { lastName: 'Nth' })) };
}

interface Round extends Times {
  /** Milliseconds of processor time of the servers, a change. */
  cpu: number;
}

const cpuOf = (servers: Running[]) => servers.reduce((sum, server) => sum + server.cpu(), 0);

async function round({ servers, crowd, change }: Side, count = changes): Promise<Round> {
  const times: Times[] = [];
  const before = cpuOf(servers);
  for (let n = 0; n < count; n++) times.push(await crowd.time(change));
  const of = (what: keyof Times) => median(times.map((one) => one[what]));
  return {
    ...{ time: of('time'), answer: of('answer'), spread: of('spread') },
    cpu: (cpuOf(servers) - before) / count,
  };
}

async function measure(mine: Side, least: Side): Promise<void> {
  await round(mine, warmChanges);
  await fetch(least.servers[0]!.url, { method: 'PUT', body: mine.crowd.text });
  await round(least, warmChanges);
  const seen = { mine: [] as Round[], least: [] as Round[] };
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? [mine, least] : [least, mine]) seen[side === mine ? 'mine' : 'least'].push(await round(side));
  }
  const of = (list: Round[], what: keyof Round) => median(list.map((one) => one[what])).toFixed(1);
  const ratio = median(seen.mine.map(({ time }, n) => time / seen.least[n]!.time));
  const bytes = Buffer.byteLength(mine.crowd.text);
  const most = hasBeside ? targetBeside : target;
  console.log(
    `One change heard by ${clients} subscribers${hasBeside ? ' of two processes' : ''}, ${bytes} bytes each; medians of ${rounds} rounds of ${changes} changes`,
  );
  const line = (list: Round[]) =>
    `${of(list, 'time')} ms, of that ${of(list, 'spread')} from the first to the last; answered after ${of(list, 'answer')} ms; ${of(list, 'cpu')} ms CPU`;
  console.log(`  this server  ${line(seen.mine)}`);
  console.log(`  a bare ws    ${line(seen.least)}`);
  console.log(`  ratio        ${ratio.toFixed(2)}, target ≤ ${most}: ${ratio <= most ? 'reached' : 'missed'}`);
}

async function profile(mine: Side): Promise<void> {
  await round(mine, warmChanges);
  console.log(summary(await profiled(port + 2, () => round(mine, changes * rounds))));
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fanout-'));
  await emptyDatabase('crm_fanout', async (url) => {
    const env = hasBeside ? { REDIS_URL } : undefined;
    const server = ourServer({ port, databaseUrl: url, dataDir: folder, inspected: profiling ? port + 2 : undefined, env });
    const servers = [server, ...(hasBeside ? [ourServer({ port: port + 3, databaseUrl: url, dataDir: folder, env })] : [])];
    const least = started({ name: 'the bare server', port: port + 1, script: 'dist/test/bench/fanout.bare.js' });
    const sides: Side[] = [];
    try {
      await Promise.all([...servers, least].map((one) => one.ready()));
      sides.push(await ours(servers), await bare(least));
      if (profiling) await profile(sides[0]!);
      else await measure(sides[0]!, sides[1]!);
    } finally {
      for (const { crowd } of sides) crowd.close();
      await Promise.all([...servers, least].map((one) => one.stop()));
    }
  });
  rmSync(folder, { recursive: true });
}

await main();
