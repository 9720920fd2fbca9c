import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

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

const made = (body: object = {}) => acme.deal({ pipeline, ...body });
const patched = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/deals/${id}`, body));
const eventsOf = (entityId: string): Promise<Loose[]> =>
  api.app.database.prisma.outboxEvent.findMany({ where: { entityId }, orderBy: { seq: 'asc' } });
const logOf = (entityId: string) => api.app.database.prisma.activity.findMany({ where: { entityId }, orderBy: { id: 'asc' } });

/** The events after the creation, by name, with what changed. */
const since = async (id: string) => (await eventsOf(id)).slice(1).map(({ name, changes }) => [name, changes]);

describe('a deal', () => {
  it('is told once when it is made, with the record that the reply shows', async () => {
    const contact = await acme.contact();
    const deal = await made({
      contactId: contact.id,
      value: 12.5,
      products: [{ name: 'a', unitPrice: 3 }],
      appointmentAt: '2020-01-01T00:00:00Z',
    });
    const [event, ...more] = await eventsOf(deal.id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ name: 'deal.created', entityType: 'deal', data: deal, actorId: acme.ownerId });
    expect(deal.appointmentMissed).toBe(true);
    const [entry, ...others] = await logOf(deal.id);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ type: 'deal.created', title: 'Deal created', action: 'created', dealId: deal.id, contactId: contact.id });
  });

  it('that is made closed is told of that as well', async () => {
    expect((await eventsOf((await made({ status: 'won' })).id)).map((e) => e.name)).toEqual(['deal.created', 'deal.won']);
    expect((await eventsOf((await made({ status: 'lost' })).id)).map((e) => e.name)).toEqual(['deal.created', 'deal.lost']);
  });

  it('that changes is told by each of its events once', async () => {
    const { id } = await made();
    await patched(id, { title: 'After', value: '7' });
    await patched(id, { stageId: stages[1] });
    await patched(id, { status: 'won' });
    await patched(id, { status: 'open' });
    await patched(id, { status: 'lost', lostReason: 'Price', stageId: stages[2] });
    const [renamed, moved, movedToo, won, wonToo, opened, lost, lostMoved, lostToo, ...more] = await since(id);
    expect(more).toEqual([]);
    expect(renamed).toEqual(['deal.updated', { title: { from: expect.any(String), to: 'After' }, value: { from: null, to: 7 } }]);
    const stageId = { from: stages[0], to: stages[1] };
    expect(moved).toEqual(['deal.updated', { stageId, position: expect.any(Object) }]);
    expect(movedToo).toEqual(['deal.stage_changed', { stageId }]);
    expect([won, wonToo]).toEqual(['deal.updated', 'deal.won'].map((name) => [name, { status: { from: 'open', to: 'won' } }]));
    expect(opened).toEqual(['deal.updated', { status: { from: 'won', to: 'open' } }]);
    const closing = { status: { from: 'open', to: 'lost' }, lostReason: { from: null, to: 'Price' } };
    expect(lost).toEqual(['deal.updated', expect.objectContaining(closing)]);
    expect(lostMoved).toEqual(['deal.stage_changed', { stageId: { from: stages[1], to: stages[2] } }]);
    expect(lostToo).toEqual(['deal.lost', closing]);
    const types = ['created', 'updated', 'stage_changed', 'won', 'updated', 'lost'].map((fact) => `deal.${fact}`);
    expect((await logOf(id)).map((entry) => entry.type)).toEqual(types);
  });
});

describe('a deal that goes and comes back', () => {
  it('is told of both', async () => {
    const { id } = await made();
    dataOf(await acme.owner.del(`/deals/${id}`));
    dataOf(await acme.owner.post(`/deals/${id}/restore`));
    expect(await since(id)).toEqual([
      ['deal.deleted', null],
      ['deal.updated', { deletedAt: { from: expect.any(String), to: null } }],
    ]);
  });

  it('takes the probability of the first stage where its own is gone, unless it was given one', async () => {
    const own = await acme.pipeline({ stages: [0.1, 0.6].map((probability, n) => ({ name: `s${n}`, probability })) });
    const [a, b] = own.stages.map((stage: Loose) => stage.id);
    const deals = [await made({ pipeline: own, stageId: b }), await made({ pipeline: own, stageId: b, probability: 0.5 })];
    for (const { id } of deals) dataOf(await acme.owner.del(`/deals/${id}`));
    dataOf(await acme.owner.del(`/pipelines/${own.id}/stages/${b}`));
    const told: unknown[] = [];
    for (const { id } of deals) {
      const { stageId, probability } = dataOf(await acme.owner.post(`/deals/${id}/restore`));
      const [, changes] = (await since(id)).find(([name]) => name === 'deal.updated')!;
      told.push([stageId, probability, changes.probability]);
    }
    expect(told).toEqual([
      [a, 0.1, { from: 0.6, to: 0.1 }],
      [a, 0.5, undefined],
    ]);
  });
});

describe('what happens around a deal', () => {
  it('is its last activity', async () => {
    const deal = await made();
    const last = async () => dataOf(await acme.owner.get(`/deals/${deal.id}`)).lastActivityAt;
    expect(await last()).toBeNull();
    const task = await acme.task({ dealId: deal.id });
    const seen = [await last()];
    const steps: [string, object][] = [
      ['/notes', { body: 'Spoke', dealId: deal.id }],
      ['/activities', { type: 'call', title: 'Called', dealId: deal.id }],
    ];
    for (const [path, body] of steps) {
      api.clock.advance(1000);
      dataOf(await acme.owner.post(path, body));
      seen.push(await last());
    }
    api.clock.advance(1000);
    dataOf(await acme.owner.patch(`/tasks/${task.id}`, { status: 'done' }));
    seen.push(await last());
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen).not.toContain(null);
    expect((await since(deal.id)).length).toBe(0);
    api.clock.reset();
  });

  it('moves the score of its contact', async () => {
    const [ada, bob] = [await acme.contact({ firstName: 'Ada' }), await acme.contact({ firstName: 'Bob' })];
    const scores = async () =>
      Promise.all([ada, bob].map(async ({ id }) => dataOf(await acme.owner.get(`/contacts/${id}`)).leadScore as number));
    const { id } = await made({ contactId: ada.id });
    expect(await scores()).toEqual([10, 0]);
    await patched(id, { status: 'won' });
    expect(await scores()).toEqual([20, 0]);
    await patched(id, { status: 'open' });
    expect(await scores()).toEqual([10, 0]);
    await patched(id, { contactId: bob.id });
    expect(await scores()).toEqual([0, 10]);
    dataOf(await acme.owner.del(`/deals/${id}`));
    expect(await scores()).toEqual([0, 0]);
  });
});

describe('deals seen from elsewhere', () => {
  it('choose contacts by their context, and those who bought lately', async () => {
    const other = await api.seed.account();
    const own = await other.pipeline();
    const { userId } = await other.member();
    const [ada, bob, cyd] = [
      await other.contact({ firstName: 'Ada' }),
      await other.contact({ firstName: 'Bob' }),
      await other.contact({ firstName: 'Cyd' }),
    ];
    await other.deal({ pipeline: own, contactId: ada.id, assignedTo: userId, status: 'won' });
    await other.deal({ pipeline: own, contactId: bob.id, stageId: own.stages[1].id });
    await other.deal({ pipeline: own, contactId: bob.id, assignedTo: userId });
    const gone = await other.deal({ pipeline: own, contactId: cyd.id, status: 'won' });
    dataOf(await other.owner.del(`/deals/${gone.id}`));
    const names = async (query: string) =>
      dataOf(await other.owner.get(`/contacts?${query}`))
        .data.map((c: Loose) => c.firstName)
        .sort();
    expect(await names(`deal_context_owners=${userId}`)).toEqual(['Ada', 'Bob']);
    expect(await names(`deal_context_stages=${own.stages[1].id},${own.stages[2].id}`)).toEqual(['Bob']);
    expect(await names('deal_context_statuses=won')).toEqual(['Ada']);
    expect(await names(`deal_context_owners=${userId}&deal_context_statuses=open`)).toEqual(['Bob']);
    expect(await names(`deal_context_owners=${userId}&deal_context_stages=${own.stages[1].id}`)).toEqual([]);
    expect(await names('smart_view=recently_won')).toEqual(['Ada']);
  });

  it('show who bought within thirty days', async () => {
    const other = await api.seed.account();
    const { id: contactId } = await other.contact({ firstName: 'Ada' });
    await other.deal({ contactId, status: 'won' });
    // A session would end meanwhile.
    const key = await other.key();
    const buyers = async () => dataOf(await key.get('/contacts?smart_view=recently_won')).data.map((c: Loose) => c.firstName);
    api.clock.advance(29 * day);
    expect(await buyers()).toEqual(['Ada']);
    api.clock.advance(2 * day);
    expect(await buyers()).toEqual([]);
    api.clock.reset();
  });

  it('make the figures of companies and pipelines', async () => {
    const company = await acme.company();
    const own = await acme.pipeline({ stages: [{ name: 'a', probability: 0.5 }, { name: 'b' }] });
    await acme.deal({ pipeline: own, companyId: company.id, value: 100 });
    await acme.deal({ pipeline: own, companyId: company.id, value: '50.25', status: 'won', stageId: own.stages[1].id });
    const gone = await acme.deal({ pipeline: own, companyId: company.id, value: 1000 });
    dataOf(await acme.owner.del(`/deals/${gone.id}`));
    const read = async (path: string) => dataOf(await acme.owner.get(path));
    expect(await read(`/companies/${company.id}`)).toMatchObject({ dealCount: 2, openDealCount: 1, totalDealValue: 150.25 });
    expect((await read('/companies?hasOpenDeals=true')).data.map((c: Loose) => c.id)).toEqual([company.id]);
    expect((await read(`/pipelines/${own.id}`)).statistics).toMatchObject({
      ...{ dealCount: 2, totalValue: 150.25, weightedValue: 50, wonValue: 50.25 },
      byStage: [
        { name: 'a', dealCount: 1, totalValue: 100, weightedValue: 50 },
        { name: 'b', dealCount: 1, totalValue: 50.25 },
      ],
    });
  });
});

describe('the custom fields of deals', () => {
  it('are held to their definitions', async () => {
    const other = await api.seed.account();
    const own = await other.pipeline();
    const field = { entityType: 'deal', fieldKey: 'seats', label: 'Seats', fieldType: 'number', isRequired: true };
    dataOf(await other.owner.post('/custom-fields', field));
    const create = (customFields: object) =>
      other.owner.post('/deals', { title: 'a', pipelineId: own.id, stageId: own.stages[0].id, customFields });
    expectRefusal(await create({ seats: 'many' }), 400, 'customFields.seats');
    expectRefusal(await create({ other: 1 }), 422, 'customFields.seats');
    const deal = dataOf(await create({ seats: 5 }));
    expectRefusal(await other.owner.patch(`/deals/${deal.id}`, { customFields: { seats: null } }), 422, 'customFields.seats');
  });
});
