import type { Client, Loose, Reply } from './client.js';
import fc from './property.js';
import { dataOf } from './seed.js';

/** Where deals are shown and written: a pipeline, and two contacts of whom the first has the tag VIP. */
export interface LivePlace {
  pipeline: Loose;
  contacts: Loose[];
}

/** What is shown of a deal: with what changes without an event of its own, whatever happens is looked at; without, only what may concern it. */
const shown = [
  'id title value status updatedAt lastActivityAt stage { name } contact { firstName leadScore tags { name } tasks(first: 2) { totalCount } }',
  'id title value status updatedAt stage { name } contact { firstName tags { name } tasks(first: 2) { totalCount } }',
  'id title status contact { firstName }',
  'id title value stageId',
  'title',
  'id status',
];

/** The arguments of a page: how it is filtered, sorted and how long it is. */
export const pages = fc.record({
  filter: fc.oneof(
    fc.record({ pipelineId: fc.constant(true) }),
    { weight: 3, arbitrary: fc.record({ stage: fc.nat({ max: 2 }) }) },
    fc.record({ contact: fc.nat({ max: 1 }), status: fc.constantFrom('open', 'won') }),
    fc.record({ search: fc.constantFrom('a', 'deal', 'Ada'), minValue: fc.constantFrom(0, 50) }),
    fc.record({ tagged: fc.constant('VIP') }),
  ),
  sort: fc.constantFrom('', ', sort: title, order: asc', ', sort: value, order: desc', ', sort: updatedAt'),
  first: fc.constantFrom(2, 5, 40),
  nodes: fc.constantFrom(...shown),
});
export type Page = typeof pages extends fc.Arbitrary<infer P> ? P : never;

export function argumentsOf({ filter, sort, first }: Page, { pipeline, contacts }: LivePlace): string {
  const { stage, contact, tagged, pipelineId, ...plain } = filter as Loose;
  const parts = Object.entries(plain).map(([name, value]) => `${name}: ${name === 'status' ? value : JSON.stringify(value)}`);
  if (pipelineId) parts.push(`pipelineId: "${pipeline.id}"`);
  if (stage !== undefined) parts.push(`stageId: "${pipeline.stages[stage].id}"`);
  if (contact !== undefined) parts.push(`contactId: "${contacts[contact].id}"`);
  const where = tagged ? `, where: { contact: { tags: { some: { name: { eq: "${tagged}" } } } } }` : '';
  return `filter: { ${parts.join(', ')} }${where}${sort}, first: ${first}`;
}

const nth = fc.nat({ max: 30 });
export const writes = fc.oneof(
  fc.record({
    does: fc.constant('create' as const),
    title: fc.constantFrom('a deal', 'Ada', 'x'),
    stage: fc.nat({ max: 2 }),
    contact: fc.nat({ max: 1 }),
    value: fc.nat({ max: 99 }),
  }),
  fc.record({ does: fc.constant('edit' as const), nth, title: fc.constantFrom('a deal', 'zz', '"q"\\ü'), value: fc.nat({ max: 99 }) }),
  { weight: 3, arbitrary: fc.record({ does: fc.constant('move' as const), nth, stage: fc.nat({ max: 2 }) }) },
  fc.record({ does: fc.constant('close' as const), nth, status: fc.constantFrom('open', 'won') }),
  fc.record({ does: fc.constant('delete' as const), nth }),
  fc.record({ does: fc.constant('restore' as const) }),
  fc.record({ does: fc.constant('rename' as const), contact: fc.nat({ max: 1 }), firstName: fc.constantFrom('Ada', 'Bob', 'Cy') }),
  fc.record({ does: fc.constant('tag' as const), contact: fc.nat({ max: 1 }), tags: fc.constantFrom([], ['VIP'], ['VIP', 'Old']) }),
  fc.record({ does: fc.constant('task' as const), contact: fc.nat({ max: 1 }) }),
  fc.record({ does: fc.constant('note' as const), nth }),
);
export type Write = typeof writes extends fc.Arbitrary<infer W> ? W : never;

/** Writes to deals and to what is shown of them, one after the other or from several callers at once. */
export class Desk {
  readonly #deals: string[] = [];
  readonly #deleted: string[] = [];

  constructor(private readonly place: LivePlace) {}

  async write(caller: Client, write: Write): Promise<void> {
    const { pipeline, contacts } = this.place;
    const id = 'nth' in write ? this.#deals[write.nth % this.#deals.length] : undefined;
    const stageId = 'stage' in write ? pipeline.stages[write.stage].id : undefined;
    const contactId = 'contact' in write ? contacts[write.contact].id : undefined;
    if ('nth' in write && !id) return;
    switch (write.does) {
      case 'create': {
        const { title, value } = write;
        this.#deals.push(dataOf(await caller.post('/deals', { pipelineId: pipeline.id, title, stageId, contactId, value })).id);
        return;
      }
      case 'edit':
        return expectDone(await caller.patch(`/deals/${id}`, { title: write.title, value: write.value }));
      case 'move':
        return expectDone(await caller.patch(`/deals/${id}`, { stageId }));
      case 'close':
        return expectDone(await caller.patch(`/deals/${id}`, { status: write.status }));
      case 'delete':
        this.#deals.splice(this.#deals.indexOf(id!), 1);
        expectDone(await caller.del(`/deals/${id}`));
        this.#deleted.push(id!);
        return;
      case 'restore': {
        const gone = this.#deleted.pop();
        if (!gone) return;
        expectDone(await caller.post(`/deals/${gone}/restore`));
        this.#deals.push(gone);
        return;
      }
      case 'rename':
        return expectDone(await caller.patch(`/contacts/${contactId}`, { firstName: write.firstName }));
      case 'tag':
        return expectDone(await caller.patch(`/contacts/${contactId}`, { tags: write.tags }));
      case 'task':
        return expectDone(await caller.post('/tasks', { title: 'Call', contactId }));
      case 'note':
        return expectDone(await caller.post('/notes', { dealId: id, body: 'said' }));
    }
  }
}

/** Whoever writes at the same moment may have deleted what another one writes to, or names. */
function expectDone(reply: Reply): void {
  const isGone = reply.status === 404 || reply.body.details?.[0]?.code === 'not_found';
  if (!isGone) dataOf(reply);
}
