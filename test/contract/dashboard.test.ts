import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  day,
  keepMessage,
  keepThread,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const seen = async (caller: Client): Promise<Loose> => dataOf(await caller.get('/dashboard'));
const ids = (records: Loose[]) => records.map(({ id }) => id);
const byId = (records: Loose[]) => [...records].sort((a, b) => (a.id < b.id ? -1 : 1));
const later = (ms: number) => new Date(api.clock.now().getTime() + ms);

const sections = {
  ...{ contactCount: 0, tasksDueToday: 0, overdueTasks: 0, messagesToday: 0, unreadMessages: 0 },
  pipelineSummary: null,
  dealsByStatus: { open: { count: 0, totalValue: 0 }, won: { count: 0, totalValue: 0 }, lost: { count: 0, totalValue: 0 } },
  ...{ recentActivities: [], needsFollowUp: [], staleDeals: [] },
};
const flags = { canViewContacts: true, canViewDeals: true, canViewTasks: true, canViewMessages: true, canViewActivities: true };

const inZone = (account: Account, timezone: string) =>
  api.app.database.prisma.account.update({ where: { id: account.id }, data: { timezone } });

describe('GET /dashboard', () => {
  it('shows nothing but its flags in an empty account', async () => {
    const acme = await api.seed.account();
    expect(await seen(acme.owner)).toEqual({ ...sections, ...flags });
  });

  it('counts contacts without the deleted ones', async () => {
    const acme = await api.seed.account();
    for (const firstName of ['Ada', 'Grace', 'Alan']) await acme.contact({ firstName });
    dataOf(await acme.owner.del(`/contacts/${(await acme.contact({ firstName: 'Gone' })).id}`));
    expect(await seen(acme.owner)).toMatchObject({ contactCount: 3 });
  });

  it('sums the deals of the default pipeline by stage, and those of all pipelines by status', async () => {
    const acme = await api.seed.account();
    const [sales, support] = [await acme.pipeline({ name: 'Sales' }), await acme.pipeline({ name: 'Support' })];
    const [fresh, talking] = sales.stages;
    await acme.deal({ pipeline: sales, value: 100.5 });
    await acme.deal({ pipeline: sales, value: 0.25, status: 'won' });
    await acme.deal({ pipeline: sales, stageId: talking.id });
    await acme.deal({ pipeline: support, value: 1000, status: 'lost' });
    await acme.deal({ pipeline: support, value: 10 });
    dataOf(await acme.owner.del(`/deals/${(await acme.deal({ pipeline: sales, value: 7 })).id}`));
    const board = await seen(acme.owner);
    expect(board.dealsByStatus).toEqual({
      open: { count: 3, totalValue: 110.5 },
      won: { count: 1, totalValue: 0.25 },
      lost: { count: 1, totalValue: 1000 },
    });
    expect(board.pipelineSummary.pipeline).toEqual({ id: sales.id, name: 'Sales' });
    expect(board.pipelineSummary.stages.slice(0, 2)).toEqual([
      { id: fresh.id, name: 'New', dealCount: 2, totalValue: 100.75 },
      { id: talking.id, name: 'Talking', dealCount: 1, totalValue: 0 },
    ]);
    expect(ids(board.pipelineSummary.stages)).toEqual(ids(sales.stages));
    // the same as the pipeline tells of itself
    const { byStage } = dataOf(await acme.owner.get(`/pipelines/${sales.id}`)).statistics;
    const own = ({ dealCount, totalValue }: Loose) => ({ dealCount, totalValue });
    expect(board.pipelineSummary.stages.map(own)).toEqual(byStage.map(own));
  });

  it('follows the default to another pipeline, and shows none when there is none', async () => {
    const acme = await api.seed.account();
    const [first, second] = [await acme.pipeline(), await acme.pipeline()];
    dataOf(await acme.owner.patch(`/pipelines/${second.id}`, { isDefault: true }));
    expect((await seen(acme.owner)).pipelineSummary.pipeline.id).toBe(second.id);
    for (const { id } of [second, first]) dataOf(await acme.owner.del(`/pipelines/${id}`));
    expect((await seen(acme.owner)).pipelineSummary).toBeNull();
  });
});

describe('the lists of GET /dashboard', () => {
  it('shows the ten latest log entries as the log does', async () => {
    const acme = await api.seed.account();
    for (let i = 0; i < 12; i++) dataOf(await acme.owner.post('/activities', { type: 'call', title: `Call ${i}` }));
    const { recentActivities } = await seen(acme.owner);
    expect(recentActivities).toHaveLength(10);
    expect(recentActivities).toEqual(dataOf(await acme.owner.get('/activities?per_page=10')).data);
  });

  it('shows at most ten stale deals of those in the list, those first that have lain longest', async () => {
    const acme = await api.seed.account();
    const pipeline = await acme.pipeline();
    const made: Loose[] = [];
    for (let i = 0; i < 12; i++) {
      made.push(await acme.deal({ pipeline, products: [{ name: 'Line', unitPrice: 5 }] }));
      api.clock.advance(minute);
    }
    await acme.deal({ pipeline, status: 'won' });
    api.clock.advance(14 * day + minute);
    const owner = await acme.login();
    dataOf(await owner.patch(`/deals/${made[0]!.id}`, { title: 'Touched' }));
    const { staleDeals } = await seen(owner);
    expect(ids(staleDeals)).toEqual(ids(made.slice(1, 11)));
    const listed = dataOf(await owner.get('/deals?stale=true&sort=updatedAt&order=asc&per_page=10')).data;
    expect(staleDeals).toEqual(listed);
    api.clock.reset();
  });
});

describe('staleDeals', () => {
  it('shows deals with an appointment, be it missed or to come, as the list does', async () => {
    const acme = await api.seed.account();
    const pipeline = await acme.pipeline();
    await acme.deal({ pipeline, appointmentAt: later(day).toISOString(), expectedCloseDate: '2031-01-31', value: 10.5, probability: 0.5 });
    api.clock.advance(minute);
    await acme.deal({ pipeline, appointmentAt: later(60 * day).toISOString() });
    api.clock.advance(14 * day + minute);
    const owner = await acme.login();
    const { staleDeals } = await seen(owner);
    expect(staleDeals.map(({ appointmentMissed }: Loose) => appointmentMissed)).toEqual([true, false]);
    expect(staleDeals).toEqual(dataOf(await owner.get('/deals?stale=true&sort=updatedAt&order=asc&per_page=10')).data);
    const { data, errors } = await owner.gql('{ dashboard { staleDeals { appointmentMissed value valueExact expectedCloseDate } } }');
    expect([data?.dashboard.staleDeals[0], errors]).toEqual([
      { appointmentMissed: true, value: 10.5, valueExact: '10.5', expectedCloseDate: '2031-01-31' },
      undefined,
    ]);
    api.clock.reset();
  });
});

describe('needsFollowUp', () => {
  it('shows whom the view of the same name shows, those first that have waited longest', async () => {
    const acme = await api.seed.account();
    const [answered, unanswered, closed, late, both, gone] = await Promise.all(
      ['answered', 'unanswered', 'closed', 'late', 'both', 'gone'].map((firstName) => acme.contact({ firstName, tags: ['VIP'] })),
    );
    await keepThread(acme, answered!, { lastInboundAt: later(-5 * day), lastOutboundAt: later(-4 * day) });
    await keepThread(acme, unanswered!, { lastInboundAt: later(-3 * day), lastOutboundAt: later(-4 * day) });
    await keepThread(acme, closed!, { lastInboundAt: later(-6 * day), closedAt: later(-day) });
    await keepThread(acme, both!, { lastInboundAt: later(-2 * day) });
    await keepThread(acme, gone!, { lastInboundAt: later(-9 * day) });
    await acme.task({ contactId: late!.id, dueDate: later(-day) });
    await acme.task({ contactId: late!.id, dueDate: later(-minute) });
    await acme.task({ contactId: both!.id, dueDate: later(-7 * day) });
    await acme.task({ contactId: answered!.id, dueDate: later(-7 * day), status: 'done' });
    await acme.task({ contactId: answered!.id, dueDate: later(day) });
    dataOf(await acme.owner.del(`/contacts/${gone!.id}`));
    const { needsFollowUp } = await seen(acme.owner);
    expect(ids(needsFollowUp)).toEqual(ids([both!, unanswered!, late!]));
    const listed = dataOf(await acme.owner.get('/contacts?smart_view=needs_follow_up')).data;
    expect(byId(needsFollowUp)).toEqual(byId(listed));
  });

  it('stops at ten', async () => {
    const acme = await api.seed.account();
    const late: Loose[] = [];
    for (let i = 0; i < 12; i++) {
      late.push(await acme.contact({ firstName: `n${i}` }));
      await acme.task({ contactId: late[i]!.id, dueDate: later(-(12 - i) * day) });
    }
    expect(ids((await seen(acme.owner)).needsFollowUp)).toEqual(ids(late.slice(0, 10)));
  });
});

describe('today', () => {
  // A day on which New York's clocks go on: from 05:00 UTC to 04:00 of the next day, 23 hours.
  const now = '2031-03-10T03:00:00.000Z';
  const [before, first, last, after] = [
    '2031-03-09T04:59:59.999Z',
    '2031-03-09T05:00:00.000Z',
    '2031-03-10T03:59:59.999Z',
    '2031-03-10T04:00:00.000Z',
  ];

  it('is the day of the workspace for tasks; what is late is late by the moment', async () => {
    const acme = await api.seed.account();
    await inZone(acme, 'America/New_York');
    for (const dueDate of [before, first, last, last, after, after, after, after]) await acme.task({ dueDate });
    await acme.task({ dueDate: first, status: 'done' });
    await acme.task();
    api.clock.set(now);
    const owner = await acme.login();
    expect(await seen(owner)).toMatchObject({ tasksDueToday: 3, overdueTasks: 2 });
    await inZone(acme, 'UTC');
    api.clock.set(now);
    expect(await seen(owner)).toMatchObject({ tasksDueToday: 6, overdueTasks: 2 });
    api.clock.reset();
  });

  it('is the day of the workspace for what came in and went out', async () => {
    const acme = await api.seed.account();
    await inZone(acme, 'America/New_York');
    const ada = await acme.contact();
    for (const moment of [before, first, last, after]) {
      await keepMessage(acme, ada, 'inbound', { status: 'received', createdAt: new Date(moment) });
      await keepMessage(acme, ada, 'outbound', { status: 'sent', createdAt: new Date(before), sentAt: new Date(moment) });
    }
    // written today, and not gone yet
    for (const status of ['draft', 'scheduled', 'queued', 'failed'])
      await keepMessage(acme, ada, 'outbound', { status, createdAt: new Date(first) });
    api.clock.set(now);
    expect(await seen(await acme.login())).toMatchObject({ messagesToday: 4 });
    api.clock.reset();
  });
});

describe('unreadMessages', () => {
  it('counts what came in and nobody read, but for deleted contacts', async () => {
    const acme = await api.seed.account();
    const [ada, gone] = [await acme.contact({ firstName: 'Ada' }), await acme.contact({ firstName: 'Gone' })];
    for (const contact of [ada, ada, gone]) await keepMessage(acme, contact, 'inbound');
    await keepMessage(acme, ada, 'inbound', { readAt: api.clock.now() });
    await keepMessage(acme, ada, 'outbound', { sentAt: api.clock.now() });
    expect(await seen(acme.owner)).toMatchObject({ unreadMessages: 3, messagesToday: 5 });
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    expect(await seen(acme.owner)).toMatchObject({ unreadMessages: 2, messagesToday: 5 });
  });
});
