import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isEnumType, isObjectType, isScalarType } from 'graphql';
import { contract } from '../../src/app.js';
import { codeMeanings } from '../../src/kernel/base/errorMeanings.js';
import { isRenamed } from '../../src/kernel/model/enums.js';
import { type Account, dataOf, expectGraphQLRefusal, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

const { schema, openapi } = contract();

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

async function ask(document: string, variables?: Record<string, unknown>): Promise<Loose> {
  const { data, errors } = await acme.owner.gql(document, variables);
  expect(errors).toBeUndefined();
  return data;
}

describe('an amount', () => {
  const large = '1234567890123456.78';

  it('is a number, and beside it text that holds what a number cannot', async () => {
    const pipeline = await acme.pipeline();
    const input = { title: 'Large', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, value: large };
    const made = await ask('mutation ($input: CreateDealInput!) { createDeal(input: $input) { id value valueExact } }', { input });
    expect(made.createDeal).toMatchObject({ value: Number(large), valueExact: large });
    await acme.deal({ pipeline, value: 0.2 });
    const {
      deal,
      deals,
      pipeline: figures,
    } = await ask(`{
      deal(id: "${made.createDeal.id}") { valueExact }
      deals(filter: { pipelineId: "${pipeline.id}" }) { nodes { valueExact } summary { totalValue totalValueExact } }
      pipeline(id: "${pipeline.id}") { statistics { totalValueExact byStage { totalValueExact } } stages { statistics { totalValueExact } } } }`);
    expect(deal).toEqual({ valueExact: large });
    expect(deals.nodes.map((node: Loose) => node.valueExact)).toEqual([large, '0.2']);
    expect(deals.summary).toEqual({ totalValue: 1234567890123457, totalValueExact: '1234567890123456.98' });
    expect(figures.statistics.totalValueExact).toBe('1234567890123456.98');
    expect(figures.stages[0].statistics.totalValueExact).toBe('1234567890123456.98');
    expect((await acme.owner.get(`/deals/${made.createDeal.id}`)).text).not.toContain('Exact');
  });

  it('that is a sum over records has both forms', async () => {
    const company = await acme.company();
    await acme.deal({ companyId: company.id, value: large });
    await acme.deal({ companyId: company.id, value: 0.2 });
    const asked = '{ totalDealValue totalDealValueExact }';
    const one = await ask(`{ company(id: "${company.id}") ${asked} }`);
    const sum = { totalDealValue: 1234567890123457, totalDealValueExact: '1234567890123456.98' };
    expect(one.company).toEqual(sum);
    // Beside what is no column the fields are resolved one by one.
    const resolved = await ask(`mutation { updateCompany(id: "${company.id}", input: { name: "Summed" }) ${asked} }`);
    expect(resolved.updateCompany).toEqual(sum);
  });

  it('that is not there is null in both forms', async () => {
    const { id } = await acme.deal();
    expect((await ask(`{ deal(id: "${id}") { value valueExact } }`)).deal).toEqual({ value: null, valueExact: null });
  });

  it('is exact on an invoice too', async () => {
    const { id } = await acme.invoice({ taxRate: 0.1 });
    const { invoice } = await ask(`{ invoice(id: "${id}") { subtotalExact taxAmountExact totalExact items { amountExact } } }`);
    expect(invoice).toEqual({
      ...{ subtotalExact: '120', taxAmountExact: '12', totalExact: '132' },
      items: [{ amountExact: '100' }, { amountExact: '20' }],
    });
  });
});

describe('a type', () => {
  it('of the API’s own scalars says where it is described', () => {
    const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && /^[A-Z]\w+[a-z]$/.test(type.name));
    const silent = own.filter((type) => isScalarType(type) && !type.specifiedByURL && !/^(String|Int|Float|Boolean)$/.test(type.name));
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['DateTime', 'DateOrDateTime', 'LocalDate', 'Decimal']));
  });

  it('is an enumeration where there are few words', () => {
    const typeOf = (type: string, field: string) => {
      const parent = schema.getType(type);
      return isObjectType(parent) ? String(parent.getFields()[field]!.type) : undefined;
    };
    expect(typeOf('SendResult', 'status')).toBe('SendOutcome!');
    expect(typeOf('EnrollDetail', 'reason')).toBe('EnrollSkip');
    expect(typeOf('Activity', 'action')).toBe('ActivityAction');
    expect(typeOf('BulkResult', 'code')).toBe('ErrorCode');
    expect(typeOf('User', 'role')).toBe('Role!');
    expect(typeOf('Workspace', 'plan')).toBe('Plan!');
    expect(typeOf('ApiKey', 'permission')).toBe('ApiKeyPermission!');
    expect(typeOf('ApiKey', 'scopes')).toBe('[ApiKeyScope!]');
    expect(typeOf('BillingStatus', 'billingStatus')).toBe('BillingState!');
    const renamed = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && isRenamed(type));
    expect(renamed.map(({ name }) => name).sort()).toEqual(['ApiKeyPermission', 'ApiKeyScope']);
  });

  it('of a date in a filter takes a day or a date-time, and names what is neither', async () => {
    await acme.contact();
    for (const createdFrom of ['2020-01-01', '2020-01-01T10:00:00+02:00']) {
      expect((await ask(`{ contacts(filter: { createdFrom: "${createdFrom}" }) { totalCount } }`)).contacts.totalCount).toBeGreaterThan(0);
    }
    const list = 'query ($from: DateOrDateTime) { contacts(filter: { createdFrom: $from }) { totalCount } }';
    expectGraphQLRefusal(await acme.owner.gql(list, { from: 'yesterday' }), 400, 'createdFrom');
    expectGraphQLRefusal(await acme.owner.gql('{ contacts(filter: { createdFrom: "yesterday" }) { totalCount } }'), 400, 'createdFrom');
  });
});

describe('"" for nothing', () => {
  it('is taken of days, moments and amounts, as a variable and in the document', async () => {
    const filled = { expectedCloseDate: '2030-05-01', appointmentAt: '2030-05-01T10:00:00.000Z', value: 5 };
    const fields = 'expectedCloseDate appointmentAt value';
    const byVariable = `mutation ($id: ID!, $input: UpdateDealInput!) { updateDeal(id: $id, input: $input) { ${fields} } }`;
    const inDocument = `mutation ($id: ID!) { updateDeal(id: $id, input: { expectedCloseDate: "", appointmentAt: "", value: "" }) { ${fields} } }`;
    for (const [text, input] of [
      [byVariable, { expectedCloseDate: '', appointmentAt: '', value: '' }],
      [inDocument, undefined],
    ] as const) {
      const { id } = await acme.deal(filled);
      expect((await ask(text, { id, input })).updateDeal).toEqual({ expectedCloseDate: null, appointmentAt: null, value: null });
    }
  });
});

describe('a word that GraphQL cannot write', () => {
  const create = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id permission scopes } } }';

  it('has a hyphen in REST and an underscore in GraphQL', async () => {
    const input = { name: 'mine', permission: 'read_write', scopes: ['custom_fields', 'contacts'] };
    const { apiKey } = (await ask(create, { input })).createApiKey;
    expect(apiKey).toMatchObject({ permission: 'read_write', scopes: ['custom_fields', 'contacts'] });
    const read = dataOf(await acme.owner.get(`/api-keys/${apiKey.id}`));
    expect(read).toMatchObject({ permission: 'read-write', scopes: ['custom-fields', 'contacts'] });
    const [first] = dataOf(await acme.owner.get('/api-keys')).data;
    expect(first).toMatchObject({ permission: 'read-write', scopes: ['custom-fields', 'contacts'] });
    const patched = await acme.owner.patch(`/api-keys/${apiKey.id}`, { permission: 'write', scopes: ['custom-fields'] });
    expect(dataOf(patched)).toMatchObject({ permission: 'read-write', scopes: ['custom-fields'] });
    expect((await ask(`{ apiKey(id: "${apiKey.id}") { permission } }`)).apiKey.permission).toBe('read_write');
  });

  it('is taken by each API in its own form alone, and told so', async () => {
    const reply = await acme.owner.post('/api-keys', { name: 'mine', permission: 'read_write', scopes: ['custom_fields'] });
    expectRefusal(reply, 400, 'permission');
    expect(reply.body.error).toContain('permission must be one of read, read-write, admin; scopes.0 must be one of activities,');
    expect(reply.body.details[0]).toMatchObject({ code: 'not_allowed', options: ['read', 'read-write', 'admin'] });
    const { errors } = await acme.owner.gql(create, { input: { name: 'mine', permission: 'read-write' } });
    expect(errors![0].extensions.details[0]).toMatchObject({ field: 'permission', options: ['read', 'read_write', 'admin'] });
  });
});

describe('an enumeration', () => {
  const values = Object.values(schema.getTypeMap())
    .filter(isEnumType)
    .flatMap((type) => type.getValues().map(({ name, description }) => ({ at: `${type.name}.${name}`, description })));

  it('says of each of its values what it means', () => {
    expect(values.length).toBeGreaterThan(900);
    expect(values.filter(({ description }) => !description?.trim()).map(({ at }) => at)).toEqual([]);
  });

  it('says of a sort key what the field of its name is', () => {
    const meaningOf = (at: string) => values.find((value) => value.at === at)?.description;
    expect(meaningOf('DealSort.expectedCloseDate')).toBe(meaningOf('DealGroupField.expectedCloseDate'));
    expect(meaningOf('DealSort.expectedCloseDate')).toMatch(/expected|close/i);
    expect(meaningOf('EventKind.deal_won')).toBe('The event deal.won, of records of the type Deal');
    expect(meaningOf('ErrorCode.not_found')).toBe('There is nothing of this id or address that the caller may see (status 404)');
  });

  it('says of each code of an error something of its own, and the OpenAPI document says the same', () => {
    const told = values.filter(({ at }) => at.startsWith('ErrorCode.')).map(({ description }) => description);
    expect(told.length).toBeGreaterThan(40);
    expect(new Set(told).size).toBe(told.length);
    const { description } = (openapi as Loose).components.schemas.Error.properties.code;
    for (const [code, meaning] of Object.entries(codeMeanings)) {
      expect(told).toContainEqual(expect.stringMatching(new RegExp(`^${meaning.replace(/[()]/g, '.')} .status \\d{3}.$`)));
      expect(description).toContain(`${code}: ${meaning}`);
    }
  });
});
