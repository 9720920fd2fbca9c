import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Account, dataOf, isPostgres, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { LiveScreen } from '../support/livePage.js';

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

/** What is shown of a deal: with what changes without an event of its own, whatever happens is looked at; without, only what may concern it. */
const shown = [
  'id title value status updatedAt lastActivityAt stage { name } contact { firstName leadScore tags { name } tasks(first: 2) { totalCount } }',
  'id title value status updatedAt stage { name } contact { firstName tags { name } tasks(first: 2) { totalCount } }',
  'id title status contact { firstName }',
  'id title value stageId',
];

/** The arguments of a page: how it is filtered, sorted and how long it is. */
const pages = fc.record({
  filter: fc.oneof(
    fc.record({ pipelineId: fc.constant(true) }),
    fc.record({ stage: fc.nat({ max: 2 }) }),
    fc.record({ contact: fc.nat({ max: 1 }), status: fc.constantFrom('open', 'won') }),
    fc.record({ search: fc.constantFrom('a', 'deal', 'Ada'), minValue: fc.constantFrom(0, 50) }),
    fc.record({ tagged: fc.constant('VIP') }),
  ),
  sort: fc.constantFrom('', ', sort: title, order: asc', ', sort: value, order: desc', ', sort: updatedAt'),
  first: fc.constantFrom(2, 5, 40),
  nodes: fc.constantFrom(...shown),
});
type Page = typeof pages extends fc.Arbitrary<infer P> ? P : never;

function argumentsOf({ filter, sort, first }: Page): string {
  const { stage, contact, tagged, pipelineId, ...plain } = filter as Loose;
  const parts = Object.entries(plain).map(([name, value]) => `${name}: ${name === 'status' ? value : JSON.stringify(value)}`);
  if (pipelineId) parts.push(`pipelineId: "${pipeline.id}"`);
  if (stage !== undefined) parts.push(`stageId: "${pipeline.stages[stage].id}"`);
  if (contact !== undefined) parts.push(`contactId: "${contacts[contact].id}"`);
  const where = tagged ? `, where: { contact: { tags: { some: { name: { eq: "${tagged}" } } } } }` : '';
  return `filter: { ${parts.join(', ')} }${where}${sort}, first: ${first}`;
}

const nth = fc.nat({ max: 30 });
const writes = fc.oneof(
  fc.record({
    does: fc.constant('create' as const),
    title: fc.constantFrom('a deal', 'Ada', 'x'),
    stage: fc.nat({ max: 2 }),
    contact: fc.nat({ max: 1 }),
    value: fc.nat({ max: 99 }),
  }),
  fc.record({ does: fc.constant('edit' as const), nth, title: fc.constantFrom('a deal', 'zz', '"q"\\ü'), value: fc.nat({ max: 99 }) }),
  fc.record({ does: fc.constant('move' as const), nth, stage: fc.nat({ max: 2 }) }),
  fc.record({ does: fc.constant('close' as const), nth, status: fc.constantFrom('open', 'won') }),
  fc.record({ does: fc.constant('delete' as const), nth }),
  fc.record({ does: fc.constant('restore' as const) }),
  fc.record({ does: fc.constant('rename' as const), contact: fc.nat({ max: 1 }), firstName: fc.constantFrom('Ada', 'Bob', 'Cy') }),
  fc.record({ does: fc.constant('tag' as const), contact: fc.nat({ max: 1 }), tags: fc.constantFrom([], ['VIP'], ['VIP', 'Old']) }),
  fc.record({ does: fc.constant('task' as const), contact: fc.nat({ max: 1 }) }),
  fc.record({ does: fc.constant('note' as const), nth }),
);
type Write = typeof writes extends fc.Arbitrary<infer W> ? W : never;

/** What becomes of the connection: nothing, it is cut, or the reader takes nothing for a while. */
const lines = fc.constantFrom('as it is', 'cut', 'slow');
const steps = fc.record({ line: lines, writes: fc.array(writes, { maxLength: 4 }), isElsewhere: fc.boolean() });
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

class Desk {
  readonly deals: string[] = [];
  readonly #deleted: string[] = [];

  async write(write: Write): Promise<void> {
    const id = 'nth' in write ? this.deals[write.nth % this.deals.length] : undefined;
    const stage = 'stage' in write ? pipeline.stages[write.stage].id : undefined;
    const contact = 'contact' in write ? contacts[write.contact].id : undefined;
    if ('nth' in write && !id) return;
    const { owner } = acme;
    switch (write.does) {
      case 'create':
        this.deals.push((await acme.deal({ pipeline, title: write.title, stageId: stage, contactId: contact, value: write.value })).id);
        return;
      case 'edit':
        return void dataOf(await owner.patch(`/deals/${id}`, { title: write.title, value: write.value }));
      case 'move':
        return void dataOf(await owner.patch(`/deals/${id}`, { stageId: stage }));
      case 'close':
        return void dataOf(await owner.patch(`/deals/${id}`, { status: write.status }));
      case 'delete':
        this.#deleted.push(...this.deals.splice(this.deals.indexOf(id!), 1));
        return void dataOf(await owner.del(`/deals/${id}`));
      case 'restore': {
        const gone = this.#deleted.pop();
        if (!gone) return;
        this.deals.push(gone);
        return void dataOf(await owner.post(`/deals/${gone}/restore`));
      }
      case 'rename':
        return void dataOf(await owner.patch(`/contacts/${contact}`, { firstName: write.firstName }));
      case 'tag':
        return void dataOf(await owner.patch(`/contacts/${contact}`, { tags: write.tags }));
      case 'task':
        return void dataOf(await owner.post('/tasks', { title: 'Call', contactId: contact }));
      case 'note':
        return void dataOf(await owner.post('/notes', { dealId: id, body: 'said' }));
    }
  }
}

/** What happens to a screen between two looks at it. */
async function live(screen: LiveScreen, desk: Desk, { line, writes, isElsewhere }: Step): Promise<void> {
  if (line === 'cut') screen.cut();
  if (line === 'slow') screen.socket!.ws.pause();
  for (const write of writes) await desk.write(write);
  if (line === 'slow') screen.socket!.ws.resume();
  if (line === 'cut') await screen.open((isElsewhere ? there : here).wire.port);
}

it('a live page is what a fresh query answers, whatever is asked, written, cut and read slowly, from whichever process', async () => {
  const desk = new Desk();
  const numRuns = Number(process.env.LIVE_RUNS ?? 12);
  let wholes = 0;
  const story = fc.asyncProperty(pages, fc.array(steps, { minLength: 3, maxLength: 6 }), async (page, story) => {
    const asked = argumentsOf(page);
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
