import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { published } from '../contract/published.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { type Account, dataOf, isPostgres, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { LiveWriter } from '../support/liveDocuments.js';
import { LiveScreen } from '../support/livePage.js';
import { drawing } from '../support/printable.js';
import fc from '../support/property.js';

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
  const numRuns = Number(process.env.LIVE_RUNS ?? 8);
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

/** Records that lead to each other, in whatever way. */
async function related() {
  const { owner } = acme;
  const company = await acme.company({ ownerId: acme.ownerId });
  const mine = { companyId: company.id, assignedTo: acme.ownerId, tags: ['Seen'] };
  const contact = await acme.contact({ firstName: 'Rel', email: 'rel@example.com', ...mine });
  const form = dataOf(await owner.post('/forms', { name: 'Ask', fields: [{ key: 'email', label: 'Mail', type: 'email' }] }));
  const sequence = dataOf(await owner.post('/emails/sequences', { name: 'Go', steps: [{ delayDays: 9, subject: 'a', body: 'b' }] }));
  return { company, contact, form, sequence, pipeline };
}
type Related = Awaited<ReturnType<typeof related>>;

/** Writes by which what is shown of other records changes. */
const beside: Record<string, (to: Related, n: number) => Promise<unknown>> = {
  deal: ({ contact, company }, n) =>
    acme.deal({ pipeline, contactId: contact.id, companyId: company.id, value: n, stageId: pipeline.stages[n % 5].id }),
  contact: ({ company }, n) => acme.contact({ firstName: `N${n}`, companyId: company.id, tags: n % 2 ? ['Seen'] : [] }),
  submission: ({ form }, n) =>
    here.seed
      .anybody()
      .post(`/forms/${form.id}/submit`, { data: { email: `s${n}@example.com` } })
      .then(dataOf),
  enrollment: async ({ sequence }, n) => {
    const { id } = await acme.contact({ firstName: 'En', email: `en${n}-${Math.random()}@example.com` });
    dataOf(await acme.owner.post(`/emails/sequences/${sequence.id}/enroll`, { contactIds: [id] }));
  },
  stage: (_to, n) => acme.owner.post(`/pipelines/${pipeline.id}/stages`, { name: `S${n}` }).then(dataOf),
  invoice: async ({ contact, company }) => {
    const { id } = await acme.invoice({ contactId: contact.id, companyId: company.id });
    dataOf(await acme.owner.post(`/invoices/${id}/payments`, { amount: 5 }));
  },
};
const endpoints = published.endpoints.filter(({ endpoint }) => endpoint.method !== 'GET' && endpoint.operation);

/** A write of one of the server's addresses, or one of those above. */
const anyWrite = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...endpoints.map((bound) => [bound.address, bound] as const)) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(beside)), fc.nat({ max: 99 })) },
);

async function doingOf(at: string, write: number | (typeof endpoints)[number], to: Related): Promise<() => Promise<unknown>> {
  if (typeof write === 'number') return () => beside[at]!(to, write);
  const sample = await sampleOf(at, acme);
  const client = sample.as ?? (write.needs.public ? here.seed.anybody() : acme.owner);
  return () => client.send(write.endpoint.method, pathOf(write.endpoint.path, sample), sample.body);
}

it('every list that can be watched, with any of its fields, is what a fresh query answers after any write', async () => {
  const to = await related();
  const ids = {
    assignedTo: acme.ownerId,
    ownerId: acme.ownerId,
    contactId: to.contact.id,
    companyId: to.company.id,
    pipelineId: pipeline.id,
  };
  const seeds = fc.array(fc.nat(), { minLength: 30, maxLength: 30 });
  const story = fc.asyncProperty(seeds, fc.array(anyWrite, { minLength: 5, maxLength: 5 }), async (seeds, writes) => {
    // What a sample keeps without the API is not told: it is there before anybody looks.
    const doing: { at: string; does: () => Promise<unknown> }[] = [];
    for (const [at, write] of writes) doing.push({ at, does: await doingOf(at, write, to) });
    const all = seeds.map((seed) => {
      const { name, live, query } = new LiveWriter(drawing(seed), ids).write();
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
