import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let pipeline: Loose;
let stages: string[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  pipeline = await acme.pipeline();
  stages = pipeline.stages.map((stage: Loose) => stage.id);
});
afterAll(() => api.close());

const create = (body: object) => acme.owner.post('/deals', { title: 'Deal', pipelineId: pipeline.id, stageId: stages[0], ...body });
const made = async (body: object = {}) => dataOf(await create(body));
const patch = (id: string, body: unknown) => acme.owner.patch(`/deals/${id}`, body);
const patched = async (id: string, body: unknown) => dataOf(await patch(id, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/deals/${id}`));
const nobody = crypto.randomUUID();

const everything = () => ({
  title: 't'.repeat(200),
  value: 99999999999.99,
  currency: 'EUR',
  status: 'open',
  priority: 'p'.repeat(30),
  source: 's'.repeat(500),
  lostReason: 'l'.repeat(500),
  probability: 0.3333,
  expectedCloseDate: '2028-02-29',
  appointmentAt: '2026-12-24T10:00:00.000Z',
  assignedTo: acme.ownerId,
  customFields: { tier: 1, nested: { deep: [null] } },
});

describe('PATCH /deals/{id}', () => {
  it('keeps what is absent, clears what is null, and merges custom fields key by key', async () => {
    const deal = await made({ ...everything(), customFields: { a: 1, b: 2 } });
    const cleared = {
      value: null,
      priority: null,
      source: null,
      lostReason: null,
      probability: null,
      expectedCloseDate: null,
      assignedTo: null,
    };
    const after = await patched(deal.id, { ...cleared, customFields: { a: null, c: 3 } });
    expect(after).toMatchObject({ ...deal, ...cleared, customFields: { b: 2, c: 3 }, updatedAt: after.updatedAt });
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { title: deal.title }, cleared]) expect(await patched(deal.id, body)).toEqual(after);
      for (const name of ['title', 'pipelineId', 'stageId', 'status', 'currency'])
        expectRefusal(await patch(deal.id, { [name]: null }), 400, name);
    });
  });

  it('clears the appointment by null and by nothing, and says when it was missed', async () => {
    const deal = await made({ appointmentAt: new Date(api.clock.now().getTime() - 59 * 60_000).toISOString() });
    expect(deal.appointmentMissed).toBe(false);
    api.clock.advance(2 * 60_000);
    expect((await read(deal.id)).appointmentMissed).toBe(true);
    expect((await patched(deal.id, { status: 'won' })).appointmentMissed).toBe(false);
    expect((await patched(deal.id, { status: 'open' })).appointmentMissed).toBe(true);
    expect(await patched(deal.id, { appointmentAt: '' })).toMatchObject({ appointmentAt: null, appointmentMissed: false });
    expect((await patched(deal.id, { appointmentAt: '2027-01-15T10:00:00+02:00' })).appointmentAt).toBe('2027-01-15T08:00:00.000Z');
    expect((await patched(deal.id, { appointmentAt: null })).appointmentAt).toBeNull();
    api.clock.reset();
  });
});

it('An appointment is written in every form that a due date takes', async () => {
  const { id } = await acme.deal();
  for (const written of [
    ...['2030-12-31T10:00:00Z', '2030-12-31T10:00Z', '2030-12-31t10:00:00.000z', '2030-12-31 10:00Z', ' 2030-12-31T12:00+02:00 '],
    ...['2030-12-31T12:00:00+0200', '2030-12-31T02:00-08:00', '2030-12-31'],
  ]) {
    const { dueDate } = dataOf(await acme.owner.post('/tasks', { title: 'a', dueDate: written }));
    expect(dataOf(await acme.owner.patch(`/deals/${id}`, { appointmentAt: written })).appointmentAt).toBe(dueDate);
    const { data } = await acme.owner.gql(
      'mutation ($id: ID!, $at: DateOrDateTime) { updateDeal(id: $id, input: { appointmentAt: $at }) { appointmentAt } }',
      { id, at: written },
    );
    expect(data.updateDeal.appointmentAt).toBe(dueDate);
  }
  for (const wrong of ['2030-12-31T10:00', '31.12.2030', '2030-02-30', '0000-01-01', '10000-01-01T00:00Z']) {
    expectRefusal(await acme.owner.patch(`/deals/${id}`, { appointmentAt: wrong }), 400, 'appointmentAt');
  }
});

describe('a deal', () => {
  it('closes with won and lost, and opens again', async () => {
    const { id } = await made();
    const closed = await patched(id, { status: 'won' });
    expect(closed).toMatchObject({ status: 'won', closedAt: expect.any(String), stageId: stages[0] });
    api.clock.advance(minute);
    for (const body of [{ title: 'After' }, { status: 'won', title: 'Again' }])
      expect((await patched(id, body)).closedAt).toBe(closed.closedAt);
    const lost = await patched(id, { status: 'lost', lostReason: 'Price' });
    expect(lost).toMatchObject({ status: 'lost', lostReason: 'Price' });
    expect(Date.parse(lost.closedAt) - Date.parse(closed.closedAt)).toBeGreaterThanOrEqual(minute);
    expect(await patched(id, { status: 'open' })).toMatchObject({ status: 'open', closedAt: null });
    api.clock.reset();
  });

  it('moves the deal and leaves its status', async () => {
    const { id } = await made({ status: 'won' });
    const moved = await patched(id, { stageId: stages[1] });
    expect(moved).toMatchObject({ stageId: stages[1], status: 'won' });
    const other = await acme.pipeline();
    await expectNothingWritten(api, async () => {
      expectRefusal(await patch(id, { stageId: other.stages[0].id }), 422, 'stageId');
      expectRefusal(await patch(id, { pipelineId: other.id }), 422, 'stageId');
      expectRefusal(await patch(id, { pipelineId: other.id, stageId: stages[0] }), 422, 'stageId');
      for (const body of [{ stageId: nobody }, { pipelineId: nobody }, { pipelineId: nobody, stageId: stages[0] }])
        expectRefusal(await patch(id, body), 404);
    });
    expect(await patched(id, { pipelineId: other.id, stageId: other.stages[1].id })).toMatchObject({ pipelineId: other.id, status: 'won' });
  });

  it('takes the new stage’s probability along unless it was said', async () => {
    const { id, stages: own } = await acme.pipeline({
      stages: [
        { name: 'a', probability: 0.1 },
        { name: 'b', probability: 0.6 },
      ],
    });
    const [a, b] = own.map((stage: Loose) => stage.id);
    const [plain, said] = [await made({ pipelineId: id, stageId: a }), await made({ pipelineId: id, stageId: a, probability: 0.9 })];
    expect((await patched(plain.id, { stageId: b })).probability).toBe(0.6);
    expect((await patched(said.id, { stageId: b })).probability).toBe(0.9);
    expect((await patched(plain.id, { stageId: a, probability: 0.2 })).probability).toBe(0.2);
  });
});

describe('a deal whose stage changes or goes', () => {
  it('takes the next stage’s probability along where its own was edited or deleted meanwhile', async () => {
    const stages = [0.1, 0.6, 0.9].map((probability, n) => ({ name: `s${n}`, probability }));
    const { id: pipelineId, stages: own } = await acme.pipeline({ stages });
    const [a, b, c] = own.map((stage: Loose) => stage.id);
    const edited = await made({ pipelineId, stageId: a });
    dataOf(await acme.owner.patch(`/pipelines/${pipelineId}/stages/${a}`, { probability: 0.2 }));
    expect((await patched(edited.id, { stageId: c })).probability).toBe(0.9);
    const [plain, said, cleared] = [await made({ pipelineId, stageId: b }), await made({ pipelineId, stageId: b, probability: 0.5 }), await made({ pipelineId, stageId: b })]; // biome-ignore format: one line
    await patched(cleared.id, { probability: null });
    dataOf(await acme.owner.del(`/pipelines/${pipelineId}/stages/${b}`));
    const now = async () => Promise.all([plain, said, cleared].map(async ({ id }) => dataOf(await acme.owner.get(`/deals/${id}`))));
    expect((await now()).map(({ stageId, probability }) => [stageId, probability])).toEqual([[a, 0.2], [a, 0.5], [a, null]]); // biome-ignore format: one line
    for (const { id } of [plain, said, cleared]) await patched(id, { stageId: c });
    expect((await now()).map(({ probability }) => probability)).toEqual([0.9, 0.5, null]);
  });

  it('keeps a probability that was given with a move, also where it is the one that it had', async () => {
    const stages = [0.3, 0.6, 0.9].map((probability, n) => ({ name: `s${n}`, probability }));
    const { id: pipelineId, stages: own } = await acme.pipeline({ stages });
    const [a, b, c] = own.map((stage: Loose) => stage.id);
    const { id } = await made({ pipelineId, stageId: a });
    expect((await patched(id, { stageId: b, probability: 0.3 })).probability).toBe(0.3);
    expect((await patched(id, { stageId: c })).probability).toBe(0.3);
    // Said again without a move it is still the stage's.
    const still = await made({ pipelineId, stageId: a });
    await patched(still.id, { probability: 0.3 });
    expect((await patched(still.id, { stageId: c })).probability).toBe(0.9);
  });

  it('stands behind what is there when it comes into another column by the deletion of its own, or by a restore', async () => {
    const { id: pipelineId, stages: own } = await acme.pipeline({ stages: [{ name: 'a' }, { name: 'b' }] });
    const [a, b] = own.map((stage: Loose) => stage.id);
    const [first, second, third] = [await made({ pipelineId, stageId: b }), await made({ pipelineId, stageId: b }), await made({ pipelineId, stageId: b })]; // biome-ignore format: one line
    dataOf(await acme.owner.del(`/deals/${third.id}`));
    await patched(second.id, { afterDealId: null });
    api.clock.advance(1000);
    const there = await made({ pipelineId, stageId: a });
    api.clock.advance(1000);
    dataOf(await acme.owner.del(`/pipelines/${pipelineId}/stages/${b}`));
    api.clock.advance(1000);
    dataOf(await acme.owner.post(`/deals/${third.id}/restore`));
    const board = dataOf(await acme.owner.get(`/deals?stage_id=${a}`)).data.map((deal: Loose) => deal.id);
    expect(board).toEqual([there.id, second.id, first.id, third.id]);
    api.clock.reset();
  });
});

describe('a deal that the version before wrote', () => {
  it('follows its stage where it has the probability of that', async () => {
    const stages = [0.3, 0.6].map((probability, n) => ({ name: `s${n}`, probability }));
    const { id: pipelineId, stages: own } = await acme.pipeline({ stages });
    const [a, b] = own.map((stage: Loose) => stage.id);
    const ids: string[] = [];
    for (const given of [{ stageId: a }, { stageId: a, probability: 0.5 }, { stageId: a }])
      ids.push((await made({ pipelineId, ...given })).id);
    const older = 'update deals set probability_from_stage = default where id = any($1::uuid[])';
    await api.app.database.execute(older, [ids]);
    const [plain, said, moved] = ids as [string, string, string];
    expect((await patched(plain, { stageId: b })).probability).toBe(0.6);
    expect((await patched(said, { stageId: b })).probability).toBe(0.5);
    await api.app.database.execute(older, [ids]);
    dataOf(await acme.owner.del(`/pipelines/${pipelineId}/stages/${a}`));
    expect((await read(moved)).probability).toBe(0.6);
  });
});

describe('DELETE /deals/{id}', () => {
  it('hides the deal, and restore brings it back as it was', async () => {
    const deal = await made({ value: 5, products: [{ name: 'a', unitPrice: 5 }] });
    expect(dataOf(await acme.owner.del(`/deals/${deal.id}`))).toEqual({ id: deal.id, deleted: true });
    for (const reply of [
      await acme.owner.get(`/deals/${deal.id}`),
      await patch(deal.id, { title: 'a' }),
      await acme.owner.del(`/deals/${deal.id}`),
    ])
      expectRefusal(reply, 404);
    const { updatedAt, ...restored } = dataOf(await acme.owner.post(`/deals/${deal.id}/restore`));
    expect({ ...restored, updatedAt: deal.updatedAt }).toEqual(deal);
    await expectNothingWritten(api, async () => dataOf(await acme.owner.post(`/deals/${deal.id}/restore`)));
  });

  it('comes back into the first stage when its own is gone, and not without its pipeline', async () => {
    const own = await acme.pipeline();
    const deal = await made({ pipelineId: own.id, stageId: own.stages[2].id });
    dataOf(await acme.owner.del(`/deals/${deal.id}`));
    expect(dataOf(await acme.owner.del(`/pipelines/${own.id}/stages/${own.stages[2].id}`)).movedDeals).toBe(0);
    expect(dataOf(await acme.owner.post(`/deals/${deal.id}/restore`)).stageId).toBe(own.stages[0].id);
    dataOf(await acme.owner.del(`/pipelines/${own.id}`));
    expectRefusal(await acme.owner.get(`/deals/${deal.id}`), 404);
    expectRefusal(await acme.owner.post(`/deals/${deal.id}/restore`), 409);
  });

  it('comes back into a pipeline without stages once that has one', async () => {
    const own = await acme.pipeline({ stages: [{ name: 'Only' }] });
    const deal = await made({ pipelineId: own.id, stageId: own.stages[0].id });
    dataOf(await acme.owner.del(`/deals/${deal.id}`));
    dataOf(await acme.owner.del(`/pipelines/${own.id}/stages/${own.stages[0].id}`));
    const refused = await acme.owner.post(`/deals/${deal.id}/restore`);
    expectRefusal(refused, 409, 'pipelineId');
    expect(refused.body.error).toBe('pipelineId names a pipeline that is deleted or has no stage');
    dataOf(await acme.owner.post(`/pipelines/${own.id}/stages`, { name: 'New' }));
    const [stage] = dataOf(await acme.owner.get(`/pipelines/${own.id}`)).stages;
    expect(dataOf(await acme.owner.post(`/deals/${deal.id}/restore`)).stageId).toBe(stage.id);
  });
});
