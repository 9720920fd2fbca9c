import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rulesOf } from '../../src/kernel/model/fieldRules.js';
import { Contact } from '../../src/modules/contacts/contact.model.js';
import { Deal } from '../../src/modules/deals/deal.model.js';
import { type Account, dataOf, day, expectRefusal, hour, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let full: Record<string, Loose>;
let bare: Record<string, Loose>;
const noun = { contact: 'contacts', deal: 'deals' } as const;
type Entity = keyof typeof noun;

/** A contact of which everything is said. */
const contactFields = (assignedTo: string, companyId: string) => ({
  ...{ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+14155550123', company: 'Engines', companyId, assignedTo },
  ...{ jobTitle: 'Analyst', source: 'web', addressLine1: '12 Square', addressLine2: 'Flat 2', city: 'London', state: 'LDN', zip: 'SW1' },
  ...{ country: 'GB', timezone: 'Europe/London', legacyStatus: 'old', masterStatus: 'customer', externalBackend: true, language: 'en' },
  ...{ doNotContact: true, doNotContactReason: 'asked', customFields: { tier: 'gold', seats: 12, on: true, colours: ['red', 'blue'] } },
  ...{ attribution: { utm_source: 'ads', landingUrl: 'https://example.com/a', clickIds: { g: '1' } }, tags: ['VIP', 'gold'] },
});

const dealFields = (assignedTo: string, contactId: string, companyId: string) => ({
  ...{ title: 'Machine', contactId, companyId, value: 1200.5, currency: 'EUR', priority: 'high', source: 'web', lostReason: 'none' },
  ...{ probability: 0.25, expectedCloseDate: '2026-12-05', appointmentAt: '2026-01-01T10:00:00Z', assignedTo },
  ...{ customFields: { tier: 'gold' }, products: [{ name: 'Wheel', unitPrice: 3.5, quantity: 2, description: 'brass' }] },
});

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { id: companyId } = await acme.company();
  const contact = await acme.contact(contactFields(acme.ownerId, companyId));
  const nobody = await acme.contact({ firstName: 'Nobody' });
  const pipeline = await acme.pipeline();
  const deal = await acme.deal({ pipeline, ...dealFields(acme.ownerId, contact.id, companyId) });
  const nothing = await acme.deal({ title: 'Nothing' });
  await acme.owner.post(`/notes`, { body: 'moves lastActivityAt', contactId: contact.id, dealId: deal.id });
  await api.app.database.prisma.contact.updateMany({
    where: { id: contact.id },
    data: { optedOutSms: true, optedOutEmail: true, leadScore: 70, lastContactedAt: api.clock.now() },
  });
  await api.app.database.prisma.deal.updateMany({ where: { id: deal.id }, data: { closedAt: api.clock.now(), status: 'open' } });
  const read = async (path: string) => dataOf(await acme.owner.get(path));
  full = { contact: await read(`/contacts/${contact.id}`), deal: await read(`/deals/${deal.id}`) };
  bare = { contact: await read(`/contacts/${nobody.id}`), deal: await read(`/deals/${nothing.id}`) };
});
afterAll(() => api.close());

/** Which of the two a filter finds: through the list, by a saved list, and by a bulk edit. */
async function found(entity: Entity, filters: object): Promise<string> {
  const own = (ids: string[]) =>
    [ids.includes(full[entity].id) && 'full', ids.includes(bare[entity].id) && 'bare'].filter(Boolean).join(' ') || 'none';
  const listed = dataOf(await acme.owner.get(`/${noun[entity]}?per_page=200&filters=${encodeURIComponent(JSON.stringify(filters))}`));
  const { id } = dataOf(await acme.owner.post('/smart-lists', { name: 'f', entity, filters }));
  const parameter = entity === 'contact' ? 'smartListId' : 'viewId';
  const saved = dataOf(await acme.owner.get(`/${noun[entity]}?per_page=200&${parameter}=${id}`));
  const { total } = dataOf(await acme.owner.post(`/bulk/${noun[entity]}/edit`, { filters, changes: {} }));
  const ids = listed.data.map((row: Loose) => row.id);
  expect(saved.data.map((row: Loose) => row.id)).toEqual(ids);
  expect(total).toBe(ids.length);
  return own(ids);
}

/** What a filter is told to find the whole record by, where its value is an object or a list. */
const told: Record<string, unknown> = { tags: 'vip', products: 'Wheel' };

describe.each([
  ['contact', Contact],
  ['deal', Deal],
] as const)('filters of a %s', (entity, type) => {
  const names = rulesOf(type).map(({ name }) => name);

  it.each(entity === 'contact' ? [...names, 'tags'] : names)('reach %s, and take what has no value for another one', async (field) => {
    const value = told[field] ?? full[entity][field];
    expect(value ?? null).not.toBeNull();
    const isSame = JSON.stringify(bare[entity][field]) === JSON.stringify(full[entity][field]);
    const [both, others] = isSame ? ['full bare', 'none'] : ['full', 'bare'];
    expect(await found(entity, { field, value })).toBe(both);
    expect(await found(entity, { field, op: 'in', value: [value] })).toBe(both);
    for (const op of ['neq', 'not_in']) expect(await found(entity, { field, op, value: op === 'neq' ? value : [value] })).toBe(others);
    const isEmpty = (its: unknown) => its === null || (['tags', 'products'].includes(field) && (its as unknown[]).length === 0);
    const empty = isEmpty(bare[entity][field]) ? 'bare' : 'none';
    const given = empty === 'bare' ? 'full' : 'full bare';
    for (const filter of [{ op: 'is_null' }, { value: null }, { op: 'in', value: [null] }]) {
      expect(await found(entity, { field, ...filter })).toBe(empty);
      expect(await found(entity, { not: { field, ...filter } })).toBe(given);
    }
    for (const op of ['is_not_null', 'neq', 'not_in']) {
      expect(await found(entity, { field, op, ...(op === 'neq' && { value: null }), ...(op === 'not_in' && { value: [null] }) })).toBe(
        given,
      );
    }
  });
});

it('reach what is inside of a record', async () => {
  for (const [filter, who] of [
    [{ field: 'attribution.utm_source', value: 'ads' }, 'full'],
    [{ field: 'attribution.clickIds', value: { g: '1' } }, 'full'],
    [{ field: 'attribution.utm_term', op: 'is_null' }, 'full bare'],
    [{ field: 'customFields.tier', value: 'gold' }, 'full'],
    [{ field: 'customFields.tier', op: 'neq', value: 'gold' }, 'bare'],
    [{ field: 'customFields.tier', op: 'not_in', value: ['gold'] }, 'bare'],
    [{ field: 'customFields.seats', op: 'gt', value: 9 }, 'full'],
    [{ field: 'customFields.seats', op: 'in', value: [12, 13] }, 'full'],
    [{ field: 'customFields.on', value: true }, 'full'],
    [{ field: 'customFields.colours', value: 'red' }, 'full'],
    [{ field: 'customFields.colours', op: 'in', value: ['green', 'blue'] }, 'full'],
    [{ field: 'customFields.colours', op: 'neq', value: 'green' }, 'full bare'],
    [{ field: 'tags', value: 'GOLD' }, 'full'],
    [{ field: 'tags', op: 'in', value: ['x', 'Vip'] }, 'full'],
    [{ field: 'tags', op: 'starts_with', value: 'v' }, 'full'],
    [
      {
        and: [
          { field: 'tags', value: 'vip' },
          { field: 'tags', value: 'gold' },
        ],
      },
      'full',
    ],
    [{ field: 'lastName', op: 'contains', value: 'LOVE' }, 'full'],
    [{ field: 'email', value: 'ADA@Example.com' }, 'full'],
    [{ field: 'email', op: 'in', value: ['x@example.com', 'ADA@Example.com'] }, 'full'],
    [{ field: 'email', op: 'neq', value: 'ADA@Example.com' }, 'bare'],
  ] as const) {
    expect([filter, await found('contact', filter)]).toEqual([filter, who]);
  }
  for (const [filter, who] of [
    [{ field: 'products.unitPrice', op: 'gte', value: 3.5 }, 'full'],
    [{ field: 'products.description', op: 'contains', value: 'BRASS' }, 'full'],
    [{ field: 'appointmentMissed', value: true }, 'full'],
    [{ field: 'appointmentMissed', value: false }, 'bare'],
  ] as const) {
    expect([filter, await found('deal', filter)]).toEqual([filter, who]);
  }
});

it('name the place that is wrong', async () => {
  const refused = (entity: Entity, filter: object, at: string) =>
    acme.owner.post('/smart-lists', { name: 'f', entity, filters: filter }).then((reply) => expectRefusal(reply, 400, at));
  await refused('contact', { field: 'leadScore', op: 'in', value: [1, 'many'] }, 'filters.value.1');
  await refused('contact', { field: 'createdAt', op: 'in', value: ['2026-01-01', 'x'] }, 'filters.value.1');
  await refused('contact', { field: 'attribution', op: 'gt', value: {} }, 'filters.op');
  await refused('contact', { field: 'tags', op: 'contains', value: 5 }, 'filters.value');
  await refused('deal', { field: 'value', op: 'gte', value: 90071992547409.94 }, 'filters.value');
  await refused('contact', { field: 'customFields.', value: 5 }, 'filters.field');
  for (const field of ['tagIds', 'searchText', 'deletedAt', 'constructor', '__proto__', 'attribution.x'])
    await refused('contact', { field, value: 'x' }, 'filters.field');
  await refused('deal', { field: 'expectedCloseDate', value: 'soon' }, 'filters.value');
});

describe('a day of a filter', () => {
  it.each(['America/New_York', 'Pacific/Auckland', 'Etc/GMT+11', 'Etc/GMT-14', 'UTC'])('is that day in %s', async (timezone) => {
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone } });
    api.clock.advance(hour);
    const field = 'expectedCloseDate';
    for (const [filter, who] of [
      [{ field, value: '2026-12-05' }, 'full'],
      [{ field, value: '2026-12-06' }, 'none'],
      [{ field, value: '2026-12-04' }, 'none'],
      [{ field, op: 'gte', value: '2026-12-05' }, 'full'],
      [{ field, op: 'gt', value: '2026-12-05' }, 'none'],
      [{ field, op: 'lte', value: '2026-12-05' }, 'full'],
      [{ field, op: 'lt', value: '2026-12-05' }, 'none'],
      [{ field, op: 'lt', value: '2026-12-06' }, 'full'],
      [{ field, op: 'in', value: ['2026-12-05', '2026-12-09'] }, 'full'],
      [{ field, op: 'in', value: ['2026-12-05T12:00:00', '2026-12-09'] }, 'full'],
      [{ field, op: 'in', value: ['2026-12-04T12:00:00Z', '2026-12-05T12:00:00Z', '2026-12-01'] }, 'full'],
      [{ field, op: 'in', value: ['2026-12-06T12:00:00', '2026-12-09'] }, 'none'],
      [{ field, op: 'neq', value: '2026-12-05' }, 'bare'],
      [{ field, value: '2026-12-05T12:00:00' }, 'full'],
    ] as const) {
      expect([filter, await found('deal', filter)]).toEqual([filter, who]);
    }
    api.clock.reset();
  });

  it('of a moment is the whole of it, in a list of days too', async () => {
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'America/New_York' } });
    api.clock.advance(hour);
    const moment = Date.parse(full.contact.createdAt);
    const on = (time: number) => new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(time);
    expect(await found('contact', { field: 'createdAt', op: 'in', value: [on(moment), '2001-01-01'] })).toBe('full bare');
    expect(await found('contact', { field: 'createdAt', op: 'in', value: [on(moment - day), on(moment + day)] })).toBe('none');
    api.clock.reset();
  });
});
