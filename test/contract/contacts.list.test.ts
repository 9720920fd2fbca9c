import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let companyId: string;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const times = { createdAt: new Date(), updatedAt: new Date() };
  companyId = crypto.randomUUID();
  await api.app.database.prisma.company.create({ data: { accountId: acme.id, id: companyId, name: 'Navy', ...times } });
  await makeContacts();
});
afterAll(() => api.close());

const from = { ada: '2026-03-01T10:00:00Z', grace: '2026-03-02T23:59:59Z', alan: '2026-03-03T00:00:00Z', kurt: '2026-03-04T12:00:00Z' };

/** Four contacts that differ in whatever a parameter can tell, made on four days. */
async function makeContacts() {
  const make = async (at: string, fields: Record<string, unknown>) => {
    api.clock.set(at);
    const owner = await acme.login();
    dataOf(await owner.post('/contacts', fields));
  };
  await make(from.ada, {
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    phone: '(415) 555-0101',
    source: 'web',
    tags: ['VIP'],
  });
  await make(from.grace, {
    firstName: 'Grace',
    lastName: 'Hopper',
    company: 'Navy',
    companyId,
    tags: ['vip', 'Math'],
    masterStatus: 'customer',
  });
  await make(from.alan, { firstName: 'Alan', lastName: 'Turing_100%', assignedTo: acme.ownerId, customFields: { plan: 'gold', seats: 5 } });
  await make(from.kurt, {
    firstName: 'Kurt',
    email: 'kurt@example.com',
    phone: '+14155550104',
    doNotContact: true,
    customFields: { plan: 'free' },
  });
  api.clock.reset();
  await api.app.database.prisma.contact.updateMany({ where: { firstName: 'Ada' }, data: { leadScore: 80 } });
}

/** The first names that a query finds, in the order of their making, after checking the total. */
async function found(query: string): Promise<string[]> {
  const { data, meta } = dataOf(await acme.owner.get(`/contacts?sort=createdAt&order=asc&${query}`));
  expect(meta.total).toBe(data.length);
  return data.map((contact: Loose) => contact.firstName);
}

describe('GET /contacts', () => {
  it('answers whole records, newest first, with where the page stands', async () => {
    const { data, meta } = dataOf(await acme.owner.get('/contacts'));
    expect(data.map((c: Loose) => c.firstName)).toEqual(['Kurt', 'Alan', 'Grace', 'Ada']);
    expect(meta).toEqual({ page: 1, per_page: 50, total: 4, totalPages: 1, next_cursor: null });
    for (const contact of data) expect(contact).toEqual(dataOf(await acme.owner.get(`/contacts/${contact.id}`)));
  });
});

describe('a parameter of GET /contacts', () => {
  it.each([
    ['search=lovel', ['Ada'], 'part of a name'],
    ['search=OVELAC', ['Ada'], 'part of a name, whatever its case'],
    ['search=gr', ['Grace'], 'two characters: the start of a word'],
    ['search=ac', [], 'two characters in the middle of a word'],
    ['search=ada@ex', ['Ada'], 'part of an e-mail address'],
    ['search=5550101', ['Ada'], 'digits of a phone number'],
    ['search=(415)%20555-0104', ['Kurt'], 'a phone number as it is written'],
    ['search=100%25', ['Alan'], 'a percent sign'],
    ['search=g_100', ['Alan'], 'an underscore'],
    ['search=g%25100', [], 'a percent sign that is no wildcard'],
    ['tag=vip', ['Ada', 'Grace'], 'a tag, whatever its case'],
    ['tags=math,nothing', ['Grace'], 'any of several tags'],
    ['source=web', ['Ada'], 'a source'],
    ['company=navy', ['Grace'], 'a company, whatever its case'],
    ['min_score=80', ['Ada'], 'a score'],
    ['master_status=customer', ['Grace'], 'a status'],
    ['exclude_master_status=customer', ['Ada', 'Alan', 'Kurt'], 'any other status'],
    ['created_from=2026-03-03', ['Alan', 'Kurt'], 'since a day'],
    ['created_to=2026-03-02', ['Ada', 'Grace'], 'until the end of a day'],
    ['created_from=2026-03-03T01:00:00%2B01:00', ['Alan', 'Kurt'], 'an offset'],
    ['updated_from=2026-03-04&updated_to=2026-03-04', ['Kurt'], 'the day of a change'],
    ['smart_view=hot_leads', ['Ada'], 'the hot leads'],
    ['smart_view=untagged', ['Alan', 'Kurt'], 'those without a tag'],
    ['smart_view=missing_email', ['Grace', 'Alan'], 'those without an e-mail address'],
    ['smart_view=missing_phone', ['Grace', 'Alan'], 'those without a phone number'],
    ['smart_view=recently_won', [], 'those who bought lately'],
    ['smart_view=needs_follow_up', [], 'those who wait for us'],
    ['reachability=sms', ['Ada'], 'those who may get an SMS'],
    ['reachability=none', ['Grace', 'Alan', 'Kurt'], 'those who may get nothing'],
    ['cf[plan]=gold', ['Alan'], 'a custom field'],
    ['cf[plan]=gold&cf[seats]=5', ['Alan'], 'two custom fields, one a number'],
    ['cf[plan]=gold&cf[seats]=6', [], 'two custom fields of which one differs'],
    ['company_id=00000000-0000-7000-8000-000000000000', [], 'a company that nobody has'],
    ['import_id=00000000-0000-7000-8000-000000000000', [], 'an import that nobody has'],
    ['smartListId=00000000-0000-7000-8000-000000000000', [], 'a saved filter that nobody has'],
    ['deal_context_statuses=won', [], 'those with a deal of a status'],
    ['search=a&tag=vip&source=web', ['Ada'], 'all of several conditions'],
    ['search=&tag=&unknown=x', ['Ada', 'Grace', 'Alan', 'Kurt'], 'empty and unknown parameters, which say nothing'],
  ])('by %s finds %j: %s', async (query, names) => {
    expect(await found(query)).toEqual(names);
  });
});

describe('a custom field that GET /contacts asks for', () => {
  it('is compared as text whatever its digits are, and as the number that they write as well', async () => {
    const other = await api.seed.account();
    const values = ['01234', '00', '-01', '0', 0, 0.5, '00.5', 1234567890123456];
    for (const zip of values) await other.contact({ firstName: JSON.stringify(zip), customFields: { zip } });
    const by = async (zip: string, path = '/contacts') => {
      const { status, body } = await other.owner.get(`${path}?sort=createdAt&order=asc&cf[zip]=${zip}`);
      return [status, body.data?.data.map((contact: Loose) => JSON.parse(contact.firstName))];
    };
    for (const [asked, ...found] of [
      ['01234', '01234'],
      ['00', '00'],
      ['-01', '-01'],
      ['0', '0', 0],
      ['-0', 0],
      ['0.5', 0.5],
      ['00.5', '00.5'],
      ['007'],
    ]) {
      // biome-ignore format: one line
      expect([asked, await by(String(asked))]).toEqual([asked, [200, found]]);
    }
    expect((await other.owner.get('/contacts/export?cf[zip]=01234')).text.trim().split('\r\n')).toHaveLength(2);
    const { data } = await other.owner.gql('{ contacts(filter: { cf: { zip: "01234" } }) { totalCount } }');
    expect(data).toEqual({ contacts: { totalCount: 1 } });
  });
});

describe('several parameters of GET /contacts', () => {
  it('find from one moment to another, both included', async () => {
    const [grace, alan] = dataOf(await acme.owner.get('/contacts?sort=createdAt&order=asc')).data.slice(1);
    expect(await found(`created_from=${grace.createdAt}&created_to=${alan.createdAt}`)).toEqual(['Grace', 'Alan']);
  });

  it('find by company and by who looks after a contact', async () => {
    expect(await found(`company_id=${companyId}`)).toEqual(['Grace']);
    expect(await found(`assigned_to=${acme.ownerId}`)).toEqual(['Alan']);
    expect(await found(`assignedTo=${acme.ownerId.toUpperCase()}`)).toEqual(['Alan']);
  });

  it('find by a tree of conditions', async () => {
    const tree = (condition: object) => found(`filters=${encodeURIComponent(JSON.stringify(condition))}`);
    expect(await tree({ field: 'leadScore', op: 'gte', value: 80 })).toEqual(['Ada']);
    expect(
      await tree({
        or: [
          { field: 'firstName', value: 'Ada' },
          { field: 'email', op: 'contains', value: 'KURT' },
        ],
      }),
    ).toEqual(['Ada', 'Kurt']);
    expect(
      await tree({ and: [{ not: { field: 'company', op: 'is_null' } }, { field: 'masterStatus', op: 'in', value: ['customer'] }] }),
    ).toEqual(['Grace']);
    expect(await tree({ field: 'customFields.plan', op: 'starts_with', value: 'go' })).toEqual(['Alan']);
    expect(await tree({ field: 'createdAt', op: 'lt', value: from.grace })).toEqual(['Ada']);
  });

  it.each([
    ['sort=firstName&order=asc', ['Ada', 'Alan', 'Grace', 'Kurt']],
    ['sort=firstName&order=desc', ['Kurt', 'Grace', 'Alan', 'Ada']],
    ['sort=lastName&order=asc', ['Grace', 'Ada', 'Alan', 'Kurt']],
    ['sort=lastName&order=desc', ['Alan', 'Ada', 'Grace', 'Kurt']],
    ['sort=email&order=desc', ['Kurt', 'Ada', null, null]],
    ['sort=leadScore&order=desc', ['Ada', null, null, null]],
    ['sort=company', ['Grace', null, null, null]],
  ])('by %s answers %j, nulls last', async (query, names) => {
    const { data } = dataOf(await acme.owner.get(`/contacts?${query}`));
    expect(data.map((c: Loose, i: number) => names[i] && c.firstName)).toEqual(names);
  });
});

describe('conditions of GET /contacts', () => {
  it('find by the number in a custom field, as a number', async () => {
    const other = await api.seed.account();
    for (const seats of [9, 10, '11', 'many', null]) await other.contact({ firstName: `s${seats}`, customFields: { seats } });
    const names = async (op: string, value: unknown) => {
      const filters = encodeURIComponent(JSON.stringify({ field: 'customFields.seats', op, value }));
      return dataOf(await other.owner.get(`/contacts?sort=firstName&order=asc&filters=${filters}`)).data.map((c: Loose) => c.firstName);
    };
    expect(await names('gt', 9)).toEqual(['s10', 's11']);
    expect(await names('eq', 10)).toEqual(['s10']);
    expect(await names('eq', 'many')).toEqual(['smany']);
  });

  it('find by a day of the workspace, the whole of it', async () => {
    const other = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: other.id }, data: { timezone: 'Pacific/Auckland' } });
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' });
    const owner = await other.login();
    const { createdAt } = dataOf(await owner.post('/contacts', { firstName: 'Ada' }));
    const [today, tomorrow] = [day.format(new Date(createdAt)), day.format(new Date(Date.parse(createdAt) + 24 * 60 * 60 * 1000))];
    const total = async (op: string, value: string) => {
      const filters = encodeURIComponent(JSON.stringify({ field: 'createdAt', op, value }));
      return dataOf(await owner.get(`/contacts?filters=${filters}`)).meta.total;
    };
    for (const op of ['eq', 'gte', 'lte']) expect(`${op} ${await total(op, today)}`).toBe(`${op} 1`);
    for (const op of ['lt', 'gt', 'neq']) expect(`${op} ${await total(op, today)}`).toBe(`${op} 0`);
    expect(await total('lt', tomorrow)).toBe(1);
  });
});

describe('GET /contacts/smart-views', () => {
  it('describes every view and counts what it shows', async () => {
    const views = dataOf(await acme.owner.get('/contacts/smart-views'));
    for (const { key, name, description, count } of views) {
      expect([typeof name, typeof description]).toEqual(['string', 'string']);
      expect({ [key]: (await found(`smart_view=${key}`)).length }).toEqual({ [key]: count });
    }
    expect(views).toHaveLength(7);
    expect(views[0].description).toContain('nobody has closed the conversation since');
  });
});

describe('the day', () => {
  it('begins and ends at midnight of the workspace', async () => {
    const tokyo = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: tokyo.id }, data: { timezone: 'Asia/Tokyo' } });
    api.clock.set('2026-03-02T15:30:00Z');
    const owner = await tokyo.login();
    await owner.post('/contacts', { firstName: 'After midnight in Tokyo' });
    const count = async (query: string) => dataOf(await owner.get(`/contacts?${query}`)).meta.total;
    expect(await count('created_from=2026-03-03&created_to=2026-03-03')).toBe(1);
    expect(await count('created_to=2026-03-02')).toBe(0);
    api.clock.set('2026-03-08T14:59:00Z');
    expect(await count('smart_view=new_this_week')).toBe(1);
    api.clock.advance(2 * 60_000);
    expect(await count('smart_view=new_this_week')).toBe(0);
    api.clock.reset();
  });
});

describe('include=', () => {
  it('brings the linked company, the assigned user and the tags along, in one statement each', async () => {
    const page = async (query: string) => dataOf(await acme.owner.get(`/contacts?sort=createdAt&order=asc&${query}`)).data;
    const [ada, grace, alan] = await page('include=company,assignedUser,tags');
    expect(grace).toMatchObject({ company: 'Navy', companyRecord: { id: companyId, name: 'Navy', domain: null }, assignedUser: null });
    expect(alan).toMatchObject({ companyRecord: null, assignedUser: { id: acme.ownerId, email: acme.ownerEmail } });
    expect(ada.tags.map((tag: Loose) => tag.name)).toEqual(['VIP']);
    expect(await api.statements(() => page('include=company,assignedUser,tags'))).toBeLessThanOrEqual(3);
  });

  it('changes nothing else of the records, and none of them without it', async () => {
    const [plain] = dataOf(await acme.owner.get('/contacts?search=Grace')).data;
    const [{ companyRecord, ...rest }] = dataOf(await acme.owner.get('/contacts?search=Grace&include=company')).data;
    expect([companyRecord.name, rest]).toEqual(['Navy', plain]);
  });

  it('is part of the record: a key for contacts may ask for it', async () => {
    const key = await acme.key({ permission: 'read', scopes: ['contacts'] });
    expect(dataOf(await key.get('/contacts?search=Grace&include=company')).data[0].companyRecord.name).toBe('Navy');
  });
});

describe('a query that makes no sense', () => {
  it.each([
    ['smart_view=best', 'smart_view'],
    ['min_score=high', 'min_score'],
    ['assigned_to=me', 'assigned_to'],
    ['created_from=yesterday', 'created_from'],
    ['created_to=2026-02-30', 'created_to'],
    ['reachability=fax', 'reachability'],
    ['search=%00', 'search'],
    [`search=${'x'.repeat(201)}`, 'search'],
    ['tag=a&tag=b', 'tag'],
    ['filters=nonsense', 'filters'],
    ['filters={"field":"passwordHash","op":"eq","value":1}', 'filters.field'],
    ['filters={"field":"firstName","op":"like","value":"x"}', 'filters.op'],
    ['filters={"and":[]}', 'filters.and'],
    ['filters={"and":[{"field":"city","value":"a"}],"or":[{"field":"city","value":"b"}]}', 'filters'],
    ['filters={"field":"leadScore","operator":"gt","value":5}', 'filters.operator'],
    ['filters={"field":"leadScore","op":"gt","value":null}', 'filters.value'],
    ['filters={"field":"leadScore","op":"gt","value":";drop%20table%20contacts"}', 'filters.value'],
    ['cf[plan]=%00', 'cf[plan]'],
    ['cf=x', 'cf'],
    ['cf={"tier":{"toString":1}}', 'cf.tier'],
    ['cf={"tier":["gold"]}', 'cf.tier'],
    ['cf={"tier":null}', 'cf.tier'],
    ['include=password', 'include'],
  ])('%s answers 400 naming %s', async (query, field) => {
    expectRefusal(await acme.owner.get(`/contacts?${query}`), 400, field);
  });
});
