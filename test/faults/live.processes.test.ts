import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { type Client, dataOf, type Loose, onBoth } from '../support/index.js';
import { LiveWriter } from '../support/liveDocuments.js';
import { argumentsOf, Desk, type LivePlace, type Page, pages, type Write, writes } from '../support/livePages.js';
import { Surroundings } from '../support/liveSurroundings.js';
import { LiveWindow, type WatchedList } from '../support/liveWindow.js';
import { drawing } from '../support/printable.js';
import type { ServerProcess } from '../support/process.js';
import fc from '../support/property.js';

jest.setTimeout(300_000);

/** How many windows there are, half of them at each process, and live queries in each. */
const [windows, documents] = [4, 3];

/** What becomes of the line of a window: nothing; it is cut, for as long as is written or while that goes on; it is read slowly, until there is a look or longer. */
const line = fc.record({ does: fc.constantFrom('nothing', 'cut', 'cut meanwhile', 'slow', 'slow on'), to: fc.nat({ max: 1 }) });
type Line = typeof line extends fc.Arbitrary<infer L> ? L : never;

const around = fc.record({ does: fc.constant('around' as const), name: fc.constantFrom(...Surroundings.writes), n: fc.nat({ max: 99 }) });
const manyWrites = fc.array(fc.oneof({ weight: 3, arbitrary: writes }, { weight: 1, arbitrary: around }), { maxLength: 3 });
type AnyWrite = Write | (typeof around extends fc.Arbitrary<infer A> ? A : never);

/** What happens between two looks: both processes are written to at once. */
const step = fc.record({
  writes: fc.tuple(manyWrites, manyWrites),
  lines: fc.array(line, { minLength: windows, maxLength: windows }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Lists of deals, or any lists with any of their fields. */
const few = { minLength: 1, maxLength: 2 };
const document: fc.Arbitrary<(Page | number)[]> = fc.oneof(
  { weight: 2, arbitrary: fc.array(pages, few) },
  { weight: 1, arbitrary: fc.array(fc.nat(), few) },
);
const allDocuments = fc.array(fc.array(document, { minLength: documents, maxLength: documents }), {
  minLength: windows,
  maxLength: windows,
});

let alone: Alone;
let beside: { process: ServerProcess; caller: Client };
/** The same caller at both processes. */
let callers: readonly [Client, Client];
let place: LivePlace;
let surroundings: Surroundings;

async function boot(): Promise<void> {
  alone = await Alone.begin(({ redisUrl }) => ({ REDIS_URL: redisUrl! }));
  beside = await alone.beside();
  callers = [alone.caller, beside.caller];
  const { caller, pipeline } = alone;
  const [{ id }] = dataOf(await caller.get('/users')).data as Loose[];
  const contact = async (body: object) => dataOf(await caller.post('/contacts', body));
  place = { pipeline, contacts: [await contact({ firstName: 'Ada', tags: ['VIP'] }), await contact({ firstName: 'Bob' })] };
  surroundings = await Surroundings.make(caller, pipeline, id);
}

const rows = (nodes: string) => `isWhole removed rows { recordId index change version node { ${nodes} } }`;

function watched(drawn: Page | number): WatchedList {
  if (typeof drawn === 'number') return { ...new LiveWriter(drawing(drawn), surroundings.ids).write(), isQuiet: true };
  const asked = `deals(${argumentsOf(drawn, place)})`;
  return { live: `${asked} { ${rows(drawn.nodes)} totalCount }`, query: `${asked} { nodes { ${drawn.nodes} } totalCount }` };
}

const portOf = (n: number) => callers[n]!.wire.port;

async function write(caller: Client, desk: Desk, all: readonly AnyWrite[]): Promise<void> {
  for (const one of all) {
    if (one.does === 'around') await surroundings.write(caller, one.name, one.n);
    else await desk.write(caller, one);
  }
}

/** What happens to a window before somebody writes; what is to happen while they do; and what does before the look. */
const before = (window: LiveWindow, { does }: Line) => {
  if (does === 'cut') window.cut();
  if (does.startsWith('slow')) window.slow();
};
const meanwhile = async (window: LiveWindow, { does, to }: Line) => {
  if (does !== 'cut meanwhile') return;
  window.cut();
  await window.open(portOf(to));
};
const after = async (window: LiveWindow, { does, to }: Line) => {
  if (does === 'cut') await window.open(portOf(to));
  if (does === 'slow') window.resume();
};

async function happen(all: readonly LiveWindow[], desk: Desk, { writes, lines }: Step): Promise<void> {
  const each = <T>(work: (window: LiveWindow, line: Line) => T) => all.map((window, n) => work(window, lines[n]!));
  each(before);
  await Promise.all([...each(meanwhile), ...writes.map((those, n) => write(callers[n]!, desk, those))]);
  await Promise.all(each(after));
}

/** A story from the first look of everybody to the last: who was slow all the while is looked at once he reads again. */
async function play(all: readonly LiveWindow[], steps: readonly Step[]): Promise<void> {
  const desk = new Desk(place);
  for (let n = 0; n < 6; n++) await desk.write(alone.caller, { does: 'create', title: 'a deal', stage: n % 3, contact: n % 2, value: n });
  await Promise.all(all.map((window, n) => window.open(portOf(n % 2))));
  await Promise.all(all.map((window) => window.served()));
  expect(all.flatMap((window) => window.watched).length).toBeGreaterThan((windows * documents) / 2);
  for (const step of steps) {
    await happen(all, desk, step);
    await look(all.filter(({ isSlow }) => !isSlow));
  }
  for (const window of all) window.resume();
  await look(all);
}

async function look(all: readonly LiveWindow[]): Promise<void> {
  for (const [n, window] of all.entries()) await window.isRight(callers[n % 2]!, { butQuiet: true });
  dataOf(await alone.caller.post('/products', { name: 'Next', price: 1 }));
  for (const [n, window] of all.entries()) await window.isRight(callers[n % 2]!);
}

onBoth(describe)('a screen beside two processes', () => {
  beforeAll(boot, 120_000);
  afterAll(async () => {
    await beside.process.kill();
    await alone.end();
  });

  it('is what a fresh query answers, whoever writes and reads at which of them, is cut and is slow', async () => {
    const steps = fc.array(step, { minLength: 6, maxLength: 8 });
    const story = fc.asyncProperty(allDocuments, steps, async (drawn, steps) => {
      const all = drawn.map(
        (documents) =>
          new LiveWindow(
            alone,
            documents.map((lists) => lists.map(watched)),
          ),
      );
      await play(all, steps);
      // Who comes back is told the difference only.
      for (const { wholes, size } of all.flatMap((window) => window.watched)) expect(wholes).toBe(size);
      for (const window of all) window.cut();
    });
    await fc.assert(story, { numRuns: Number(process.env.LIVE_RUNS ?? 6), endOnFailure: true });
  });
});
