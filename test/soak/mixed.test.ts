import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { dataOf } from '../support/index.js';
import { eventually, Socket } from '../support/live.js';
import { Journal, Writer } from '../support/writers.js';

/** SOAK_MINUTES: how long people read, write and listen. What the first part of the time brings is warming up. */
const minutes = Number(process.env.SOAK_MINUTES ?? 10);
const warmShare = 0.5;
/** What the memory may grow by afterwards, in MiB a minute; in a short run the ups and downs of the heap are larger than that. */
const slope = minutes >= 20 ? 0.5 : 60 / minutes;
const sampleMs = 1000;

jest.setTimeout(minutes * 60_000 + 180_000);

let server: Alone;
beforeAll(async () => {
  server = await Alone.begin();
});
afterAll(() => server.end());

let over = false;

async function write(name: string): Promise<void> {
  const options = { client: server.caller, up: async () => {}, pipeline: server.pipeline };
  // A journal of its own for each hundred writes, so that the test does not grow instead.
  for (let n = 0; !over; n++) await new Writer(`${name}.${n}`, n % 2 === 0, { ...options, journal: new Journal() }).until(100);
}

async function read(): Promise<void> {
  const paths = ['/contacts?per_page=50&sort=lastName', '/deals?per_page=20', '/contacts?search=w1', '/activities?per_page=20', '/tags'];
  for (let n = 0; !over; n++) dataOf(await server.caller.get(paths[n % paths.length]!));
}

async function query(): Promise<void> {
  const document = '{ contacts(first: 20) { nodes { id lastName tags { name } } totalCount } deals(first: 5) { nodes { title } } }';
  while (!over) expect((await server.caller.gql(document)).errors).toBeUndefined();
}

/** Listens for a while, goes, and comes again. */
async function listen(): Promise<void> {
  while (!over) {
    const socket = await Socket.open(server.wire.port, { init: { Authorization: `Bearer ${server.secret}` } });
    const feed = socket.run('subscription { contactEvents { id name contact { lastName } } }');
    await eventually(() => over || feed.results.length >= 50, 60_000);
    socket.cut();
  }
}

const figure = async (name: string) => {
  const { text } = await server.caller.raw({ path: '/metrics' });
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)![1]);
};

/** Open handles while nobody is there but who asks, once the database's connections are let go that nobody uses. */
async function handles(idleMs = 0): Promise<number> {
  server.wire.agent.destroy();
  await eventually(async () => (await figure('subscribers')) === 0);
  await new Promise((resume) => setTimeout(resume, idleMs));
  return figure('nodejs_active_handles_total');
}

/** The slope of the samples by least squares, in MiB a minute. */
function growth(samples: { at: number; memory: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, memory] = [mean(samples.map((one) => one.at)), mean(samples.map((one) => one.memory))];
  const spread = mean(samples.map((one) => (one.at - at) ** 2));
  return (60_000 * mean(samples.map((one) => (one.at - at) * (one.memory - memory)))) / spread;
}

/** The memory of the server, once a second until the time is over. */
async function watch(): Promise<{ at: number; memory: number }[]> {
  const samples: { at: number; memory: number }[] = [];
  const begun = Date.now();
  while (Date.now() - begun < minutes * 60_000) {
    samples.push({ at: Date.now() - begun, memory: server.process.memory() });
    await new Promise((resume) => setTimeout(resume, sampleMs));
  }
  over = true;
  return samples;
}

it(`${minutes} minutes of mixed load leave neither memory nor handles behind`, async () => {
  const before = await handles();
  const people = [write('w1'), write('w2'), read(), read(), query(), listen(), listen(), listen(), listen()];
  const [samples] = await Promise.all([watch(), ...people]);
  const settled = samples.slice(Math.floor(samples.length * warmShare));
  const grown = growth(settled);
  const after = await handles(40_000);
  const [first, last] = [samples[0]!.memory, samples.at(-1)!.memory];
  console.log(
    `memory ${first.toFixed(0)} MiB at first, ${settled[0]!.memory.toFixed(0)} half way, ${last.toFixed(0)} at last: ${grown.toFixed(2)} MiB a minute; handles ${before} before, ${after} after`,
  );
  expect(grown).toBeLessThan(slope);
  expect(after).toBeLessThanOrEqual(before + 5);
  const stuck = await server.onceStopped(({ execute }) =>
    execute("select name from pgboss.job where state in ('created', 'retry', 'active') and start_after < now() - interval '1 minute'"),
  );
  expect(stuck.rows).toEqual([]);
});
