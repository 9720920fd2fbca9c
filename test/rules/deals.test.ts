import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { whileHeldUp } from '../support/heldUp.js';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const patch = (id: string, body: unknown) => acme.owner.patch(`/deals/${id}`, body);
const patched = async (id: string, body: unknown) => dataOf(await patch(id, body));
const countOf = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

/** A pipeline with deals of these titles in its first column. */
async function column(titles: string[]) {
  const pipeline = await acme.pipeline();
  const ids = new Map<string, string>();
  for (const title of titles) {
    ids.set(title, (await acme.deal({ pipeline, title })).id);
    api.clock.advance(1);
  }
  const order = async (n = 0) =>
    dataOf(await acme.owner.get(`/deals?stage=${pipeline.stages[n].id}&per_page=200`)).data.map((deal: Loose) => deal.title);
  const put = (title: string, after: string | null, more: object = {}) =>
    patched(ids.get(title)!, { afterDealId: after && ids.get(after), ...more });
  return { pipeline, ids, order, put, stages: pipeline.stages.map((stage: Loose) => stage.id) as string[] };
}

describe('the places of a column', () => {
  it('are those in which the deals came, and new ones come last', async () => {
    const { order, put, pipeline } = await column(['a', 'b', 'c']);
    expect(await order()).toEqual(['a', 'b', 'c']);
    await put('a', 'c');
    expect(await order()).toEqual(['b', 'c', 'a']);
    await put('a', null);
    await put('c', 'a');
    expect(await order()).toEqual(['a', 'c', 'b']);
    await acme.deal({ pipeline, title: 'd' });
    expect(await order()).toEqual(['a', 'c', 'b', 'd']);
  });

  it('hold in another column as well', async () => {
    const { order, put, ids, stages } = await column(['a', 'b', 'c']);
    for (const title of ['c', 'b']) {
      await patched(ids.get(title)!, { stageId: stages[1] });
      api.clock.advance(1);
    }
    expect(await order(1)).toEqual(['c', 'b']);
    await put('a', 'c', { stageId: stages[1] });
    expect([await order(0), await order(1)]).toEqual([[], ['c', 'a', 'b']]);
  });

  it('are behind another deal of the same column only', async () => {
    const { ids, stages } = await column(['a', 'b', 'c']);
    const [a, b, c] = [...ids.values()] as [string, string, string];
    await patched(c, { stageId: stages[1] });
    const abroad = await (await api.seed.account()).deal();
    await expectNothingWritten(api, async () => {
      for (const afterDealId of [a, c]) expectRefusal(await patch(a, { afterDealId }), 422, 'afterDealId');
      for (const afterDealId of [crypto.randomUUID(), abroad.id, 'x']) expectRefusal(await patch(a, { afterDealId }), 400, 'afterDealId');
      expectRefusal(await patch(a, { stageId: stages[1], afterDealId: b }), 422, 'afterDealId');
    });
  });

  it('never run out between two deals', async () => {
    const { order, put } = await column(['a', 'b', 'c', 'd']);
    for (let i = 0; i < 70; i++) await put(i % 2 ? 'c' : 'd', 'a');
    expect(await order()).toEqual(['a', 'c', 'd', 'b']);
  });
});

describe('the places of a large column, where no room is left behind its first deal', () => {
  /** A column of 600 deals, `together` of them at one position, once another deal was put behind the first one. */
  async function crowded(together: number) {
    const { prisma } = api.app.database;
    const pipeline = await acme.pipeline();
    const own = { accountId: acme.id, pipelineId: pipeline.id, stageId: pipeline.stages[0].id as string };
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    const ids = Array.from({ length: 600 }, () => api.clock.id()).sort();
    const data = ids.map((id, n) => ({ ...own, ...times, id, title: `${n}`, position: n < together ? 0 : 3 * n }));
    await prisma.deal.createMany({ data });
    const { id } = await acme.deal({ pipeline, title: 'moved' });
    await patched(id, { afterDealId: ids[0] });
    const deals = await prisma.deal.findMany({ where: { stageId: own.stageId }, orderBy: [{ position: 'asc' }, { id: 'asc' }] });
    return { titles: deals.map(({ title }) => title), positions: deals.map(({ position }) => Number(position)) };
  }
  const expected = ['0', 'moved', ...Array.from({ length: 599 }, (_, n) => `${n + 1}`)];

  it('are spread behind it for 200 deals, and stay for the others', async () => {
    const { titles, positions } = await crowded(2);
    expect(titles).toEqual(expected);
    expect(positions.slice(202)).toEqual(Array.from({ length: 399 }, (_, n) => 3 * (n + 201)));
  });

  it('are spread further where more than these stand at one position', async () => {
    const { titles, positions } = await crowded(300);
    expect(titles).toEqual(expected);
    expect(new Set(positions).size).toBe(601);
  });
});

// Races, which the one connection of the embedded database does not have.
onPostgres(describe)('a place between two deals that have no room, while a deal behind them is moved', () => {
  it.each(['further down', 'to another column'])('leaves that one where it was moved: %s', async (where) => {
    const { ids, order, stages } = await column(['a', 'b', 'x', 'e', 'd', 'y']);
    const idOf = (title: string) => ids.get(title)!;
    await patched(idOf('y'), { stageId: stages[1] });
    api.clock.advance(1);
    const { prisma } = api.app.database;
    const { position } = await prisma.deal.findUniqueOrThrow({ where: { id: idOf('a') } });
    await prisma.deal.update({ where: { id: idOf('b') }, data: { position } });
    const isElsewhere = where === 'to another column';
    const { replies, waitedFor } = await whileHeldUp(
      api,
      { table: 'deals', columns: 'position', rows: `new.id = '${idOf('x')}'` },
      () => patch(idOf('x'), isElsewhere ? { stageId: stages[1] } : { afterDealId: idOf('e') }),
      () => patch(idOf('d'), { afterDealId: idOf('a') }),
    );
    expect([replies.map(({ status }) => status), waitedFor]).toEqual([[200, 200], ['deals']]);
    expect(await order()).toEqual(['a', 'd', 'b', 'e', ...(isElsewhere ? [] : ['x'])]);
    expect(await order(1)).toEqual(['y', ...(isElsewhere ? ['x'] : [])]);
  });
});

describe('the creation limit', () => {
  it('is 30 a minute for an address, for each createDeal as for each POST', async () => {
    const limited = await server({ limits: true });
    const account = await limited.seed.account();
    const pipeline = await account.pipeline();
    const key = await account.key({ rateLimit: 10_000 });
    const input = { title: 'a', pipelineId: pipeline.id, stageId: pipeline.stages[0].id };
    for (let i = 0; i < 15; i++) expect((await key.post('/deals', input)).status).toBe(201);
    const fields = Array.from({ length: 15 }, (_, i) => `d${i}: createDeal(input: $input) { id }`).join(' ');
    expect((await key.gql(`mutation ($input: CreateDealInput!) { ${fields} }`, { input })).errors).toBeUndefined();
    const refused = await key.post('/deals', input);
    expectRefusal(refused, 429);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect((await key.patch(`/deals/${dataOf(await key.get('/deals')).data[0].id}`, { title: 'b' })).status).toBe(200);
    await limited.close();
  });
});

onPostgres(describe)('at the same moment', () => {
  it('two moves of a deal both stand in the log, one after the other', async () => {
    const { pipeline, ids, stages } = await column(['a']);
    const id = ids.get('a')!;
    const replies = await Promise.all([1, 2, 3, 4].map((n) => patch(id, { stageId: stages[n] })));
    expect(countOf(replies, 200)).toBe(4);
    const where = { entityId: id, name: 'deal.stage_changed' };
    const moves = (await api.app.database.prisma.outboxEvent.findMany({ where, orderBy: { seq: 'asc' } })).map(
      (e) => (e.changes as Loose).stageId,
    );
    const chain = new Map(moves.map(({ from, to }: Loose) => [from, to]));
    const path = [stages[0]!];
    while (chain.has(path.at(-1)!)) path.push(chain.get(path.at(-1)!) as string);
    expect([...path].sort()).toEqual([...stages].sort());
    expect(dataOf(await acme.owner.get(`/deals/${id}`))).toMatchObject({ stageId: path.at(-1), pipelineId: pipeline.id });
    const log = await api.app.database.prisma.activity.findMany({ where: { entityId: id, type: 'deal.stage_changed' } });
    expect(log).toHaveLength(4);
  });

  it('a deal that is made or moved into a stage never stands in a deleted one', async () => {
    for (let round = 0; round < 5; round++) {
      const { pipeline, ids, stages } = await column(['a', 'b']);
      const target = stages[1]!;
      const create = () => acme.owner.post('/deals', { title: 'new', pipelineId: pipeline.id, stageId: target });
      const replies = await Promise.all([
        create(),
        patch(ids.get('a')!, { stageId: target }),
        acme.owner.del(`/pipelines/${pipeline.id}/stages/${target}`),
        create(),
        patch(ids.get('b')!, { stageId: target }),
      ]);
      for (const { status } of replies) expect([200, 201, 404]).toContain(status);
      expect(replies[2].status).toBe(200);
      const live = await api.app.database.prisma.deal.findMany({ where: { pipelineId: pipeline.id, deletedAt: null } });
      expect(live.filter((deal) => deal.stageId === target)).toEqual([]);
    }
  });

  it('the last pipeline of a plan goes to one', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    await trial.pipeline();
    await trial.pipeline();
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => trial.owner.post('/pipelines', { name: `p${i}` })));
    expect([countOf(replies, 201), countOf(replies, 403)]).toEqual([1, 9]);
    const pipelines = dataOf(await trial.owner.get('/pipelines'));
    expect([pipelines.length, pipelines.filter((p: Loose) => p.isDefault).length]).toEqual([3, 1]);
  });

  it('the values of one deal are never of two writers', async () => {
    const { ids } = await column(['a']);
    const id = ids.get('a')!;
    const lines = (n: number) => Array.from({ length: 5 }, (_, i) => ({ name: `${n}.${i}`, unitPrice: n }));
    const replies = await Promise.all([1, 2, 3, 4, 5].map((n) => patch(id, { products: lines(n) })));
    expect(countOf(replies, 200)).toBe(5);
    const deal = dataOf(await acme.owner.get(`/deals/${id}`));
    expect(deal.products).toHaveLength(5);
    expect(new Set(deal.products.map((p: Loose) => p.unitPrice)).size).toBe(1);
    expect(deal.value).toBe(deal.products[0].unitPrice * 5);
  });
});
