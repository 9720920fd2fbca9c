import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { published } from '../contract/published.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { type Account, dataOf, isPostgres, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { LiveWriter } from '../support/liveDocuments.js';
import { LiveScreen } from '../support/livePage.js';
import { argumentsOf, Desk, pages, writes } from '../support/livePages.js';
import { Surroundings } from '../support/liveSurroundings.js';
import { drawing } from '../support/printable.js';
import fc from '../support/property.js';

jest.setTimeout(300_000);

let here: TestServer;
/** Another process in the same place, where there can be one. */
let there: TestServer;
let acme: Account;
let key: KeyClient;
let pipeline: Loose;
let contacts: Loose[];
beforeAll(async () => {
  here = await server();
  there = isPostgres ? await server({ beside: here }) : here;
  acme = await here.seed.account();
  key = await acme.key();
  pipeline = await acme.pipeline();
  contacts = [await acme.contact({ firstName: 'Ada', tags: ['VIP'] }), await acme.contact({ firstName: 'Bob' })];
});
afterAll(async () => {
  if (there !== here) await there.close();
  await here.close();
});

/** What becomes of the connection: nothing, it is cut, or the reader takes nothing for a while. */
const lines = fc.constantFrom('as it is', 'cut', 'slow');
const steps = fc.record({ line: lines, writes: fc.array(writes, { maxLength: 4 }), isElsewhere: fc.boolean() });
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

/** What happens to a screen between two looks at it. */
async function live(screen: LiveScreen, desk: Desk, { line, writes, isElsewhere }: Step): Promise<void> {
  if (line === 'cut') screen.cut();
  if (line === 'slow') screen.socket!.ws.pause();
  for (const write of writes) await desk.write(acme.owner, write);
  if (line === 'slow') screen.socket!.ws.resume();
  if (line === 'cut') await screen.open((isElsewhere ? there : here).wire.port);
}

it('a live page is what a fresh query answers, whatever is asked, written, cut and read slowly, from whichever process', async () => {
  const place = { pipeline, contacts };
  const desk = new Desk(place);
  const numRuns = Number(process.env.LIVE_RUNS ?? 8);
  let wholes = 0;
  const story = fc.asyncProperty(pages, fc.array(steps, { minLength: 3, maxLength: 6 }), async (page, story) => {
    const asked = argumentsOf(page, place);
    const { nodes } = page;
    const rows = `isWhole removed rows { recordId index change version node { ${nodes} } } totalCount`;
    const screen = new LiveScreen(
      key,
      `subscription ($after: [LiveHave!]) { live(after: $after) { position deals(${asked}) { ${rows} } } }`,
    );
    const fresh = async () => {
      const { data, errors } = await acme.owner.gql(`{ deals(${asked}) { nodes { ${nodes} } totalCount } }`);
      expect(errors).toBeUndefined();
      return data.deals;
    };
    await screen.open(here.wire.port);
    for (const step of story) {
      await live(screen, desk, step);
      await screen.isRight(fresh);
    }
    screen.cut();
    wholes += screen.messages.filter(({ deals }) => deals.isWhole).length;
  });
  await fc.assert(story, { numRuns, endOnFailure: true });
  // Who comes back is told the difference only.
  expect(wholes).toBe(numRuns);
});

const endpoints = published.endpoints.filter(({ endpoint }) => endpoint.method !== 'GET' && endpoint.operation);

/** A write of one of the server's addresses, or one of those above. */
const anyWrite = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...endpoints.map((bound) => [bound.address, bound] as const)) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...Surroundings.writes), fc.nat({ max: 99 })) },
);

async function doingOf(at: string, write: number | (typeof endpoints)[number], around: Surroundings): Promise<() => Promise<unknown>> {
  if (typeof write === 'number') return () => around.write(acme.owner, at, write);
  const sample = await sampleOf(at, acme);
  const client = sample.as ?? (write.needs.public ? here.seed.anybody() : acme.owner);
  return () => client.send(write.endpoint.method, pathOf(write.endpoint.path, sample), sample.body);
}

it('every list that can be watched, with any of its fields, is what a fresh query answers after any write', async () => {
  const around = await Surroundings.make(acme.owner, pipeline, acme.ownerId);
  const seeds = fc.array(fc.nat(), { minLength: 30, maxLength: 30 });
  const story = fc.asyncProperty(seeds, fc.array(anyWrite, { minLength: 5, maxLength: 5 }), async (seeds, writes) => {
    // What a sample keeps without the API is not told: it is there before anybody looks.
    const doing: { at: string; does: () => Promise<unknown> }[] = [];
    for (const [at, write] of writes) doing.push({ at, does: await doingOf(at, write, around) });
    const all = seeds.map((seed) => {
      const { name, live, query } = new LiveWriter(drawing(seed), around.ids).write();
      const fresh = async () => (await key.gql(`{ ${query} }`)).data[name];
      const screen = new LiveScreen(key, `subscription ($after: [LiveHave!]) { live(after: $after) { ${live} } }`);
      return { screen, isRight: () => screen.isRight(fresh, name) };
    });
    for (const { screen } of all) await screen.open(here.wire.port);
    const isServed = await Promise.all(all.map(({ screen }) => screen.isServed()));
    const watched = all.filter((_one, i) => isServed[i]);
    expect(watched.length).toBeGreaterThan(seeds.length / 2);
    for (const { isRight } of watched) await isRight();
    for (const { at, does } of doing) {
      await does();
      // What no event tells of shows with the next one.
      dataOf(await acme.owner.post('/products', { name: 'Next', price: 1 }));
      for (const { isRight } of watched)
        await isRight().catch((error) => {
          throw new Error(`after ${at}: ${error.message}`);
        });
    }
    for (const { screen } of watched) screen.cut();
  });
  await fc.assert(story, { numRuns: Number(process.env.LIVE_RUNS ?? 1), endOnFailure: true });
});
