import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let member: Client;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  member = await acme.member();
});
afterAll(() => api.close());

const create = (body: unknown, client = acme.owner) => client.post('/pipelines', body);
const read = async (id: string) => dataOf(await acme.owner.get(`/pipelines/${id}`));
const names = (stages: Loose[]) => stages.map((stage) => stage.name);
const stagesOf = async (id: string) => dataOf(await acme.owner.get(`/pipelines/${id}/stages`));
/** What was told of a record since it was made. */
const events = (entityId: string) =>
  api.app.database.prisma.outboxEvent.findMany({
    where: { entityId, NOT: { name: { endsWith: '.created' } } },
    orderBy: { seq: 'asc' },
  });

describe('POST /pipelines', () => {
  it('makes the pipeline with its stages, in their order', async () => {
    const stages = [
      { name: 'Last', order: 9, color: '#123ABC' },
      { name: 'First', order: 2, probability: 0.25, lostReasonRequired: true, lostReasons: ['Price', 'Timing'] },
      { name: 'Middle', order: 5, isWon: true, probability: '0.1234' },
    ];
    const reply = await create({ name: 'n'.repeat(200), description: 'd'.repeat(2000), stages });
    expect(reply.status).toBe(201);
    const pipeline = reply.body.data;
    expect(pipeline.stages.map((s: Loose) => [s.name, s.sortOrder, s.isWon, s.isLost, s.color, s.probability])).toEqual([
      ['First', 2, false, false, '#6B7280', 0.25],
      ['Middle', 5, true, false, '#6B7280', 0.1234],
      ['Last', 9, false, false, '#123ABC', null],
    ]);
    expect(pipeline.stages[0]).toMatchObject({ pipelineId: pipeline.id, lostReasonRequired: true, lostReasons: ['Price', 'Timing'] });
    const { statistics, ...detail } = await read(pipeline.id);
    expect(detail).toEqual(pipeline);
    expect(statistics).toMatchObject({ dealCount: 0, totalValue: 0, weightedValue: 0, wonValue: 0 });
    expect(names(statistics.byStage)).toEqual(['First', 'Middle', 'Last']);
  });

  it('takes up to fifty stages, in the order in which they come', async () => {
    const stages = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `Stage ${i}` }));
    expect(names(dataOf(await create({ name: 'a', stages: stages(50) })).stages)).toEqual(names(stages(50)));
    expect(dataOf(await create({ name: 'a' })).stages).toEqual([]);
    await expectNothingWritten(api, async () => expectRefusal(await create({ name: 'a', stages: stages(51) }), 400, 'stages'));
  });

  it('names what is wrong', async () => {
    const wrong: [unknown, string, number?][] = [
      [{}, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'n'.repeat(201) }, 'name'],
      [{ name: 'a', description: 'd'.repeat(2001) }, 'description'],
      [{ name: 'a', stages: [{}] }, 'stages.0.name'],
      [{ name: 'a', stages: [{ name: 'a' }, { name: 'b', color: 'red' }] }, 'stages.1.color'],
      [{ name: 'a', stages: [{ name: 'a', probability: 1.01 }] }, 'stages.0.probability'],
      [{ name: 'a', stages: [{ name: 'a', order: -1 }] }, 'stages.0.order'],
      [{ name: 'a', stages: [{ name: 'a', isWon: true, isLost: true }] }, 'stages.0.isLost', 422],
    ];
    await expectNothingWritten(api, async () => {
      for (const [body, field, status] of wrong) expectRefusal(await create(body), status ?? 400, field);
    });
  });
});

describe('making a pipeline', () => {
  it('needs an owner or an admin', async () => {
    await expectNothingWritten(api, async () => expectRefusal(await create({ name: 'a' }, member), 403));
    expect((await create({ name: 'a' }, await acme.member('admin'))).status).toBe(201);
  });

  it('makes the first one the default; another takes it over only when told', async () => {
    const other = await api.seed.account();
    const defaults = async () => (dataOf(await other.owner.get('/pipelines')) as Loose[]).map((p) => [p.name, p.isDefault]);
    await other.pipeline({ name: 'a', isDefault: false });
    await other.pipeline({ name: 'b' });
    expect(await defaults()).toEqual([['a', true], ['b', false]]); // biome-ignore format: one line
    const c = await other.pipeline({ name: 'c', isDefault: true });
    expect(await defaults()).toEqual([['a', false], ['b', false], ['c', true]]); // biome-ignore format: one line
    dataOf(await other.owner.del(`/pipelines/${c.id}`));
    expect(await defaults()).toEqual([['a', true], ['b', false]]); // biome-ignore format: one line
  });

  it('tells of the pipeline that loses the default or gets it back', async () => {
    const other = await api.seed.account();
    const a = await other.pipeline({ name: 'a' });
    let c: Loose = {};
    const lost = await toldIn(other, async () => {
      c = await other.pipeline({ name: 'c', isDefault: true });
    });
    const back = await toldIn(other, async () => dataOf(await other.owner.del(`/pipelines/${c.id}`)));
    for (const [told, isDefault] of [
      [lost, false],
      [back, true],
    ] as const) {
      expect(told.events.filter((event) => event.startsWith('pipeline.updated'))).toEqual([`pipeline.updated ${a.id}`]);
      expect(told.rows.find(({ entityId }) => entityId === a.id)).toMatchObject({
        data: { id: a.id, isDefault },
        changes: { isDefault: { from: !isDefault, to: isDefault } },
      });
    }
    const gone = { data: { isDefault: false }, changes: { isDefault: { from: true, to: false } } };
    expect(back.rows.find(({ name }) => name === 'pipeline.deleted')).toMatchObject(gone);
  });

  it('answers 403 over the plan and 402 after the trial', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    for (const name of ['a', 'b', 'c']) expect((await create({ name }, trial.owner)).status).toBe(201);
    await expectNothingWritten(api, async () => expectRefusal(await create({ name: 'd' }, trial.owner), 403));
    dataOf(await trial.owner.del(`/pipelines/${dataOf(await trial.owner.get('/pipelines'))[0].id}`));
    expect((await create({ name: 'd' }, trial.owner)).status).toBe(201);
    api.clock.advance(15 * day);
    expectRefusal(await create({ name: 'e' }, await trial.login()), 402);
    api.clock.reset();
  });
});

describe('GET /pipelines', () => {
  it('answers a bare array with stages, and tells the paging in headers, in one statement', async () => {
    const other = await api.seed.account();
    for (const name of ['a', 'b', 'c']) await other.pipeline({ name });
    const reply = await other.owner.get('/pipelines?page=2&per_page=2');
    expect(Object.keys(reply.body)).toEqual(['data']);
    expect(names(reply.body.data)).toEqual(['c']);
    expect(names(reply.body.data[0].stages)).toEqual(['New', 'Talking', 'Offer', 'Won', 'Lost']);
    expect(reply.headers).toMatchObject({ 'x-total-count': '3', 'x-page': '2', 'x-per-page': '2' });
    const first = await other.owner.get('/pipelines?per_page=2');
    const next = await other.owner.get(`/pipelines?per_page=2&cursor=${first.headers['x-next-cursor']}`);
    expect([names(next.body.data), next.headers['x-next-cursor']]).toEqual([['c'], undefined]);
    expect(await api.statements(() => other.owner.get('/pipelines'))).toBe(1);
    expect(await api.statements(() => other.owner.get(`/pipelines/${reply.body.data[0].id}`))).toBe(2);
  });
});

describe('PATCH /pipelines/{id}', () => {
  it('changes name and description, and tells pipeline.updated once', async () => {
    const { id } = await acme.pipeline({ name: 'Before', description: 'x' });
    const after = dataOf(await acme.owner.patch(`/pipelines/${id}`, { name: 'After', description: null }));
    expect(after).toMatchObject({ name: 'After', description: null });
    await expectNothingWritten(api, async () => dataOf(await acme.owner.patch(`/pipelines/${id}`, { name: 'After' })));
    const [event, ...more] = await events(id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      name: 'pipeline.updated',
      changes: { name: { from: 'Before', to: 'After' }, description: { from: 'x', to: null } },
    });
    expect(event?.data).toEqual(after);
    expectRefusal(await member.patch(`/pipelines/${id}`, { name: 'a' }), 403);
    expectRefusal(await acme.owner.patch(`/pipelines/${id}`, { name: null }), 400, 'name');
  });

  it('passes the default on, and never leaves none', async () => {
    const { id } = await acme.pipeline();
    expect(dataOf(await acme.owner.patch(`/pipelines/${id}`, { isDefault: true })).isDefault).toBe(true);
    expect((dataOf(await acme.owner.get('/pipelines')) as Loose[]).filter((p) => p.isDefault).map((p) => p.id)).toEqual([id]);
    expectRefusal(await acme.owner.patch(`/pipelines/${id}`, { isDefault: false }), 422, 'isDefault');
  });
});

/** A deal in a stage, written without its module. */
async function dealIn(pipelineId: string, stageId: string, fields: object = {}): Promise<string> {
  const times = { createdAt: new Date(), updatedAt: new Date() };
  const data = { id: crypto.randomUUID(), accountId: acme.id, title: 'Deal', pipelineId, stageId, ...times, ...fields };
  return (await api.app.database.prisma.deal.create({ data })).id;
}

const kept = (id: string) => api.app.database.prisma.deal.findFirstOrThrow({ where: { id } });

describe('DELETE /pipelines/{id}', () => {
  it('takes its live deals along, and tells each of them', async () => {
    const [{ id, stages }, other] = [await acme.pipeline(), await acme.pipeline()];
    const [inside, outside] = [await dealIn(id, stages[0].id), await dealIn(other.id, other.stages[0].id)];
    const before = new Date('2020-01-01T00:00:00Z');
    const long = await dealIn(id, stages[0].id, { deletedAt: before });
    dataOf(await acme.owner.del(`/pipelines/${id}`));
    expect((await kept(inside)).deletedAt).not.toBeNull();
    expect([(await kept(outside)).deletedAt, (await kept(long)).deletedAt]).toEqual([null, before]);
    expect((await events(inside)).map((e) => [e.name, (e.data as Loose).id])).toEqual([['deal.deleted', inside]]);
    expect(await events(long)).toEqual([]);
  });

  it('hides the pipeline and its stages', async () => {
    const { id, stages } = await acme.pipeline();
    expectRefusal(await member.del(`/pipelines/${id}`), 403);
    expect(dataOf(await acme.owner.del(`/pipelines/${id}`))).toEqual({ id, deleted: true });
    expectRefusal(await acme.owner.get(`/pipelines/${id}`), 404);
    expectRefusal(await acme.owner.get(`/pipelines/${id}/stages`), 404);
    expectRefusal(await acme.owner.patch(`/pipelines/${id}/stages/${stages[0].id}`, { name: 'a' }), 404);
  });
});

const move = (id: string, stageId: string, body: unknown) => acme.owner.patch(`/pipelines/${id}/stages/${stageId}`, body);

describe('the stages of a pipeline', () => {
  it('are added behind the others, or where a position says', async () => {
    const { id } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }] });
    const add = async (body: unknown) => acme.owner.post(`/pipelines/${id}/stages`, body);
    expect((await add({ name: 'c', color: '#000000', isLost: true })).status).toBe(201);
    expect(dataOf(await add({ name: 'd', position: 1 }))).toMatchObject({ sortOrder: 1, pipelineId: id });
    expect(dataOf(await add({ name: 'e', sortOrder: 10 }))).toMatchObject({ sortOrder: 10 });
    expect(names(await stagesOf(id))).toEqual(['a', 'd', 'b', 'c', 'e']);
    expectRefusal(await add({ color: '#000000' }), 400, 'name');
    expectRefusal(await add({ name: 'a', isWon: true, isLost: true }), 422, 'isLost');
    expectRefusal(await member.post(`/pipelines/${id}/stages`, { name: 'a' }), 403);
    expect((await events(id)).map((e) => e.name)).toEqual(Array(3).fill('pipeline.updated'));
  });

  it('change and move; the one whose position is taken makes room', async () => {
    const { id, stages } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
    const moved = dataOf(await move(id, stages[2].id, { position: 0, name: 'C', probability: 0.5 }));
    expect(moved).toMatchObject({ id: stages[2].id, sortOrder: 0, name: 'C', probability: 0.5 });
    expect((await stagesOf(id)).map((s: Loose) => [s.name, s.sortOrder])).toEqual([['C', 0], ['a', 1], ['b', 2]]); // biome-ignore format: one line
    const [event] = await events(id);
    expect(event?.changes).toEqual({
      stages: {
        from: [{ id: moved.id, name: 'c', sortOrder: 2, probability: null }],
        to: [{ id: moved.id, name: 'C', sortOrder: 0, probability: '0.5000' }],
      },
    });
    expect(names((event!.data as Loose).stages)).toEqual(['C', 'a', 'b']);
    await expectNothingWritten(api, async () => dataOf(await move(id, moved.id, { name: 'C', position: 0, probability: '0.50' })));
    expectRefusal(await move(id, moved.id, { isWon: true, isLost: true }), 422, 'isLost');
    dataOf(await move(id, moved.id, { isWon: true }));
    expectRefusal(await move(id, moved.id, { isLost: true }), 422, 'isLost');
  });
});

describe('the deals of a pipeline', () => {
  it('go or move in as many statements for thirty as for two', async () => {
    const contacts = await Promise.all(Array.from({ length: 30 }, () => acme.contact()));
    const filled = async (n: number) => {
      const { id, stages } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }] });
      for (const contact of contacts.slice(0, n)) await dealIn(id, stages[1].id, { contactId: contact.id });
      return { id, stageId: stages[1].id };
    };
    const costOf = async (n: number, path: (of: Loose) => string) => {
      const all = await Promise.all(Array.from({ length: 5 }, () => filled(n)));
      return api.statements(async () => dataOf(await acme.owner.del(path(all.pop()))));
    };
    for (const path of [({ id }: Loose) => `/pipelines/${id}`, ({ id, stageId }: Loose) => `/pipelines/${id}/stages/${stageId}`]) {
      expect(await costOf(30, path)).toBe(await costOf(2, path));
    }
  });
});

describe('a stage', () => {
  it('belongs to its pipeline alone', async () => {
    const [one, two] = [await acme.pipeline(), await acme.pipeline()];
    await expectNothingWritten(api, async () => {
      expectRefusal(await move(one.id, two.stages[0].id, { name: 'a' }), 404);
      expectRefusal(await acme.owner.del(`/pipelines/${one.id}/stages/${two.stages[0].id}`), 404);
    });
  });

  it('hands its deals to the one before it, else after it, and tells each of them', async () => {
    const { id, stages } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
    const [a, b, c] = stages.map((stage: Loose) => stage.id);
    const [one, two] = [await dealIn(id, b), await dealIn(id, b)];
    const drop = (stageId: string) => acme.owner.del(`/pipelines/${id}/stages/${stageId}`);
    expect(dataOf(await drop(b))).toEqual({ id: b, deleted: true, movedDeals: 2, movedTo: a });
    expect([(await kept(one)).stageId, (await kept(two)).stageId]).toEqual([a, a]);
    expect((await events(one)).map((e) => [e.name, e.changes])).toEqual([
      ['deal.updated', { stageId: { from: b, to: a }, position: { from: expect.any(Number), to: expect.any(Number) } }],
      ['deal.stage_changed', { stageId: { from: b, to: a } }],
    ]);
    expect(dataOf(await drop(a))).toEqual({ id: a, deleted: true, movedDeals: 2, movedTo: c });
    await expectNothingWritten(api, async () => expectRefusal(await drop(c), 409));
    expect((await kept(two)).stageId).toBe(c);
  });

  it('goes when it is empty', async () => {
    const { id, stages } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }] });
    const drop = (stageId: string) => acme.owner.del(`/pipelines/${id}/stages/${stageId}`);
    expect(dataOf(await drop(stages[0].id))).toEqual({ id: stages[0].id, deleted: true, movedDeals: 0, movedTo: null });
    expect(names(await stagesOf(id))).toEqual(['b']);
    expectRefusal(await drop(stages[0].id), 404);
    expect((await drop(stages[1].id)).status).toBe(200);
    expect(await stagesOf(id)).toEqual([]);
    expect((await events(id)).map((e) => (e.changes as Loose).stages.to)).toEqual([[], []]);
  });
});
