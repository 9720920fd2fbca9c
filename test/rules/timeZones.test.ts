import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isZone, localTime, zoneInSql } from '../../src/kernel/base/timeZones.js';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

/** A workspace whose clocks are those of a zone, at a moment. */
async function workspaceIn(timezone: string, now: string): Promise<Account> {
  api.clock.set(now);
  const account = await api.seed.account();
  dataOf(await account.owner.patch('/settings/workspace', { timezone }));
  return account;
}

const total = async ({ owner }: Account, query: string): Promise<number> => dataOf(await owner.get(`/contacts?${query}`)).meta.total;
const filters = (condition: object) => `filters=${encodeURIComponent(JSON.stringify(condition))}`;
const titles = async ({ owner }: Account, query: string): Promise<string[]> =>
  dataOf(await owner.get(`/tasks?${query}`))
    .data.map(({ title }: Loose) => title)
    .sort();

/** How many records an aggregate tells of each day, week or month. */
async function groupsOf({ owner }: Account, aggregate: string, field: string, by = 'day'): Promise<[string | null, number][]> {
  const { data, errors } = await owner.gql(`{ ${aggregate}(groupBy: [{field: ${field}, by: ${by}}]) { key { ${field} } count } }`);
  expect(errors).toBeUndefined();
  return data[aggregate].map(({ key, count }: Loose) => [key[field], count]);
}

describe('a day whose midnight comes twice', () => {
  it.each([
    ['Atlantic/Azores', '2026-10-24', '2026-10-25', '2026-10-25T00:30:00Z', '2026-10-25T00:45:00Z'],
    ['America/Havana', '2026-10-31', '2026-11-01', '2026-11-01T04:30:00Z', '2026-11-01T04:45:00Z'],
  ])('begins with the first of them in %s', async (zone, before, today, now, later) => {
    const account = await workspaceIn(zone, now);
    await account.contact();
    for (const [query, found] of [
      [`created_from=${today}&created_to=${today}`, 1],
      [`created_to=${before}`, 0],
      [filters({ field: 'createdAt', op: 'in', value: [today, '2001-01-01'] }), 1],
      [filters({ field: 'createdAt', op: 'in', value: [before, '2001-01-01'] }), 0],
    ] as const) {
      expect([query, await total(account, query)]).toEqual([query, found]);
    }
    expect(await groupsOf(account, 'contactAggregate', 'createdAt')).toEqual([[today, 1]]);
    await account.task({ title: 'Soon', dueDate: later });
    await account.task({ title: 'Before', dueDate: before });
    expect([await titles(account, 'tab=today'), await titles(account, 'tab=upcoming')]).toEqual([['Soon'], []]);
  });
});

describe('a moment with an offset', () => {
  it('of any hours is an instant, in date ranges, conditions and lists of them, and one beyond the years that are kept a bound', async () => {
    const account = await workspaceIn('Pacific/Auckland', '2026-10-25T00:30:00Z');
    await account.contact();
    const pipeline = await account.pipeline();
    await account.deal({ pipeline, expectedCloseDate: '2026-10-25' });
    const createdAt = (op: string, value: unknown) => filters({ field: 'createdAt', op, value });
    for (const [query, found] of [
      ['created_from=2026-10-25T18:29:00%2B18:00&created_to=2026-10-25T18:40:00%2B18:00', 1],
      ['created_from=2026-10-25T18:40:00%2B18:00', 0],
      ['created_from=0001-01-01T00:00:00%2B23:59&created_to=9999-12-31T23:59:59.999-23:59', 1],
      ['created_to=0001-01-01T00:00:00%2B23:59', 0],
      [createdAt('gte', '2026-10-24T08:29:00-16:00'), 1],
      [createdAt('lt', '2026-10-24T08:29:00-16:00'), 0],
      [createdAt('in', ['2026-10-25', '2026-10-24T08:29:00-16:00']), 1],
      [createdAt('in', ['9999-12-31T23:59:59-23:59', '0001-01-01T00:00:00+23:59']), 0],
    ] as const) {
      expect([query, await total(account, query)]).toEqual([query, found]);
    }
    const closing = async (op: string, value: unknown): Promise<number> =>
      dataOf(await account.owner.get(`/deals?view=list&${filters({ field: 'expectedCloseDate', op, value })}`)).meta.total;
    expect(await closing('eq', '2026-10-25T10:00:00+16:00')).toBe(1);
    expect(await closing('lt', '9999-12-31T23:59:59-12:00')).toBe(1);
    expect(await closing('in', ['9999-12-31T23:59:59-12:00', '2026-10-26'])).toBe(0);
  });

  it('that is kept in a list finds what it means', async () => {
    const account = await workspaceIn('UTC', '2026-10-25T00:30:00Z');
    await account.contact();
    const condition = { field: 'createdAt', op: 'gte', value: '2026-10-25T18:29:00+18:00' };
    const { id } = dataOf(await account.owner.post('/smart-lists', { name: 'Far ahead', entity: 'contact', filters: condition }));
    expect(await total(account, `smart_list_id=${id}`)).toBe(1);
  });
});

describe('a workspace whose time zone the database does not know', () => {
  it('has lists, tabs, views and its dashboard by it, and names what cannot be told', async () => {
    const account = await workspaceIn('UTC', '2026-07-01T03:00:00Z');
    await api.app.database.prisma.account.update({ where: { id: account.id }, data: { timezone: 'US/Pacific-New' } });
    api.clock.set('2026-07-01T06:30:00Z');
    await account.contact();
    await account.task({ title: 'Tonight', dueDate: '2026-06-30' });
    expect(await total(account, 'created_from=2026-06-30&created_to=2026-06-30')).toBe(1);
    expect(await total(account, 'created_from=2026-07-01')).toBe(0);
    expect(await total(account, 'smart_view=new_this_week')).toBe(1);
    expect(await titles(account, 'tab=today')).toEqual(['Tonight']);
    for (const path of ['/dashboard', '/deals?needsAction=true', '/invoices?status=overdue', '/settings/workspace'])
      expect([path, (await account.owner.get(path)).status]).toEqual([path, 200]);
    // What is as it was is no change.
    expect((await account.owner.patch('/settings/workspace', { timezone: 'US/Pacific-New', currency: 'EUR' })).status).toBe(200);
    const grouped = await account.owner.gql('{ contactAggregate(groupBy: [{field: createdAt}]) { count } }');
    expectGraphQLRefusal(grouped, 400, 'groupBy');
    expect(dataOf(await account.owner.patch('/settings/workspace', { timezone: 'America/Los_Angeles' })).timezone).toBe(
      'America/Los_Angeles',
    );
    expect(await groupsOf(account, 'contactAggregate', 'createdAt')).toEqual([['2026-06-30', 1]]);
  });
});

describe('a time zone whose name is an abbreviation as well', () => {
  it.each([
    ['CET', '2026-07-01T22:30:00Z'],
    ['MET', '2026-07-01T22:30:00Z'],
    ['EET', '2026-07-01T21:30:00Z'],
    ['WET', '2026-07-01T23:30:00Z'],
  ])('%s has summer time everywhere', async (zone, now) => {
    const account = await workspaceIn(zone, now);
    await account.contact();
    await account.task({ title: 'Today', dueDate: '2026-07-02' });
    expect(await titles(account, 'tab=today')).toEqual(['Today']);
    expect(await total(account, 'created_from=2026-07-02')).toBe(1);
    expect(await total(account, 'created_to=2026-07-01')).toBe(0);
    expect(await groupsOf(account, 'contactAggregate', 'createdAt')).toEqual([['2026-07-02', 1]]);
    expect(await groupsOf(account, 'taskAggregate', 'dueDate')).toEqual([['2026-07-02', 1]]);
  });

  it('makes an invoice overdue for readers and for the sweep at once', async () => {
    const account = await workspaceIn('CET', '2026-07-01T20:00:00Z');
    const { id } = await account.invoice({ dueDate: '2026-07-01' });
    dataOf(await account.owner.post(`/invoices/${id}/send`));
    api.clock.set('2026-07-01T22:30:00Z');
    expect(dataOf(await account.owner.get(`/invoices/${id}`)).status).toBe('overdue');
    await sweep(api.app);
    expect((await api.app.database.prisma.invoice.findFirstOrThrow({ where: { id } })).status).toBe('overdue');
  });
});

it('every zone of one word that a workspace may have is one in which the database has the clocks of this runtime', async () => {
  // Of a year on which all lists of zones agree.
  const moments = ['2020-01-15T12:00:00Z', '2020-07-15T12:00:00Z'];
  const words = `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel
    Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal
    W-SU WET Zulu`.split(/\s+/);
  const names = words.filter(isZone);
  expect(names).toEqual(words);
  const { rows } = await api.app.database.execute(
    `select z.name, m.at, to_char(m.at::timestamptz at time zone z.clocks, 'YYYY-MM-DD"T"HH24:MI') as shown
     from unnest($1::text[], $2::text[]) z(name, clocks), unnest($3::text[]) m(at)`,
    [names, names.map(zoneInSql), moments],
  );
  expect(rows).toHaveLength(names.length * moments.length);
  for (const { name, at, shown } of rows as Record<'name' | 'at' | 'shown', string>[])
    expect([name, at, shown]).toEqual([name, at, new Date(localTime(new Date(at), name)).toISOString().slice(0, 16)]);
});

describe('the first and the last day of the calendar', () => {
  it.each([
    ['Europe/Berlin', '9999-12-31T23:59:59Z', { day: '9999-12-31', week: '9999-12-27', month: '9999-12-01' }],
    ['America/New_York', '0001-01-01T00:00:00Z', { day: '0001-01-01', week: '0001-01-01', month: '0001-01-01' }],
  ])('are those of %s too, whatever its clocks show at %s', async (zone, dueDate, groups) => {
    const account = await workspaceIn(zone, '2026-07-01T12:00:00Z');
    await account.task({ dueDate });
    await account.task();
    for (const [by, key] of Object.entries(groups))
      expect(await groupsOf(account, 'taskAggregate', 'dueDate', by)).toEqual([
        [key, 1],
        [null, 1],
      ]);
  });
});
