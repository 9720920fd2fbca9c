import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  day,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown) => acme.owner.post('/companies', body);
const patch = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/companies/${id}`, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/companies/${id}`));
const logOf = (entityId: string) => api.app.database.prisma.activity.findMany({ where: { entityId }, orderBy: { id: 'asc' } });

const everything = () => ({
  name: 'n'.repeat(200),
  domain: 'd'.repeat(200),
  industry: 'i'.repeat(100),
  size: '1001+',
  annualRevenue: 9999999999.5,
  ownerId: acme.ownerId,
  lifecycleStage: 'l'.repeat(100),
  website: 'w'.repeat(500),
  phone: '+14155550123',
  address: 'a'.repeat(300),
  city: 'c'.repeat(100),
  state: 's'.repeat(100),
  zip: 'z'.repeat(20),
  country: 'c'.repeat(100),
  customFields: { tier: 1, nested: { deep: [null] } },
  description: 'd'.repeat(2000),
});

describe('POST /companies', () => {
  it('needs a name', async () => {
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { name: '' }, { name: ' ' }, { name: null }]) expectRefusal(await create(body), 400, 'name');
    });
  });

  it('keeps every field as it was sent', async () => {
    const parent = await acme.company();
    const reply = await create({ ...everything(), parentCompanyId: parent.id });
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ ...everything(), parentCompanyId: parent.id, contactCount: 0 });
    expect(await read(reply.body.data.id)).toMatchObject(reply.body.data);
  });

  it('holds every field to its limit', async () => {
    await expectNothingWritten(api, async () => {
      for (const [name, value] of Object.entries(everything())) {
        if (typeof value !== 'string' || ['phone', 'size', 'ownerId'].includes(name)) continue;
        expectRefusal(await create({ ...everything(), [name]: `${value}x` }), 400, name);
      }
      expectRefusal(await create({ name: 'a', size: '2-3' }), 400, 'size');
      expectRefusal(await create({ name: 'a', annualRevenue: '1.005' }), 400, 'annualRevenue');
      expectRefusal(await create({ name: 'a', annualRevenue: '12345678901234567' }), 400, 'annualRevenue');
      expectRefusal(await create({ name: 'a', customFields: { k: 'x'.repeat(64 * 1024) } }), 413, 'customFields');
    });
  });

  it('names the link that leads nowhere', async () => {
    const abroad = await api.seed.account();
    const [theirs, gone] = [await abroad.company(), await acme.company()];
    dataOf(await acme.owner.del(`/companies/${gone.id}`));
    await expectNothingWritten(api, async () => {
      for (const id of [theirs.id, gone.id, crypto.randomUUID(), 'x']) {
        expectRefusal(await create({ name: 'a', parentCompanyId: id }), 400, 'parentCompanyId');
      }
      for (const id of [abroad.ownerId, crypto.randomUUID()]) expectRefusal(await create({ name: 'a', ownerId: id }), 400, 'ownerId');
    });
  });

  it('answers 402 when the trial has expired', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    api.clock.advance(15 * day);
    const owner = await trial.login();
    expectRefusal(await owner.post('/companies', { name: 'a' }), 402);
    api.clock.reset();
  });

  it('sends one statement', async () => {
    await create({ name: 'warm' });
    expect(await api.statements(() => create({ name: 'measured' }))).toBeLessThanOrEqual(1);
  });
});

describe('GET /companies/{id}', () => {
  it('shows the linked contacts, and contacts and deals in numbers', async () => {
    const company = await acme.company();
    const [ada, bob] = [
      await acme.contact({ firstName: 'Ada', companyId: company.id }),
      await acme.contact({ firstName: 'Bob', companyId: company.id }),
    ];
    dataOf(await acme.owner.del(`/contacts/${(await acme.contact({ companyId: company.id, firstName: 'Gone' })).id}`));
    const detail = await read(company.id);
    expect(detail).toMatchObject({ contactCount: 2, dealCount: 0, openDealCount: 0, totalDealValue: 0 });
    expect(detail.contacts.map((c: Loose) => c.id).sort()).toEqual([ada.id, bob.id].sort());
    expect(detail.contacts.find((c: Loose) => c.id === ada.id)).toMatchObject({ firstName: 'Ada', email: null });
  });

  it('is open to a key for companies alone, whose GraphQL does not reach the contacts', async () => {
    const key = await acme.key({ scopes: ['companies'] });
    const company = await acme.company();
    expect((await key.get(`/companies/${company.id}`)).status).toBe(200);
    const wide = await key.gql('query ($id: ID!) { company(id: $id) { contacts { nodes { email } } } }', { id: company.id });
    expectGraphQLRefusal(wide, 403);
  });

  it('sends at most three statements', async () => {
    const { id } = await acme.company();
    await read(id);
    expect(await api.statements(() => read(id))).toBeLessThanOrEqual(3);
  });
});

describe('PATCH /companies/{id}', () => {
  it('changes what is sent, clears what is null, merges custom fields', async () => {
    const before = await acme.company(everything());
    const after = await patch(before.id, { city: 'Paris', zip: null, domain: '', customFields: { tier: null, more: 2 } });
    const customFields = { nested: { deep: [null] }, more: 2 };
    expect(after).toEqual({ ...before, city: 'Paris', zip: null, domain: null, customFields, updatedAt: after.updatedAt });
    expectRefusal(await acme.owner.patch(`/companies/${before.id}`, { name: null }), 400, 'name');
  });

  it('notes who changed what from which to which value', async () => {
    const { id } = await acme.company({ name: 'Before', annualRevenue: 10 });
    await patch(id, { name: 'After', annualRevenue: '10.00' });
    await patch(id, { annualRevenue: '10.5' });
    const entries = await logOf(id);
    expect(entries.map((e) => [e.type, e.action])).toEqual([
      ['company.created', 'created'],
      ['company.updated', 'updated'],
      ['company.updated', 'updated'],
    ]);
    expect(entries[1]?.changes).toEqual({ name: { from: 'Before', to: 'After' } });
    expect(entries[2]?.changes).toEqual({ annualRevenue: { from: 10, to: 10.5 } });
    expect(entries[1]?.userId).toBe(acme.ownerId);
  });

  it('writes nothing when nothing changes', async () => {
    const { id } = await acme.company(everything());
    await expectNothingWritten(api, async () => {
      await patch(id, {});
      await patch(id, everything());
    });
  });

  it('keeps a company from being above itself', async () => {
    const top = await acme.company();
    const middle = await acme.company({ parentCompanyId: top.id });
    const bottom = await acme.company({ parentCompanyId: middle.id });
    await expectNothingWritten(api, async () => {
      for (const id of [top.id, middle.id, bottom.id]) {
        expectRefusal(await acme.owner.patch(`/companies/${top.id}`, { parentCompanyId: id }), 422, 'parentCompanyId');
      }
    });
  });

  onPostgres(it)('does so when two are put above each other at once', async () => {
    for (let n = 0; n < 10; n++) {
      const [a, b] = [await acme.company(), await acme.company()];
      const under = (id: string, parentCompanyId: string) => acme.owner.patch(`/companies/${id}`, { parentCompanyId });
      const replies = await Promise.all([under(a.id, b.id), under(b.id, a.id)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 422]);
    }
  });
});

describe('DELETE /companies/{id}', () => {
  it('is told by each live contact that loses the link', async () => {
    const company = await acme.company();
    const { id } = await acme.contact({ firstName: 'Ada', companyId: company.id, tags: ['VIP'] });
    const told = await toldIn(acme, async () => dataOf(await acme.owner.del(`/companies/${company.id}`)));
    expect(told.events).toEqual([`company.deleted ${company.id}`, `contact.updated ${id}`]);
    expect(told.entries).toEqual(told.events);
    const contact = told.rows.find(({ entityId }) => entityId === id);
    expect(contact).toMatchObject({ changes: { companyId: { from: company.id, to: null } }, data: { companyId: null } });
    expect(contact?.data.tags).toEqual([{ id: expect.any(String), name: 'VIP' }]);
  });

  it('keeps the contacts and the companies below, without the link; restoring brings back the company alone', async () => {
    const company = await acme.company({ name: 'Doomed' });
    const child = await acme.company({ parentCompanyId: company.id });
    const contact = await acme.contact({ firstName: 'Ada', companyId: company.id, company: 'Doomed' });
    expect(dataOf(await acme.owner.del(`/companies/${company.id}`))).toEqual({ id: company.id, deleted: true });
    expectRefusal(await acme.owner.get(`/companies/${company.id}`), 404);
    expectRefusal(await acme.owner.del(`/companies/${company.id}`), 404);
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`))).toMatchObject({ companyId: null, company: 'Doomed' });
    expect((await read(child.id)).parentCompanyId).toBeNull();
    const restored = dataOf(await acme.owner.post(`/companies/${company.id}/restore`));
    expect(restored).toMatchObject({ name: 'Doomed', contactCount: 0 });
    expect((await logOf(company.id)).map((e) => e.type)).toEqual(['company.created', 'company.deleted', 'company.updated']);
  });
});

let listed: Account;
beforeAll(async () => {
  listed = await api.seed.account();
  const make = (name: string, more: object = {}) => listed.company({ name, ...more });
  const [alpha, beta] = [
    await make('Alpha Shipping', { industry: 'Shipping', size: '11-50' }),
    await make('beta_100%', { lifecycleStage: 'Customer' }),
  ];
  await make('Gamma', { ownerId: listed.ownerId });
  for (const firstName of ['a', 'b']) await listed.contact({ firstName, companyId: alpha.id });
  await deal(beta.id, 'open');
  await deal(alpha.id, 'won');
});

async function deal(companyId: string, status: string) {
  const { prisma } = api.app.database;
  const [times, ids] = [
    { createdAt: new Date(), updatedAt: new Date() },
    { accountId: listed.id, id: crypto.randomUUID() },
  ];
  await prisma.pipeline.create({ data: { ...ids, name: 'p', ...times } });
  await prisma.stage.create({ data: { ...ids, pipelineId: ids.id, name: 's', ...times } });
  await prisma.deal.create({
    data: { ...ids, title: 't', pipelineId: ids.id, stageId: ids.id, companyId, status, value: '10.25', ...times },
  });
}

const names = async (query: string) => {
  const { data, meta } = dataOf(await listed.owner.get(`/companies?sort=name&order=asc&${query}`));
  expect(meta.total).toBe(data.length);
  return data.map((c: Loose) => c.name);
};

describe('GET /companies', () => {
  it.each([
    ['', ['Alpha Shipping', 'beta_100%', 'Gamma']],
    ['search=ship', ['Alpha Shipping']],
    ['search=sh', ['Alpha Shipping']],
    ['search=ip', []],
    ['search=_100%25', ['beta_100%']],
    ['industry=shipping', ['Alpha Shipping']],
    ['size=11-50', ['Alpha Shipping']],
    ['hasOpenDeals=true', ['beta_100%']],
    ['has_open_deals=false', ['Alpha Shipping', 'Gamma']],
    ['lifecycleStage=customer', ['beta_100%']],
    ['lifecycle_stage=customer', ['beta_100%']],
  ])('filters by %s', async (query, expected) => expect(await names(query)).toEqual(expected));

  it('filters by owner', async () => {
    expect(await names(`ownerId=${listed.ownerId}`)).toEqual(['Gamma']);
    expect(await names(`owner_id=${crypto.randomUUID()}`)).toEqual([]);
  });

  it.each(['size=2', 'sort=size', 'order=up', 'ownerId=x', 'hasOpenDeals=maybe'])('answers 400 for %s', async (query) => {
    expectRefusal(await listed.owner.get(`/companies?${query}`), 400, query.split('=')[0]);
  });
});

describe('a page of GET /companies', () => {
  it('answers whole records with their contact counts, newest first, in one statement', async () => {
    const { data } = dataOf(await listed.owner.get('/companies'));
    expect(data.map((c: Loose) => [c.name, c.contactCount])).toEqual([
      ['Gamma', 0],
      ['beta_100%', 0],
      ['Alpha Shipping', 2],
    ]);
    const { contacts, dealCount, openDealCount, totalDealValue, ...record } = dataOf(await listed.owner.get(`/companies/${data[1].id}`));
    expect(record).toEqual(data[1]);
    expect({ contacts, dealCount, openDealCount, totalDealValue }).toEqual({
      contacts: [],
      dealCount: 1,
      openDealCount: 1,
      totalDealValue: 10.25,
    });
    expect(await api.statements(() => listed.owner.get('/companies'))).toBe(1);
  });

  it('leads to contacts and figures through GraphQL in one statement', async () => {
    const query = `{ companies(sort: name) { totalCount nodes { name contactCount dealCount totalDealValue owner { name }
      contacts(first: 1) { nodes { firstName companyRecord { name subsidiaries { nodes { name } } } } } } } }`;
    const run = () => listed.owner.gql(query);
    const { data, errors } = await run();
    expect(errors).toBeUndefined();
    const alpha = data.companies.nodes.find((c: Loose) => c.name === 'Alpha Shipping');
    expect(alpha).toMatchObject({ contactCount: 2, dealCount: 1, totalDealValue: 10.25, owner: null });
    expect(alpha.contacts.nodes).toEqual([{ firstName: 'b', companyRecord: { name: 'Alpha Shipping', subsidiaries: { nodes: [] } } }]);
    expect(await api.statements(run)).toBe(1);
  });
});
