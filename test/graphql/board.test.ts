import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let pipeline: Loose;
/** The columns by their names. */
let column: Record<string, string>;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
beforeEach(async () => {
  pipeline = await acme.pipeline();
  column = Object.fromEntries(pipeline.stages.map((stage: Loose) => [stage.name, stage.id]));
});
afterAll(() => api.close());

const document = `mutation ($id: ID!, $stageId: ID!, $afterId: ID, $lostReason: String) {
  moveDeal(id: $id, stageId: $stageId, afterId: $afterId, lostReason: $lostReason) {
    id status lostReason closedAt probability stage { id name } pipeline { id } } }`;

const move = (id: string, stageId: string, more: object = {}) => acme.owner.gql(document, { id, stageId, ...more });

async function moved(id: string, stageId: string, more: object = {}): Promise<Loose> {
  const { data, errors } = await move(id, stageId, more);
  expect(errors).toBeUndefined();
  return data.moveDeal;
}

const titlesIn = async (stageId: string) =>
  dataOf(await acme.owner.get(`/deals?stage_id=${stageId}`)).data.map(({ title }: Loose) => title);

describe('moveDeal', () => {
  it('closes a deal in a stage that is won or lost, and opens it again when it comes out', async () => {
    const { id } = await acme.deal({ pipeline });
    expect(await moved(id, column.Won!)).toMatchObject({ status: 'won', closedAt: expect.any(String), stage: { name: 'Won' } });
    expect(await moved(id, column.Lost!, { lostReason: 'Price' })).toMatchObject({ status: 'lost', lostReason: 'Price' });
    expect(await moved(id, column.Talking!)).toMatchObject({ status: 'open', closedAt: null, stage: { name: 'Talking' } });
    expect(dataOf(await acme.owner.get(`/deals/${id}`))).toMatchObject({ status: 'open', stageId: column.Talking });
  });

  it('leaves the status of a deal that comes from an open stage into another, or stays', async () => {
    const { id } = await acme.deal({ pipeline });
    dataOf(await acme.owner.patch(`/deals/${id}`, { status: 'won' }));
    expect((await moved(id, column.Talking!)).status).toBe('won');
    expect((await moved(id, column.Talking!, { afterId: null })).status).toBe('won');
  });

  it('asks for the reason that the stage wants, and lists those that would do', async () => {
    const { id } = await acme.deal({ pipeline });
    const rules = { lostReasonRequired: true, lostReasons: ['Price', 'Time'] };
    dataOf(await acme.owner.patch(`/pipelines/${pipeline.id}/stages/${column.Lost}`, rules));
    for (const lostReason of [undefined, 'Weather']) {
      const reply = await move(id, column.Lost!, { lostReason });
      expectGraphQLRefusal(reply, 422, 'lostReason');
      expect(reply.errors![0].extensions.details[0].options).toEqual(['Price', 'Time']);
    }
    expect((await moved(id, column.Lost!, { lostReason: 'Time' })).status).toBe('lost');
  });

  it('puts a deal behind another, first, or last', async () => {
    const made: Loose[] = [];
    for (const title of ['a', 'b', 'c']) made.push(await acme.deal({ pipeline, title }));
    const [a, b, c] = made;
    await moved(c.id, column.New!, { afterId: a.id });
    expect(await titlesIn(column.New!)).toEqual(['a', 'c', 'b']);
    await moved(b.id, column.New!, { afterId: null });
    expect(await titlesIn(column.New!)).toEqual(['b', 'a', 'c']);
    await moved(a.id, column.Offer!);
    api.clock.advance(1000);
    await moved(b.id, column.Offer!);
    expect(await titlesIn(column.Offer!)).toEqual(['a', 'b']);
    await moved(c.id, column.Offer!, { afterId: a.id });
    expect(await titlesIn(column.Offer!)).toEqual(['a', 'c', 'b']);
  });
});

describe('moveDeal besides', () => {
  it('follows into another pipeline', async () => {
    const other = await acme.pipeline();
    const { id } = await acme.deal({ pipeline });
    expect(await moved(id, other.stages[1].id)).toMatchObject({ pipeline: { id: other.id }, stage: { id: other.stages[1].id } });
  });

  it('is told like any other change', async () => {
    const { id } = await acme.deal({ pipeline });
    await moved(id, column.Won!);
    const { data } = dataOf(await acme.owner.get(`/activities?deal_id=${id}`));
    expect(data.map(({ type }: Loose) => type)).toEqual(['deal.won', 'deal.created']);
  });

  it('names what is wrong, and changes nothing then', async () => {
    const abroad = await api.seed.account();
    const foreign = await abroad.deal();
    const { id } = await acme.deal({ pipeline });
    const elsewhere = await acme.deal();
    for (const stageId of [crypto.randomUUID(), foreign.stageId]) expectGraphQLRefusal(await move(id, stageId), 404);
    for (const deal of [crypto.randomUUID(), foreign.id, 'x']) expectGraphQLRefusal(await move(deal, column.Won!), 404);
    expectGraphQLRefusal(await move(id, 'x'), 400, 'stageId');
    for (const afterId of ['x', crypto.randomUUID(), foreign.id]) {
      expectGraphQLRefusal(await move(id, column.Won!, { afterId }), 400, 'afterId');
    }
    for (const afterId of [id, elsewhere.id]) expectGraphQLRefusal(await move(id, column.Won!, { afterId }), 422, 'afterId');
    expectGraphQLRefusal(await move(id, column.Lost!, { lostReason: 'x'.repeat(501) }), 400, 'lostReason');
    expect(dataOf(await acme.owner.get(`/deals/${id}`))).toMatchObject({ stageId: column.New, status: 'open' });
    const key = await acme.key({ permission: 'read' });
    expectGraphQLRefusal(await key.gql(document, { id, stageId: column.Won }), 403);
  });
});

describe('moveDeal into a stage of lost deals', () => {
  it('asks anew where the deal was lost before, and opened again', async () => {
    const { id } = await acme.deal({ pipeline });
    expect((await moved(id, column.Lost!, { lostReason: 'Time' })).lostReason).toBe('Time');
    await moved(id, column.Talking!);
    expect(await moved(id, column.Lost!)).toMatchObject({ status: 'lost', lostReason: 'Time' });
    await moved(id, column.Talking!);
    const rules = { lostReasonRequired: true, lostReasons: ['Price', 'Time'] };
    dataOf(await acme.owner.patch(`/pipelines/${pipeline.id}/stages/${column.Lost}`, rules));
    const refused = await move(id, column.Lost!);
    expectGraphQLRefusal(refused, 422, 'lostReason');
    expect(refused.errors![0].extensions.details[0].options).toEqual(['Price', 'Time']);
    expect(await moved(id, column.Lost!, { lostReason: 'Price' })).toMatchObject({ status: 'lost', lostReason: 'Price' });
    expect(await moved(id, column.Lost!, { afterId: null })).toMatchObject({ status: 'lost', lostReason: 'Price' });
  });
});

describe('the totals of a board', () => {
  const totals = 'query ($id: ID!) { pipeline(id: $id) { stages { id deals { totalCount nodes { id } } } } }';

  async function expectTotals(expected: number): Promise<void> {
    const { data } = await acme.owner.gql(totals, { id: pipeline.id });
    const shown = data.pipeline.stages.map(({ id, deals }: Loose) => [id, deals.totalCount]);
    const counted = data.pipeline.stages.map(({ id, deals }: Loose) => [id, deals.nodes.length]);
    expect(shown).toEqual(counted);
    expect(shown.reduce((sum: number, [, count]: [string, number]) => sum + count, 0)).toBe(expected);
  }

  it('are exact after deals were made, moved, deleted and restored at once', async () => {
    const stages = Object.values(column);
    const deals = await Promise.all(stages.flatMap((stageId) => [1, 2, 3].map(() => acme.deal({ pipeline, stageId }))));
    await expectTotals(deals.length);
    const everywhere = stages.flatMap((stageId, i) => deals.map(({ id }, nth) => ({ id, stageId, nth: nth + i })));
    await Promise.all(everywhere.filter(({ nth }) => nth % 3 > 0).map(({ id, stageId }) => move(id, stageId, { lostReason: 'Price' })));
    await expectTotals(deals.length);
    const [first, second, ...others] = deals.map(({ id }) => id);
    dataOf(await acme.owner.post('/bulk/deals/update', { updates: others.map((id) => ({ id, stageId: column.Talking })) }));
    await expectTotals(deals.length);
    await Promise.all([first, ...others].map((id) => acme.owner.del(`/deals/${id}`)));
    await expectTotals(1);
    dataOf(await acme.owner.post(`/deals/${first}/restore`));
    await expectTotals(2);
    const other = await acme.pipeline();
    await moved(second, other.stages[0].id);
    await expectTotals(1);
  });
});
