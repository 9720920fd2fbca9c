import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  password,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
});
beforeEach(async () => {
  acme = await api.seed.account();
});
afterAll(() => api.close());

const path = '/settings/workspace';
const change = (body: unknown) => acme.owner.patch(path, body);

describe('GET /settings/workspace', () => {
  it('shows how the workspace is set, to every member and to keys with the scope settings', async () => {
    const told = dataOf(await acme.owner.get(path));
    expect(told).toEqual({
      ...{ name: expect.any(String), timezone: 'UTC', defaultCountry: 'US', currency: 'USD', defaultTaxRate: 0 },
      ...{ lostReasonRequired: false, lostReasons: [], createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect(dataOf(await (await acme.member()).get(path))).toEqual(told);
    expect(dataOf(await (await acme.key({ scopes: ['settings'], permission: 'read' })).get(path))).toEqual(told);
    expectRefusal(await (await acme.key({ scopes: ['contacts'] })).get(path), 403);
  });

  it('is the same through GraphQL, beside who is calling', async () => {
    const asked = '{ name timezone defaultTaxRate lostReasons }';
    const { data } = await acme.owner.gql(`{ workspaceSettings ${asked} me { workspace { id settings ${asked} } } }`);
    const { name } = dataOf(await acme.owner.get(path));
    const own = { name, timezone: 'UTC', defaultTaxRate: 0, lostReasons: [] };
    expect(data).toEqual({ workspaceSettings: own, me: { workspace: { id: acme.id, settings: own } } });
  });
});

describe('what a switch of the account answers', () => {
  const switching = (selection: string) => `mutation ($input: SwitchAccountInput!) { switchAccount(input: $input) { ${selection} } }`;
  const entered = async () => {
    const [other, { userId, email }] = [await api.seed.account({ name: 'Other' }), await acme.member()];
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.membership.create({ data: { accountId: other.id, userId, role: 'member', name: 'Guest', ...times } });
    return { other, email, client: await acme.login(email) };
  };

  it.each([
    ['account { id settings { timezone } }', 'account.settings'],
    ['role user { id contacts { totalCount } }', 'user.contacts'],
    ['...on AuthResult { there: account { ...whole } } } } fragment whole on Workspace { settings { timezone', 'there.settings'],
  ])('leads to nothing of the account before: %s', async (selection, path) => {
    const { other, client } = await entered();
    const reply = await client.gql(switching(selection), { input: { accountId: other.id } });
    expectGraphQLRefusal(reply, 403);
    expect(reply.errors?.[0].extensions.path).toBe(`switchAccount.${path}`);
    expect(dataOf(await client.get('/auth/me')).workspace.id).toBe(acme.id);
  });

  it('is of the account that was entered, as after a login by who has a session elsewhere', async () => {
    const { other, email, client } = await entered();
    const login = 'mutation ($input: LoginInput!) { login(input: $input) { account { settings { timezone } } } }';
    const input = { email, password, accountId: other.id };
    expectGraphQLRefusal(await client.gql(login, { input }), 403);
    expectGraphQLRefusal(await api.anybody().gql(login, { input }), 401);
    const { data } = await client.gql(switching('account { id name plan memberCount } user { name }'), { input: { accountId: other.id } });
    expect(data.switchAccount).toEqual({
      account: { id: other.id, name: 'Other', plan: 'enterprise', memberCount: 2 },
      user: { name: 'Guest' },
    });
  });
});

describe('PATCH /settings/workspace', () => {
  it('changes what is sent and tells it once; what is as it was tells nothing', async () => {
    const body = { name: ' Northwind ', timezone: 'Europe/Berlin', defaultCountry: 'de', currency: 'eur', defaultTaxRate: 0.19 };
    const told = await toldIn(acme, async () => {
      expect(dataOf(await change(body))).toMatchObject({
        ...{ name: 'Northwind', timezone: 'Europe/Berlin', defaultCountry: 'DE', currency: 'EUR', defaultTaxRate: 0.19, lostReasons: [] },
      });
    });
    expect(told).toMatchObject({
      events: [`workspace.updated ${acme.id}`],
      entries: [`workspace.updated ${acme.id}`],
      rows: [{ data: { id: acme.id, name: 'Northwind', plan: 'enterprise', memberCount: 1 } }],
    });
    expect(told.rows[0]!.changes).toMatchObject({
      timezone: { from: 'UTC', to: 'Europe/Berlin' },
      currency: { from: 'USD', to: 'EUR' },
      defaultTaxRate: { from: 0, to: 0.19 },
    });
    expect(await toldIn(acme, () => change({ currency: 'EUR', lostReasons: [] }))).toMatchObject({ events: [], entries: [] });
    expect(dataOf(await acme.owner.get('/auth/me')).workspace.name).toBe('Northwind');
  });

  it('holds for what is made next', async () => {
    await change({ timezone: 'Asia/Tokyo', defaultCountry: 'DE', currency: 'JPY', defaultTaxRate: 0.1 });
    expect((await acme.contact({ phone: '030 123456' })).phone).toBe('+4930123456');
    expect(dataOf(await acme.owner.post('/products', { name: 'Tea', price: 500 })).currency).toBe('JPY');
    // The contract's own default.
    expect((await acme.deal()).currency).toBe('USD');
    expect((await acme.invoice({ items: [{ description: 'x', quantity: 1, unitPrice: 100 }] })).taxAmount).toBe(10);
    expect(dataOf(await acme.owner.post('/calendars', { name: 'Tokyo' })).timezone).toBe('Asia/Tokyo');
  });

  it('asks of lost deals what it says, also of those whose stage was looked at before', async () => {
    const pipeline = await acme.pipeline();
    const [one, two] = [await acme.deal({ pipeline }), await acme.deal({ pipeline })];
    expect(dataOf(await acme.owner.patch(`/deals/${one.id}`, { status: 'lost' })).status).toBe('lost');
    await change({ lostReasonRequired: true, lostReasons: ['Price', 'Timing'] });
    expectRefusal(await acme.owner.patch(`/deals/${two.id}`, { status: 'lost' }), 422, 'lostReason');
    expectRefusal(await acme.owner.patch(`/deals/${two.id}`, { status: 'lost', lostReason: 'Mood' }), 422, 'lostReason');
    expect(dataOf(await acme.owner.patch(`/deals/${two.id}`, { status: 'lost', lostReason: 'Price' })).lostReason).toBe('Price');
  });
});

describe('a change of the settings', () => {
  it.each([
    ['an empty name', { name: ' ' }, 'name'],
    ['a null name', { name: null }, 'name'],
    ['an offset as the time zone', { timezone: '+02:00' }, 'timezone'],
    ['a time zone that was removed, which the runtime knows', { timezone: 'US/Pacific-New' }, 'timezone'],
    ['a time zone of nowhere', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['a country of nobody', { defaultCountry: 'ZZ' }, 'defaultCountry'],
    ['a currency in words', { currency: 'Euro' }, 'currency'],
    ['more tax than all', { defaultTaxRate: 1.01 }, 'defaultTaxRate'],
    ['a tax rate below nothing', { defaultTaxRate: -0.1 }, 'defaultTaxRate'],
    ['a reason that is no text', { lostReasons: [7] }, 'lostReasons.0'],
    ['a hundred and one reasons', { lostReasons: Array.from({ length: 101 }, (_, n) => `Reason ${n}`) }, 'lostReasons'],
  ])('refuses %s', async (_what, body, field) => {
    await expectNothingWritten(api, async () => expectRefusal(await change(body), 400, field));
  });

  it('is for those who may edit settings', async () => {
    const member = await acme.member();
    expectRefusal(await member.patch(path, { name: 'Mine' }), 403);
    const { prisma } = api.app.database;
    await prisma.membership.updateMany({
      where: { accountId: acme.id, userId: member.userId },
      data: { permissions: { 'settings:edit': true } },
    });
    const allowed = await acme.login(member.email);
    expect(dataOf(await allowed.patch(path, { name: 'Ours' })).name).toBe('Ours');
    const rights = { scopes: ['settings'] };
    expectRefusal(await (await acme.key({ ...rights, permission: 'read' })).patch(path, { name: 'Theirs' }), 403);
    expect(dataOf(await (await acme.key({ ...rights, permission: 'admin' })).patch(path, { name: 'By a key' })).name).toBe('By a key');
  });

  it('changes nothing of another workspace', async () => {
    const other = await api.seed.account();
    await change({ name: 'Changed', currency: 'CHF' });
    expect(dataOf(await other.owner.get(path))).toMatchObject({ currency: 'USD' });
    expect((await toldIn(other, () => change({ name: 'Again' }))).events).toEqual([]);
  });
});

describe('updateWorkspaceSettings', () => {
  it('does the same, and refuses in the same words', async () => {
    const update = (input: object) =>
      acme.owner.gql('mutation ($input: UpdateWorkspaceSettingsInput!) { updateWorkspaceSettings(input: $input) { currency } }', { input });
    expect((await update({ currency: 'GBP' })).data.updateWorkspaceSettings).toEqual({ currency: 'GBP' });
    expectGraphQLRefusal(await update({ timezone: 'Nowhere' }), 400, 'timezone');
    expectGraphQLRefusal(await update({ timezone: 'US/Pacific-New' }), 400, 'timezone');
  });
});
