import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const resolve = async (...items: Loose[]) => dataOf(await acme.owner.post('/automations/resolve', { items })) as Loose[];
const pipelineOf = async (name: string, stage: string) =>
  dataOf(await acme.owner.post('/pipelines', { name, stages: [{ name: stage }] })) as Loose;

describe('a stage of a deleted pipeline', () => {
  it('is not what its name means', async () => {
    const old = await pipelineOf('Old', 'Qualified');
    dataOf(await acme.owner.del(`/pipelines/${old.id}`));
    const item = { type: 'stage', name: 'Qualified' };
    expect(await resolve(item)).toEqual([{ ...item, id: null, candidates: [] }]);
    const [stage] = (await pipelineOf('New', 'Qualified')).stages;
    const [now, within] = await resolve(item, { ...item, parent: 'Old' });
    expect(now).toEqual({ ...item, id: stage.id, candidates: [{ id: stage.id, name: 'Qualified' }] });
    expect([within!.id, within!.candidates]).toEqual([null, []]);
  });
});

it.each(['ΟΔΟΣ', 'Übergabe', 'İzmir'])('A name is found whatever its case, in any script: %s', async (name) => {
  const { id } = await acme.tag(name);
  const stage = (await pipelineOf(`Of ${name}`, name)).stages[0].id;
  for (const given of [name, name.toLowerCase()]) {
    const found = await resolve({ type: 'tag', name: given }, { type: 'tag', name: given.slice(0, 3) }, { type: 'stage', name: given });
    expect(found.map((one) => [one.id, one.candidates.map((candidate: Loose) => candidate.id)])).toEqual([
      [id, [id]],
      [null, [id]],
      [stage, [stage]],
    ]);
  }
});

it('A whole name is found among more names that contain it than are looked at', async () => {
  const { id } = await acme.tag('Platinum');
  const [now, accountId] = [api.clock.now(), acme.id];
  const data = Array.from({ length: 510 }, (_, n) => ({ accountId, id: api.clock.id(), name: `All platinum ${n}`, createdAt: now, updatedAt: now })); // biome-ignore format: one line
  await api.app.database.prisma.tag.createMany({ data });
  expect(await resolve({ type: 'tag', name: 'platinum' })).toMatchObject([{ id, candidates: [{ id, name: 'Platinum' }] }]);
});
