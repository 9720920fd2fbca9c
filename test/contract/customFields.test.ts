import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let n = 0;
const create = (body: object) => acme.owner.post('/custom-fields', body);
/** A field of contacts with a key of its own. */
const field = async (fields: Record<string, unknown> = {}): Promise<Loose> =>
  dataOf(await create({ entityType: 'contact', fieldKey: `key${++n}`, label: 'Key', fieldType: 'text', ...fields }));

describe('POST /custom-fields', () => {
  it('keeps every field as it was sent, and fills in the defaults', async () => {
    const definition = {
      ...{ entityType: 'contact', fieldKey: 'Tier_1-a', label: 'l'.repeat(200), fieldType: 'select', section: 's'.repeat(120) },
      ...{
        options: { choices: ['gold', { value: 'silver', label: 'Silver' }], hint: 'kept', toString: '', constructor: 1 },
        isRequired: false,
        sortOrder: 100_000,
      },
    };
    const reply = await create(definition);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject(definition);
    expect(await field()).toMatchObject({ section: null, options: null, isRequired: false, sortOrder: 0 });
    expect((await field({ sortOrder: 1.00004 })).sortOrder).toBe(1);
  });

  it('answers 422 for what a field cannot hold, naming it', async () => {
    const good = { entityType: 'contact', fieldKey: 'fresh', label: 'Fresh', fieldType: 'text' };
    const bad: [string, unknown[]][] = [
      ['entityType', ['person', '', null, undefined]],
      ['fieldKey', ['', null, undefined, '1st', 'a b', 'a.b', 'ä', 'k'.repeat(65)]],
      ['label', ['', null, undefined, 'l'.repeat(201)]],
      ['fieldType', ['money', '', null, undefined]],
      ['section', ['s'.repeat(121), 5]],
      ['options', ['choices', [1]]],
      ['isRequired', ['yes']],
      ['sortOrder', [-1, 100_001, 'first']],
    ];
    await expectNothingWritten(api, async () => {
      for (const [name, values] of bad) for (const value of values) expectRefusal(await create({ ...good, [name]: value }), 422, name);
    });
  });
});

describe('the options of a custom field', () => {
  it('are those of its type and none of another', async () => {
    const taken: [string, object][] = [
      ['number', { numberFormat: 'currency', currencyCode: 'EUR' }],
      ['url', { allowedDomains: ['example.com'], blockedDomains: [] }],
      ['email', { blockedDomains: ['spam.example'] }],
      ['radio', { choices: ['a'] }],
      ['multiselect', { choices: ['a', 'b'] }],
      ['text', {}],
    ];
    for (const [fieldType, options] of taken) expect((await field({ fieldType, options })).options).toEqual(options);
    const refused: [string, unknown, string][] = [
      ['select', null, 'options.choices'],
      ['select', {}, 'options.choices'],
      ['select', { choices: [] }, 'options.choices'],
      ['select', { choices: 'a' }, 'options.choices'],
      ['radio', { choices: ['a', { value: 'a' }] }, 'options.choices'],
      ['multiselect', { choices: [1] }, 'options.choices'],
      ['number', { choices: ['a'] }, 'options.choices'],
      ['text', { currencyCode: 'EUR' }, 'options.currencyCode'],
      ['number', { currencyCode: 'euro' }, 'options.currencyCode'],
      ['email', { allowedDomains: ['not a domain'] }, 'options.allowedDomains'],
      ['url', { blockedDomains: 'example.com' }, 'options.blockedDomains'],
    ];
    for (const [fieldType, options, at] of refused) {
      expectRefusal(await create({ entityType: 'contact', fieldKey: `key${++n}`, label: 'Key', fieldType, options }), 422, at);
    }
  });
});

describe('the key of a custom field', () => {
  it('is given once for the records of a kind', async () => {
    const { fieldKey } = await field();
    expectRefusal(await create({ entityType: 'contact', fieldKey, label: 'Again', fieldType: 'number' }), 422, 'fieldKey');
    expect((await field({ entityType: 'deal', fieldKey })).fieldKey).toBe(fieldKey);
  });
});

describe('GET /custom-fields', () => {
  it('lists them by the records that carry them and in their order, in the flat shape with camelCase figures', async () => {
    const home = await api.seed.account();
    const make = (entityType: string, fieldKey: string, sortOrder: number) =>
      home.owner.post('/custom-fields', { entityType, fieldKey, label: fieldKey, fieldType: 'text', sortOrder });
    for (const [type, key, order] of [
      ['deal', 'd', 1],
      ['contact', 'b', 10],
      ['contact', 'a', 9.5],
      ['company', 'c', 3],
    ] as const) {
      dataOf(await make(type, key, order));
    }
    const list = async (query: string) => (await home.owner.get(`/custom-fields?${query}`)).body;
    const keys = (body: Loose) => body.data.map((definition: Loose) => definition.fieldKey);
    const all = await list('');
    expect(keys(all)).toEqual(['c', 'a', 'b', 'd']);
    expect(all.meta).toEqual({ page: 1, perPage: 50, total: 4, totalPages: 1, next_cursor: null });
    expect(keys(await list('entityType=contact'))).toEqual(['a', 'b']);
    expect(keys(await list('per_page=2&page=2'))).toEqual(['b', 'd']);
    const { meta } = await list('per_page=3');
    expect(keys(await list(`cursor=${meta.next_cursor}`))).toEqual(['d']);
    expectRefusal(await home.owner.get('/custom-fields?entityType=task'), 400, 'entityType');
    expect(await api.statements(() => list('entityType=contact'))).toBe(1);
  });
});

describe('PATCH /custom-fields/{id}', () => {
  const patch = (id: string, body: object) => acme.owner.patch(`/custom-fields/${id}`, body);

  it('changes label, section, options, order and whether it is required', async () => {
    const before = await field({ fieldType: 'select', options: { choices: ['a'] } });
    const body = { label: 'Renamed', section: 'Sales', options: { choices: ['a', 'b'] }, isRequired: true, sortOrder: 5 };
    const after = dataOf(await patch(before.id, body));
    expect(after).toEqual({ ...before, ...body, updatedAt: after.updatedAt });
    await expectNothingWritten(api, async () => expect(dataOf(await patch(before.id, body))).toEqual(after));
    expectRefusal(await patch(before.id, { options: null }), 422, 'options.choices');
    dataOf(await acme.owner.del(`/custom-fields/${before.id}`));
    const log = await api.app.database.prisma.activity.findMany({ where: { entityId: before.id }, orderBy: { id: 'asc' } });
    expect(log.map(({ title }) => title)).toEqual(['Custom field created', 'Custom field updated', 'Custom field deleted']);
    expect(log[1]!.changes).toMatchObject({ label: { from: 'Key', to: 'Renamed' }, isRequired: { from: false, to: true } });
  });

  it('changes the type while there is no data, and refuses it afterwards', async () => {
    const { id, fieldKey } = await field({ fieldType: 'select', options: { choices: ['5'] } });
    expect(dataOf(await patch(id, { fieldType: 'text' }))).toMatchObject({ fieldType: 'text', options: null });
    const contact = await acme.contact({ firstName: 'Ada', customFields: { [fieldKey]: '5' } });
    await expectNothingWritten(api, async () => {
      for (const [name, value] of [
        ['fieldType', 'number'],
        ['fieldKey', 'other'],
        ['entityType', 'deal'],
      ] as const) {
        expectRefusal(await patch(id, { [name]: value }), 422, name);
      }
    });
    expect(dataOf(await patch(id, { fieldType: 'text', label: 'Five' })).label).toBe('Five');
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: null } }));
    expect(dataOf(await patch(id, { fieldType: 'number', fieldKey: `${fieldKey}b` }))).toMatchObject({
      fieldType: 'number',
      fieldKey: `${fieldKey}b`,
    });
  });

  it('lets a record be sent back as it was read, where a choice is gone since', async () => {
    const tier = await field({ fieldKey: 'tier_that_goes', fieldType: 'select', options: { choices: ['gold', 'silver'] } });
    const of = (value: string) => ({ customFields: { [tier.fieldKey]: value } });
    const { id } = dataOf(await acme.owner.post('/contacts', { firstName: 'Ann', ...of('gold') }));
    dataOf(await acme.owner.patch(`/custom-fields/${tier.id}`, { options: { choices: ['silver'] } }));
    expect(dataOf(await acme.owner.patch(`/contacts/${id}`, { jobTitle: 'CTO', ...of('gold') }))).toMatchObject({
      jobTitle: 'CTO',
      ...of('gold'),
    });
    dataOf(await acme.owner.patch(`/contacts/${id}`, of('silver')));
    expectRefusal(await acme.owner.patch(`/contacts/${id}`, of('gold')), 400, `customFields.${tier.fieldKey}`);
  });

  it('is for owners and admins, as creation and deletion are', async () => {
    const { id } = await field();
    const member = await acme.member();
    expectRefusal(await member.patch(`/custom-fields/${id}`, { label: 'x' }), 403);
    expectRefusal(await member.post('/custom-fields', {}), 403);
    expectRefusal(await member.del(`/custom-fields/${id}`), 403);
    expect((await member.get('/custom-fields')).status).toBe(200);
    const admin = await acme.member('admin');
    expect((await admin.patch(`/custom-fields/${id}`, { label: 'x' })).status).toBe(200);
  });
});

describe('a custom field that becomes one of another type', () => {
  const patch = (id: string, body: object) => acme.owner.patch(`/custom-fields/${id}`, body);

  it('keeps the options that the new type has too, unless others are sent, and leaves out those of the old one', async () => {
    const choices = { choices: ['gold', 'silver'] };
    const { id: choice } = await field({ fieldType: 'select', options: { ...choices, hint: 'kept' } });
    for (const fieldType of ['radio', 'multiselect', 'select']) {
      expect(dataOf(await patch(choice, { fieldType }))).toMatchObject({ fieldType, options: { ...choices, hint: 'kept' } });
    }
    expectRefusal(await patch(choice, { fieldType: 'radio', options: null }), 422, 'options.choices');
    expect(dataOf(await patch(choice, { fieldType: 'text' })).options).toEqual({ hint: 'kept' });
    expectRefusal(await patch(choice, { fieldType: 'radio' }), 422, 'options.choices');
  });

  it('keeps its domains from url to email, and checks values by them', async () => {
    const domains = { allowedDomains: ['example.com'] };
    const { id: address, fieldKey } = await field({ fieldType: 'url', options: domains });
    expect(dataOf(await patch(address, { fieldType: 'email' }))).toMatchObject({ fieldType: 'email', options: domains });
    const of = (value: string) => ({ firstName: 'Ann', customFields: { [fieldKey]: value } });
    expectRefusal(await acme.owner.post('/contacts', of('ann@example.org')), 400, `customFields.${fieldKey}`);
    expect(dataOf(await patch(address, { fieldType: 'url', options: { blockedDomains: ['example.org'] } })).options).toEqual({
      blockedDomains: ['example.org'],
    });
    expect(dataOf(await patch(address, { fieldType: 'number' })).options).toBeNull();
  });
});
