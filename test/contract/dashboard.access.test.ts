import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  expectGraphQLRefusal,
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
const later = (ms: number) => new Date(api.clock.now().getTime() + ms);

const sections = {
  ...{ contactCount: 0, tasksDueToday: 0, overdueTasks: 0, messagesToday: 0, unreadMessages: 0 },
  pipelineSummary: null,
  dealsByStatus: { open: { count: 0, totalValue: 0 }, won: { count: 0, totalValue: 0 }, lost: { count: 0, totalValue: 0 } },
  ...{ recentActivities: [], needsFollowUp: [], staleDeals: [] },
};
const flags = { canViewContacts: true, canViewDeals: true, canViewTasks: true, canViewMessages: true, canViewActivities: true };
const blind = Object.fromEntries(Object.keys(flags).map((flag) => [flag, false]));

describe('a key', () => {
  let acme: Account;
  let whole: Loose;
  beforeAll(async () => {
    acme = await api.seed.account();
    const contact = await acme.contact();
    await acme.deal({ contactId: contact.id, value: 5 });
    await acme.task({ contactId: contact.id, dueDate: later(-minute) });
    await keepMessage(acme, contact, 'inbound');
    whole = await seen(acme.owner);
  });

  const sectionsOf: Record<string, [flag: string, ...string[]]> = {
    contacts: ['canViewContacts', 'contactCount', 'needsFollowUp'],
    deals: ['canViewDeals', 'pipelineSummary', 'dealsByStatus', 'staleDeals'],
    tasks: ['canViewTasks', 'tasksDueToday', 'overdueTasks'],
    messages: ['canViewMessages', 'messagesToday', 'unreadMessages'],
  };

  it('sees everything when nothing limits it', async () => {
    expect(whole).toMatchObject({ contactCount: 1, overdueTasks: 1, unreadMessages: 1, dealsByStatus: { open: { count: 1 } } });
    expect([whole.needsFollowUp.length, whole.recentActivities.length]).toEqual([1, 9]);
    const key = await acme.key();
    // The making of the key is in the log by now, but what happens to keys is for people.
    const { recentActivities, ...sections } = await seen(acme.owner);
    const others = recentActivities.filter((entry: Loose) => entry.entityType !== 'apikey');
    expect(others.length).toBe(recentActivities.length - 1);
    expect(await seen(key)).toEqual({ ...sections, recentActivities: others });
  });

  it('sees only what its scopes allow; the rest is empty, and the flag says so', async () => {
    expect(await seen(await acme.key({ scopes: ['dashboard'] }))).toEqual({ ...sections, ...blind });
    for (const [scope, [flag, ...names]] of Object.entries(sectionsOf)) {
      const own = Object.fromEntries(names.map((name) => [name, whole[name]]));
      const key = await acme.key({ scopes: ['dashboard', scope] });
      expect(await seen(key)).toEqual({ ...sections, ...blind, ...own, [flag]: true });
    }
  });

  it('sees of the log only what is about records that it may read', async () => {
    const types = async (...scopes: string[]) => {
      const board = await seen(await acme.key({ scopes: ['dashboard', 'activities', ...scopes] }));
      expect(board).toMatchObject({ ...blind, canViewActivities: true, canViewTasks: scopes.includes('tasks') });
      return board.recentActivities.map((entry: Loose) => entry.type);
    };
    expect(await types()).toEqual([]);
    expect(await types('tasks')).toEqual(['task.created']);
  });

  it('needs the scope of what it goes on to from a record', async () => {
    const key = await acme.key({ scopes: ['dashboard', 'contacts'] });
    const ask = (selection: string) => key.gql(`{ dashboard { ${selection} } }`);
    const { data } = await ask(
      'contactCount canViewDeals needsFollowUp { id email tags { id name } } staleDeals { id } pipelineSummary { pipeline { name } }',
    );
    expect(data.dashboard).toMatchObject({ contactCount: 1, canViewDeals: false, staleDeals: [], pipelineSummary: null });
    expect(ids(data.dashboard.needsFollowUp)).toEqual(ids(whole.needsFollowUp));
    for (const selection of [
      'needsFollowUp { deals { nodes { id } } }',
      'pipelineSummary { pipeline { stages { id } } }',
      'staleDeals { stage { id } }',
    ])
      expectGraphQLRefusal(await ask(selection), 403);
  });
});

describe('a key for the dashboard alone', () => {
  it('needs no other scope for what follows from a record alone', async () => {
    const acme = await api.seed.account();
    const contact = await acme.contact({ firstName: 'Ada', lastName: 'Byron' });
    await acme.task({ contactId: contact.id, dueDate: later(-minute) });
    const key = await acme.key({ scopes: ['dashboard'] });
    const ask = (selection: string) => key.gql(`{ dashboard { ${selection} } }`);
    const { data, errors } = await ask('needsFollowUp { firstName name } staleDeals { value valueExact appointmentMissed }');
    expect([errors, data]).toEqual([undefined, { dashboard: { needsFollowUp: [], staleDeals: [] } }]);
    for (const selection of ['needsFollowUp { name companyRecord { name } }', 'staleDeals { valueExact contact { name } }'])
      expectGraphQLRefusal(await ask(selection), 403);
    const { data: whole } = await acme.owner.gql('{ dashboard { needsFollowUp { name } } }');
    expect(whole.dashboard.needsFollowUp).toEqual([{ name: 'Ada Byron' }]);
  });
});

describe('the cost', () => {
  it('is one statement for everything, and none where nothing is asked for or allowed', async () => {
    const acme = await api.seed.account();
    await acme.deal({ contactId: (await acme.contact()).id });
    const scoped = await acme.key({ scopes: ['dashboard'] });
    await seen(scoped);
    expect(await api.statements(() => seen(acme.owner))).toBe(1);
    expect(await api.statements(() => seen(scoped))).toBe(0);
    const ask = async (selection: string) => {
      const { data, errors } = await acme.owner.gql(`{ dashboard { ${selection} } }`);
      expect(errors).toBeUndefined();
      return data.dashboard;
    };
    expect(await api.statements(() => ask('canViewContacts canViewDeals'))).toBe(0);
    expect(await api.statements(() => ask('contactCount unreadMessages staleDeals { id stage { name } contact { email } }'))).toBe(1);
    expect(await ask('contactCount dealsByStatus { open { count } }')).toEqual({ contactCount: 1, dealsByStatus: { open: { count: 1 } } });
  });
});

describe('another workspace', () => {
  it('adds nothing', async () => {
    const [acme, abroad] = [await api.seed.account(), await api.seed.account()];
    const contact = await abroad.contact();
    await abroad.deal({ contactId: contact.id });
    await abroad.task({ contactId: contact.id, dueDate: later(-minute) });
    await keepMessage(abroad, contact, 'inbound');
    await keepThread(abroad, contact, { lastInboundAt: later(-minute) });
    expect(await seen(acme.owner)).toEqual({ ...sections, ...flags });
  });
});
