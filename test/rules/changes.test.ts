import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let stages: Loose[];
const ids: Record<string, string> = {};

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const made = async (path: string, body: object) => dataOf(await acme.owner.post(path, body));
  const pipeline = await made('/pipelines', { name: 'Sales', stages: [{ name: 'New' }, { name: 'Talks' }] });
  stages = pipeline.stages;
  ids.contact = (await made('/contacts', { firstName: 'Ada' })).id;
  ids.company = (await made('/companies', { name: 'Analytical Engines' })).id;
  ids.deal = (await made('/deals', { title: 'Engine', pipelineId: pipeline.id, stageId: stages[0]!.id })).id;
  ids.task = (await made('/tasks', { title: 'Call' })).id;
  ids.note = (await made('/notes', { body: 'Wrote first' })).id;
  ids.product = (await made('/products', { name: 'Mill', price: 10 })).id;
});
afterAll(() => api.close());

let n = 0;
const text = () => `changed ${++n}`;

const changes: [string, string, () => Loose][] = [
  ['a contact', 'contact', () => ({ city: text() })],
  ['a company', 'company', () => ({ city: text() })],
  ['a deal', 'deal', () => ({ title: text() })],
  ["a deal's stage", 'deal', () => ({ stageId: stages[++n % 2]!.id, probability: 0.5 })],
  ['a task', 'task', () => ({ title: text() })],
  ['a note', 'note', () => ({ body: text() })],
  ['a product', 'product', () => ({ description: text() })],
];

const paths: Record<string, string> = {
  ...{ contact: 'contacts', company: 'companies', deal: 'deals', task: 'tasks', note: 'notes', product: 'products' },
};

describe('a change', () => {
  it.each(changes)('of %s is one look and one write', async (_name, kind, body) => {
    const change = async () => dataOf(await acme.owner.patch(`/${paths[kind]}/${ids[kind]}`, body()));
    expect(await api.statements(change)).toBeLessThanOrEqual(2);
  });

  it.each(changes)('of %s that many make at once is lost by none of them', async (_name, kind, body) => {
    const parallel = Array.from({ length: 20 }, body);
    const replies = await Promise.all(parallel.map((each) => acme.owner.patch(`/${paths[kind]}/${ids[kind]}`, each)));
    expect([...new Set(replies.map(({ status }) => status))]).toEqual([200]);
    const kept = dataOf(await acme.owner.get(`/${paths[kind]}/${ids[kind]}`));
    expect(parallel.some((each) => Object.entries(each).every(([field, value]) => kept[field] === value))).toBe(true);
  });
});
