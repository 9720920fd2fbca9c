import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  password,
  server,
  type TestServer,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
let other: Account;
let member: Client & { userId: string };
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  other = await api.seed.account({ name: 'Other' });
  member = await acme.member();
  for (const [firstName, city] of [['Ada', 'Lisbon'], ['Bea', 'Porto'], ['Cleo', 'Lisbon'], ['Dora', null]]) await acme.contact({ firstName, city }); // biome-ignore format: one line
});
afterAll(() => api.close());

const inLisbon = { field: 'city', value: 'Lisbon' };
const create = (fields: object, who: Client = acme.owner) => who.post('/smart-lists', { name: 'Lisbon', filters: inLisbon, ...fields });
const made = async (fields: object = {}, who?: Client): Promise<Loose> => dataOf(await create(fields, who));
const shown = async (id: string, more = '', who: Client = acme.owner): Promise<string[]> =>
  dataOf(await who.get(`/contacts?smartListId=${id}${more}`)).data.map((contact: Loose) => contact.firstName);

describe('POST /smart-lists', () => {
  it('keeps a filter under a name, for all to see by default', async () => {
    const list = await made({ sort: 'firstName', order: 'desc' });
    expect(list).toEqual({
      ...{ id: expect.any(String), name: 'Lisbon', entity: 'contact', filters: inLisbon, sort: 'firstName', order: 'desc' },
      ...{ shared: true, ownerId: acme.ownerId, createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect(dataOf(await member.get(`/smart-lists/${list.id}`))).toEqual({ ...list, count: 2 });
  });

  it('takes what the list of contacts would take, and blames the place that is wrong', async () => {
    await expectNothingWritten(api, async () => {
      for (const [fields, field] of [
        [{ filters: { and: [inLisbon, { field: 'password', value: 1 }] } }, 'filters.and.1.field'],
        [{ filters: { field: 'leadScore', op: 'gt', value: 'many' } }, 'filters.value'],
        [{ filters: {} }, 'filters.field'],
        [{ filters: null }, 'filters'],
        [{ name: ' ' }, 'name'],
        [{ sort: 'password' }, 'sort'],
        [{ order: 'asc' }, 'order'],
        [{ entity: 'invoice' }, 'entity'],
      ] as const) {
        expectRefusal(await create(fields), 400, field);
      }
    });
  });
});

describe('GET /contacts?smartListId=', () => {
  it('shows what the filter finds, in the order of the list, with other filters besides', async () => {
    const { id } = await made({ sort: 'firstName', order: 'desc' });
    expect(await shown(id)).toEqual(['Cleo', 'Ada']);
    expect(await shown(id, '&sort=firstName&order=asc')).toEqual(['Ada', 'Cleo']);
    expect(await shown(id, '&order=asc')).toEqual(['Ada', 'Cleo']);
    expect(await shown(id, '&search=ada')).toEqual(['Ada']);
    const page = dataOf(await acme.owner.get(`/contacts?smartListId=${id}&limit=1`));
    expect([page.meta.total, page.data[0].firstName]).toEqual([2, 'Cleo']);
    expect(await shown(id, `&limit=1&cursor=${page.meta.next_cursor}`)).toEqual(['Ada']);
    expect((await acme.owner.get(`/contacts/export?smart_list_id=${id}`)).text.split('\r\n').slice(1, 3).map((line) => line.slice(0, 3))).toEqual(['Cle', 'Ada']); // biome-ignore format: one line
    const { data } = await acme.owner.gql('query ($id: ID!) { contacts(filter: { smartListId: $id }) { totalCount } smartList(id: $id) { count owner { id } } }', { id }); // biome-ignore format: one line
    expect(data).toEqual({ contacts: { totalCount: 2 }, smartList: { count: 2, owner: { id: acme.ownerId } } });
  });

  it('that says no direction has the list’s own, and texts from a to z', async () => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const all = { field: 'createdAt', op: 'gt', value: since };
    const newestFirst = dataOf(await acme.owner.get('/contacts?sort=createdAt')).data.map((contact: Loose) => contact.firstName);
    const byTime = await made({ filters: all, sort: 'createdAt' });
    expect([byTime.order, await shown(byTime.id)]).toEqual([null, newestFirst]);
    const byName = await made({ filters: all, sort: 'firstName' });
    expect(await shown(byName.id)).toEqual([...newestFirst].sort());
  });

  it('is empty for a list that is unknown, of another account, or another’s own', async () => {
    const theirs = await made({}, other.owner);
    const own = await made({ shared: false });
    expect(await shown(own.id)).toHaveLength(2);
    for (const id of [crypto.randomUUID(), theirs.id]) expect(await shown(id)).toEqual([]);
    expect(await shown(own.id, '', member)).toEqual([]);
    expectRefusal(await acme.owner.get('/contacts?smartListId=nonsense'), 400, 'smartListId');
  });

  it('costs one statement more than the list without it', async () => {
    const { id } = await made();
    const [plain, kept] = [await api.statements(() => acme.owner.get('/contacts')), await api.statements(() => shown(id))];
    expect(kept - plain).toBeLessThanOrEqual(1);
  });
});

describe('GET /deals?view_id=', () => {
  it('shows what a smart list about deals finds, in its order; one about contacts finds none', async () => {
    for (const value of [10, 30, 20]) await acme.deal({ title: `Worth ${value}`, value, expectedCloseDate: '2030-01-05' });
    const large = {
      and: [
        { field: 'value', op: 'gte', value: 20 },
        { field: 'expectedCloseDate', value: '2030-01-05' },
      ],
    };
    const list = await made({ entity: 'deal', filters: large, sort: 'value', order: 'asc' });
    const titles = async (query: string) => dataOf(await acme.owner.get(`/deals?${query}`)).data.map((deal: Loose) => deal.title);
    expect(await titles(`view_id=${list.id}`)).toEqual(['Worth 20', 'Worth 30']);
    expect(await titles(`viewId=${list.id}&sort=value&order=desc`)).toEqual(['Worth 30', 'Worth 20']);
    expect(await titles(`view_id=${(await made()).id}`)).toEqual([]);
    expect(await shown(list.id)).toEqual([]);
    expect(dataOf(await acme.owner.get(`/smart-lists/${list.id}`)).count).toBe(2);
    expectRefusal(await create({ entity: 'deal', filters: inLisbon }), 400, 'filters.field');
  });
});

describe('who may see and change a smart list', () => {
  it('is everybody and its owner; another’s own is not found', async () => {
    const own = await made({ shared: false, name: 'Mine' }, member);
    const shared = await made({ name: 'Ours' });
    for (const [reply, status] of [
      [await acme.owner.get(`/smart-lists/${own.id}`), 404],
      [await acme.owner.del(`/smart-lists/${own.id}`), 404],
      [await member.patch(`/smart-lists/${shared.id}`, { name: 'Taken' }), 403],
      [await member.del(`/smart-lists/${shared.id}`), 403],
      [await member.patch(`/smart-lists/${own.id}`, { shared: true }), 200],
      [await (await acme.member('admin')).patch(`/smart-lists/${own.id}`, { name: 'Everybody’s' }), 200],
    ] as const) {
      expect(reply.status).toBe(status);
    }
    const names = dataOf(await member.get('/smart-lists?per_page=200')).data.map((list: Loose) => list.name);
    expect(names).toContain('Everybody’s');
    expect(names).toContain('Ours');
  });

  it('is no key whose scopes are other records', async () => {
    const { id } = await made();
    const key = await acme.key({ scopes: ['invoices'] });
    expect(dataOf(await key.get('/smart-lists')).data).toEqual([]);
    expectRefusal(await key.get(`/smart-lists/${id}`), 404);
    expectRefusal(await create({}, key), 403);
    expect(dataOf(await (await acme.key({ scopes: ['contacts'] })).get(`/smart-lists/${id}`)).count).toBe(2);
  });

  it('is a key that may not see what a list asks for too, without its count', async () => {
    const filters = { field: 'deals', op: 'some', value: { field: 'value', op: 'gt', value: 1 } };
    const [counted, asking] = [await made(), await made({ filters })];
    const key = await acme.key({ scopes: ['contacts'] });
    expect(dataOf(await key.get(`/smart-lists/${asking.id}`))).toEqual({ ...asking, count: null });
    const { data, errors } = await key.gql('{ smartLists(first: 50) { nodes { id count } } }');
    expect(errors).toBeUndefined();
    const counts = [counted, asking].map(({ id }) => ({ id, count: id === counted.id ? 2 : null }));
    expect(data.smartLists.nodes).toEqual(expect.arrayContaining(counts));
    expect(dataOf(await acme.owner.get(`/smart-lists/${asking.id}`)).count).toBe(0);
    expectRefusal(await key.get(`/contacts?smartListId=${asking.id}`), 403);
  });
});

describe('PATCH and DELETE /smart-lists/{id}', () => {
  it('change the filter as a whole, and only what is sent', async () => {
    const list = await made({ sort: 'firstName', order: 'desc' });
    const patch = async (body: object) => dataOf(await acme.owner.patch(`/smart-lists/${list.id}`, body));
    expect(await patch({ filters: { field: 'city', op: 'is_null' }, sort: null })).toMatchObject({
      name: 'Lisbon',
      sort: null,
      order: null,
    });
    expect(await shown(list.id)).toEqual(['Dora']);
    expect(await patch({})).toEqual(dataOf(await acme.owner.get('/smart-lists')).data.find((l: Loose) => l.id === list.id));
    expect(dataOf(await acme.owner.del(`/smart-lists/${list.id}`))).toEqual({ id: list.id, deleted: true });
    expect(await shown(list.id)).toEqual([]);
    expectRefusal(await acme.owner.get(`/smart-lists/${list.id}`), 404);
  });
});

describe('PATCH /smart-lists/{id}', () => {
  it('refuses a direction without a sort, as a creation does, also where it takes the sort away', async () => {
    const { id } = await made({ sort: 'firstName', order: 'desc' });
    const patch = (body: object) => acme.owner.patch(`/smart-lists/${id}`, body);
    await expectNothingWritten(api, async () => expectRefusal(await patch({ sort: null, order: 'asc' }), 400, 'order'));
    expect(dataOf(await patch({ sort: null, order: null }))).toMatchObject({ sort: null, order: null });
    await expectNothingWritten(api, async () => expectRefusal(await patch({ order: 'asc' }), 400, 'order'));
  });
});

describe('a private list that is shared', () => {
  it('tells what it was before to its owner alone', async () => {
    const filters = (value: string) => ({ field: 'city', op: 'eq', value });
    const { id } = await made({ name: 'Leaving soon', shared: false, filters: filters('Lima') }, member);
    dataOf(await member.patch(`/smart-lists/${id}`, { shared: true, name: 'Customers', filters: filters('Porto') }));
    const rows = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId: id }, orderBy: { seq: 'asc' } });
    expect(rows.map(({ name, changes, onlyFor }) => ({ name, changes, onlyFor }))).toEqual([
      { name: 'smart_list.created', changes: null, onlyFor: member.userId },
      {
        ...{ name: 'smart_list.updated', onlyFor: member.userId },
        changes: { name: { from: 'Leaving soon', to: 'Customers' }, filters: { from: filters('Lima'), to: filters('Porto') } },
      },
      { name: 'smart_list.updated', changes: { shared: { from: false, to: true } }, onlyFor: null },
    ]);
    const entries = dataOf(await acme.owner.get('/activities?per_page=200')).data.filter((entry: Loose) => entry.entityId === id);
    expect(entries).toHaveLength(1);
    expect(JSON.stringify(entries)).not.toMatch(/Leaving soon|Lima/);
  });
});

describe('a private list that refers to a custom field', () => {
  it('counts, and its name is told to its owner alone', async () => {
    const body = { entityType: 'contact', fieldKey: 'grade', label: 'Grade', fieldType: 'text' };
    const { id, fieldKey } = dataOf(await acme.owner.post('/custom-fields', body));
    const [admin, colleague] = [await acme.member('admin'), await acme.member('admin')];
    const filters = { field: `customFields.${fieldKey}`, op: 'eq', value: 'a' };
    const list = dataOf(await admin.post('/smart-lists', { name: 'About to be fired', filters, shared: false }));
    const impactFor = async (caller: Client) => (await caller.del(`/custom-fields/${id}`)).body.impact;
    expect((await impactFor(admin)).dependencies).toEqual([{ type: 'smart_list', id: list.id, name: 'About to be fired' }]);
    const dependencies = [{ type: 'smart_list', id: list.id, name: 'A private list' }];
    expect(await impactFor(colleague)).toEqual({ valueCount: 0, dependencyCount: 1, dependencies });
  });

  it('keeps nobody from its key while its owner is removed, and is theirs again when they return', async () => {
    const body = { entityType: 'contact', fieldKey: 'tier', label: 'Tier', fieldType: 'text' };
    const { id } = dataOf(await acme.owner.post('/custom-fields', body));
    const rename = (fieldKey: string) => acme.owner.patch(`/custom-fields/${id}`, { fieldKey });
    const leaver = await acme.member();
    const filters = { field: 'customFields.tier', op: 'eq', value: 'a' };
    const list = await made({ filters, shared: false }, leaver);
    expectRefusal(await rename('level'), 422, 'fieldKey');
    dataOf(await acme.owner.del(`/users/${leaver.userId}`));
    for (const fieldKey of ['level', 'tier']) expect(dataOf(await rename(fieldKey))).toMatchObject({ fieldKey });
    dataOf(await acme.owner.post('/users/invite', { email: leaver.email }));
    expectRefusal(await rename('level'), 422, 'fieldKey');
    const token = await tokenMailed(api, leaver.email, 'accept-invite');
    dataOf(await api.anybody().post('/auth/accept-invite', { token, password }));
    expect(dataOf(await (await acme.login(leaver.email)).get(`/smart-lists/${list.id}`))).toEqual({ ...list, count: 0 });
  });
});
