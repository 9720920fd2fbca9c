import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let other: Account;
let pipeline: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  other = await api.seed.account({ name: 'Other' });
  pipeline = await acme.pipeline();
});
afterAll(() => api.close());

const bulk = (what: string, body: object) => acme.owner.post(`/bulk/deals/${what}`, body);
const done = async (what: string, body: object) => dataOf(await bulk(what, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/deals/${id}`));
const deals = (n: number, fields: object = {}): Promise<Loose[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => acme.deal({ pipeline, title: `Deal ${i}`, ...fields })));
const stage = (name: string): string => pipeline.stages.find((one: Loose) => one.name === name).id;

describe('POST /bulk/deals/update', () => {
  it('changes each deal in its own way, and what is wrong with one is told of it alone', async () => {
    const [a, b, c, d] = await deals(4);
    const elsewhere = (await acme.pipeline()).stages[0].id;
    const theirs = await other.deal();
    const { summary, results } = await done('update', {
      updates: [
        { id: a.id, value: 100.5, stageId: stage('Talking') },
        { id: b.id, stageId: elsewhere },
        { id: c.id, status: 'won', products: [{ name: 'Hours', unitPrice: 20, quantity: 2 }] },
        { id: d.id, contactId: (await other.contact()).id },
        { id: theirs.id, title: 'Mine' },
      ],
    });
    expect(summary).toEqual({ total: 5, succeeded: 2, failed: 3 });
    expect(results.map((r: Loose) => [r.success, r.code, r.field])).toEqual([
      [true, null, null],
      [false, 'validation_failed', 'stageId'],
      [true, null, null],
      [false, 'invalid_request', 'contactId'],
      [false, 'not_found', null],
    ]);
    expect(await read(a.id)).toMatchObject({ value: 100.5, stageId: stage('Talking'), status: 'open' });
    expect(await read(c.id)).toMatchObject({ status: 'won', value: 40, closedAt: expect.any(String) });
    expect([(await read(b.id)).stageId, (await read(d.id)).contactId]).toEqual([b.stageId, null]);
  });

  it('tells of every deal what PATCH tells', async () => {
    const contact = await acme.contact();
    const [a, b, c, d] = await deals(4, { contactId: contact.id });
    const change = { status: 'won', stageId: stage('Offer') };
    const told = await toldIn(acme, () => done('update', { updates: [a, b].map(({ id }) => ({ id, ...change })) }));
    const facts = ['deal.stage_changed', 'deal.updated', 'deal.won'];
    expect(told.events).toEqual(facts.flatMap((name) => [a, b].map(({ id }) => `${name} ${id}`)).sort());
    expect(told.entries).toEqual([a, b].map(({ id }) => `deal.won ${id}`).sort());
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}/score`)).score).toBe(
      dataOf(await acme.owner.get(`/contacts/${contact.id}`)).leadScore,
    );
    const single = await toldIn(acme, () => acme.owner.patch(`/deals/${c.id}`, change));
    const shape = ({ name, changes, data }: Loose) => JSON.stringify([name, Object.keys(changes), Object.keys(data)]);
    expect(new Set(told.rows.map(shape))).toEqual(new Set(single.rows.map(shape)));
    expect((await toldIn(acme, () => done('update', { updates: [{ id: d.id, title: d.title }] }))).events).toEqual([]);
  });

  it('answers 422 above 100 deals and 400 for a body of another shape', async () => {
    const [{ id }] = await deals(1);
    await expectNothingWritten(api, async () => {
      expectRefusal(await bulk('update', { updates: Array.from({ length: 101 }, () => ({ id, title: 'X' })) }), 422, 'updates');
      for (const body of [{}, { updates: [] }, { updates: [{ id, value: 'much' }] }, { updates: [{ id, status: 'sold' }] }])
        expectRefusal(await bulk('update', body), 400);
    });
  });
});

describe('POST /bulk/deals/edit', () => {
  it('makes one change to all that are named or that a filter finds', async () => {
    const some = await deals(3, { source: 'fair' });
    const ids = [...some.map(({ id }) => id), 'nobody'];
    expect(await done('edit', { ids, changes: { assignedTo: acme.ownerId, customFields: { hall: 3 } } })).toEqual({
      total: 4,
      succeeded: 3,
      failed: 1,
    });
    const filters = {
      and: [
        { field: 'source', value: 'fair' },
        { field: 'title', op: 'neq', value: 'Deal 1' },
      ],
    };
    expect(await done('edit', { filters, changes: { priority: 'high' } })).toEqual({ total: 2, succeeded: 2, failed: 0 });
    const after = await Promise.all(some.map(({ id }) => read(id)));
    expect(after.map((deal) => [deal.assignedTo, deal.customFields, deal.priority])).toEqual([
      [acme.ownerId, { hall: 3 }, 'high'],
      [acme.ownerId, { hall: 3 }, null],
      [acme.ownerId, { hall: 3 }, 'high'],
    ]);
  });

  it('moves what a stage lets in, and leaves the others where they are', async () => {
    const away = await acme.deal();
    const [near] = await deals(1);
    expect(await done('edit', { ids: [near.id, away.id], changes: { stageId: stage('Offer') } })).toEqual({
      total: 2,
      succeeded: 1,
      failed: 1,
    });
    expect([(await read(near.id)).stageId, (await read(away.id)).stageId]).toEqual([stage('Offer'), away.stageId]);
  });

  it('refuses a change that no deal could take', async () => {
    const ids = (await deals(1)).map(({ id }) => id);
    await expectNothingWritten(api, async () => {
      expectRefusal(await bulk('edit', { ids, changes: { assignedTo: other.ownerId } }), 400, 'changes.assignedTo');
      expectRefusal(await bulk('edit', { ids, changes: { title: '' } }), 400, 'changes.title');
      expectRefusal(await bulk('edit', { filters: { field: 'city', value: 'x' }, changes: {} }), 400, 'filters.field');
      expectRefusal(await bulk('edit', { ids: Array.from({ length: 501 }, (_, i) => `${i}`), changes: {} }), 422, 'ids');
    });
  });

  it('costs a handful of statements, however many deals there are', async () => {
    const contacts = [await acme.contact(), await acme.contact()];
    const some = [...(await deals(20, { contactId: contacts[0].id })), ...(await deals(20, { contactId: contacts[1].id }))];
    const stages = ['Talking', 'Offer', 'New'].map(stage);
    let n = 0;
    const edit = () =>
      done('edit', { ids: some.map(({ id }) => id), changes: { stageId: stages[n++ % 3], status: n % 2 ? 'won' : 'lost' } });
    expect(await api.statements(edit)).toBeLessThanOrEqual(16);
  });
});
