import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** A pipeline of stages with these names, each at its position. */
const pipelineOf = (places: Record<string, number>) =>
  acme.pipeline({ stages: Object.entries(places).map(([name, order]) => ({ name, order })) });
const move = ({ id, stages }: Loose, name: string, position: number) =>
  acme.owner.patch(`/pipelines/${id}/stages/${stages.find((stage: Loose) => stage.name === name).id}`, { position });
const stagesOf = async ({ id }: Loose): Promise<Loose[]> => dataOf(await acme.owner.get(`/pipelines/${id}/stages`));
const placesOf = async (pipeline: Loose) => Object.fromEntries((await stagesOf(pipeline)).map(({ name, sortOrder }) => [name, sortOrder]));
const orderOf = (places: Record<string, number>) => Object.keys(places).join(' ');

describe('a stage that is moved', () => {
  const row = { A: 0, B: 1, C: 2, D: 3 };
  it.each([
    ['A', 1, { B: 0, A: 1, C: 2, D: 3 }],
    ['A', 2, { B: 0, C: 1, A: 2, D: 3 }],
    ['A', 3, { B: 0, C: 1, D: 2, A: 3 }],
    ['B', 2, { A: 0, C: 1, B: 2, D: 3 }],
    ['C', 0, { C: 0, A: 1, B: 2, D: 4 }],
    ['D', 1, { A: 0, D: 1, B: 2, C: 3 }],
    ['A', 4, { B: 1, C: 2, D: 3, A: 4 }],
    ['B', 1000, { A: 0, C: 2, D: 3, B: 1000 }],
  ])('%s of A B C D to %i', async (name, to, places) => {
    const pipeline = await pipelineOf(row);
    expect(dataOf(await move(pipeline, name, to)).sortOrder).toBe(to);
    const found = await placesOf(pipeline);
    expect([orderOf(found), found]).toEqual([orderOf(places), places]);
  });

  it('passes gaps, and stands behind the one whose place it takes', async () => {
    const pipeline = await pipelineOf({ A: 2, B: 5, C: 9 });
    dataOf(await move(pipeline, 'A', 5));
    expect(orderOf(await placesOf(pipeline))).toBe('B A C');
    dataOf(await move(pipeline, 'B', 7));
    expect(orderOf(await placesOf(pipeline))).toBe('A B C');
  });

  it('is told with those that close up, and with the pipeline in its new order', async () => {
    const pipeline = await pipelineOf(row);
    dataOf(await move(pipeline, 'A', 2));
    const { prisma } = api.app.database;
    const events: Loose[] = await prisma.outboxEvent.findMany({
      where: { accountId: acme.id, name: 'stage.updated' },
      orderBy: { seq: 'asc' },
    });
    const own = events.filter(({ data }) => data.pipelineId === pipeline.id);
    expect(own.map(({ data, changes }) => [data.name, changes])).toEqual([
      ['A', { sortOrder: { from: 0, to: 2 } }],
      ['B', { sortOrder: { from: 1, to: 0 } }],
      ['C', { sortOrder: { from: 2, to: 1 } }],
    ]);
    const told: Loose = await prisma.outboxEvent.findFirst({ where: { name: 'pipeline.updated', entityId: pipeline.id } });
    expect(told.data.stages).toEqual(await stagesOf(pipeline));
  });

  it('finds its place among those that are moved at once', async () => {
    for (let round = 0; round < 5; round++) {
      const pipeline = await pipelineOf(row);
      const moves = [move(pipeline, 'A', 2), move(pipeline, 'D', 1), move(pipeline, 'B', 3)];
      for (const reply of await Promise.all(moves)) dataOf(reply);
      const places = Object.values(await placesOf(pipeline));
      expect(new Set(places).size).toBe(4);
    }
  });
});

describe('a change of its stages', () => {
  it.each([
    ['add', ({ id }: Loose) => acme.owner.post(`/pipelines/${id}/stages`, { name: 'C' })],
    ['edit', ({ id, stages }: Loose) => acme.owner.patch(`/pipelines/${id}/stages/${stages[0].id}`, { name: 'X' })],
    ['delete', ({ id, stages }: Loose) => acme.owner.del(`/pipelines/${id}/stages/${stages[0].id}`)],
  ])('is one of the pipeline, by its updatedAt too: %s', async (_name, change) => {
    const before = await pipelineOf({ A: 0, B: 1 });
    api.clock.advance(1000);
    dataOf(await change(before));
    const after = dataOf(await acme.owner.get(`/pipelines/${before.id}`));
    expect(Date.parse(after.updatedAt) - Date.parse(before.updatedAt)).toBeGreaterThanOrEqual(1000);
    const told: Loose = await api.app.database.prisma.outboxEvent.findFirst({ where: { name: 'pipeline.updated', entityId: before.id } });
    expect([told.data.updatedAt, told.data.stages]).toEqual([after.updatedAt, await stagesOf(before)]);
  });
});
