import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, planOf, server, type TestServer, vacuumed } from '../support/index.js';

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

describe('a whole name among many', () => {
  const many = 20_000;
  let own: Account;
  beforeAll(async () => {
    own = await api.seed.account();
    await api.app.database.prisma.$executeRaw`
      insert into contacts (account_id, id, first_name, last_name, email, created_at, updated_at)
      select ${own.id}::uuid, gen_random_uuid(), 'Ada ' || n, 'Lovelace ' || n * 7919, 'Ada' || n || '@example.com', now(), now()
      from generate_series(1, ${many}::int) n`;
    const { id } = await own.deal({ title: 'first' });
    await api.app.database.prisma.$executeRaw`
      insert into deals (account_id, id, title, pipeline_id, stage_id, status, created_at, updated_at)
      select d.account_id, gen_random_uuid(), 'Engine ' || n, d.pipeline_id, d.stage_id, 'open', now(), now()
      from deals d cross join generate_series(1, ${many}::int) n where d.account_id = ${own.id}::uuid and d.id = ${id}::uuid`;
    await vacuumed(api, ['contacts', 'deals']);
  }, 120_000);
  const ask = async (items: Loose[]) => dataOf(await own.owner.post('/automations/resolve', { items })) as Loose[];

  it.each([
    ['contact', 'contacts', ['ADA 5000 Lovelace 39595000', 'ada77@EXAMPLE.com']],
    ['deal', 'deals', ['engine 5000', 'ENGINE 77']],
  ])('is found by the index of searches, and no part of a name: %s', async (type, table, names) => {
    const items = [...names, 'ada 1500', 'engine 1999'].map((name) => ({ type, name }));
    const isFound = (await ask(items)).map(({ id, candidates }) => [typeof id === 'string', candidates.length]);
    expect(isFound).toEqual([[true, 1], [true, 1], [false, 0], type === 'deal' ? [true, 1] : [false, 0]]); // biome-ignore format: one line
    expect(await planOf(api, 'n.called as name', () => ask(items.slice(1, 2)))).toContain(`Bitmap Index Scan on ${table}_search`);
  });

  it('that is too short for an index is found as well', async () => {
    const { id } = await own.contact({ firstName: 'Al', lastName: null });
    expect(await ask([{ type: 'contact', name: 'AL' }])).toMatchObject([{ id, candidates: [{ id, name: 'Al' }] }]);
    const { id: person } = await own.contact({ firstName: 'ΟΔΟΣ', lastName: 'ΟΔΟΣ' });
    for (const name of ['ΟΔΟΣ ΟΔΟΣ', 'Οδος οδος']) expect(await ask([{ type: 'contact', name }])).toMatchObject([{ id: person }]);
  });
});
