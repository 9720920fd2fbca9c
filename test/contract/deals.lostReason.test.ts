import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: object) => acme.owner.post('/deals', { title: 'Deal', ...body });
const made = async (body: object) => dataOf(await create(body));
const patch = (id: string, body: unknown) => acme.owner.patch(`/deals/${id}`, body);
const patched = async (id: string, body: unknown) => dataOf(await patch(id, body));
const strict = (more: object = {}) =>
  acme.pipeline({
    stages: [{ name: 'Open' }, { name: 'Lost', isLost: true, lostReasonRequired: true, lostReasons: ['Price', 'Timing'], ...more }],
  });

describe('lostReason', () => {
  it('is demanded by the stage of a deal that is made or moved into it, or lost in it', async () => {
    const { id, stages: own } = await strict();
    const [open, lost] = own.map((stage: Loose) => stage.id);
    const refusal = { code: 'validation_failed', options: ['Price', 'Timing'] };
    const deal = await made({ pipelineId: id, stageId: open });
    await expectNothingWritten(api, async () => {
      for (const lostReason of [undefined, null, 'price', 'No idea']) {
        for (const reply of [
          await create({ pipelineId: id, stageId: lost, lostReason }),
          await patch(deal.id, { stageId: lost, lostReason }),
        ]) {
          expectRefusal(reply, 422, 'lostReason');
          expect(reply.body).toMatchObject(refusal);
        }
      }
    });
    expect(await made({ pipelineId: id, stageId: lost, lostReason: 'Price' })).toMatchObject({ status: 'lost', lostReason: 'Price' });
    expect(await patched(deal.id, { stageId: lost, status: 'lost', lostReason: 'Timing' })).toMatchObject({ status: 'lost' });
    expectRefusal(await patch(deal.id, { lostReason: null }), 422, 'lostReason');
    expect(await patched(deal.id, { stageId: open, status: 'open', lostReason: null })).toMatchObject({ lostReason: null, closedAt: null });
    expect(await patched(deal.id, { status: 'lost' })).toMatchObject({ status: 'lost', lostReason: null });
  });

  it('may stay one that the stage lists no more, of a deal that is opened again or won', async () => {
    const { id, stages: own } = await strict({ lostReasons: ['Price'] });
    const deal = await made({ pipelineId: id, stageId: own[1].id, lostReason: 'Price' });
    dataOf(await acme.owner.patch(`/pipelines/${id}/stages/${own[1].id}`, { lostReasons: ['Budget'] }));
    for (const status of ['open', 'won']) expect(await patched(deal.id, { status })).toMatchObject({ status, lostReason: 'Price' });
    expectRefusal(await patch(deal.id, { status: 'lost' }), 422, 'lostReason');
    expectRefusal(await patch(deal.id, { lostReason: 'Timing' }), 422, 'lostReason');
    expect(await patched(deal.id, { lostReason: 'Budget' })).toMatchObject({ status: 'won', lostReason: 'Budget' });
  });

  it('is any text where nobody lists reasons', async () => {
    const { id, stages: own } = await strict({ lostReasons: [] });
    const refused = await create({ pipelineId: id, stageId: own[1].id });
    expectRefusal(refused, 422, 'lostReason');
    expect(refused.body.options).toEqual([]);
    expect((await made({ pipelineId: id, stageId: own[1].id, lostReason: 'Whatever' })).lostReason).toBe('Whatever');
  });

  it('is demanded of every lost deal where the workspace says so', async () => {
    const other = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: other.id }, data: { lostReasonRequired: true, lostReasons: ['Budget'] } });
    const deal = await other.deal();
    const lose = (body: object) => other.owner.patch(`/deals/${deal.id}`, { status: 'lost', ...body });
    for (const body of [{}, { lostReason: 'Other' }]) {
      const reply = await lose(body);
      expectRefusal(reply, 422, 'lostReason');
      expect(reply.body.options).toEqual(['Budget']);
    }
    expect(dataOf(await lose({ lostReason: 'Budget' }))).toMatchObject({ status: 'lost', lostReason: 'Budget' });
  });
});
