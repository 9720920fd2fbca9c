import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';

/** Variables that stand within a literal: one that is not given is as if its field were not there. */
let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const run = async (text: string, variables: Loose = {}): Promise<Loose> => {
  const { data, errors } = await acme.owner.gql(text, variables);
  expect(errors).toBeUndefined();
  return data;
};
const shown = async (path: string): Promise<Loose> => dataOf(await acme.owner.get(path));

describe('a variable that is not given within an object of the document', () => {
  it('leaves a record as it is', async () => {
    const { id } = await acme.contact({ firstName: 'A', jobTitle: 'boss', tags: ['vip'], city: 'Ulm', assignedTo: acme.ownerId });
    const text = `mutation ($id: ID!, $job: String, $tags: [String!], $a: AttributionInput) {
      updateContact(id: $id, input: { jobTitle: $job, tags: $tags, attribution: $a, city: "Bonn" }) { jobTitle tags { name } city } }`;
    expect(await run(text, { id })).toEqual({ updateContact: { jobTitle: 'boss', tags: [{ name: 'vip' }], city: 'Bonn' } });
    expect(await shown(`/contacts/${id}`)).toMatchObject({ jobTitle: 'boss', city: 'Bonn', assignedTo: acme.ownerId });
    expect(await run(text, { id, job: null })).toMatchObject({ updateContact: { jobTitle: null } });
  });

  it('leaves the rights of a key as they are', async () => {
    const { id } = dataOf(
      await acme.owner.post('/api-keys', { name: 'n', permission: 'read', scopes: ['contacts'], ipAllowlist: ['10.0.0.0/8'] }),
    );
    const text = `mutation ($id: ID!, $name: String, $scopes: [ApiKeyScope!], $ips: [String!]) {
      updateApiKey(id: $id, input: { name: $name, scopes: $scopes, ipAllowlist: $ips }) { name scopes ipAllowlist } }`;
    expect(await run(text, { id, name: 'renamed' })).toEqual({
      updateApiKey: { name: 'renamed', scopes: ['contacts'], ipAllowlist: ['10.0.0.0/8'] },
    });
  });

  it('may stand for a field that cannot be null, or that many records are changed by', async () => {
    const deal = await acme.deal({ title: 'kept', value: 10 });
    const text = `mutation ($id: ID!, $title: String, $stage: ID, $value: Decimal) {
      updateDeal(id: $id, input: { title: $title, stageId: $stage, value: $value }) { title value stageId } }`;
    expect(await run(text, { id: deal.id })).toEqual({ updateDeal: { title: 'kept', value: 10, stageId: deal.stageId } });
    const { id } = await acme.contact({ firstName: 'B', assignedTo: acme.ownerId });
    await run(
      `mutation ($ids: [ID!], $city: String, $user: ID) {
        bulkEditContacts(input: { ids: $ids, changes: { city: $city, assignedTo: $user } }) { succeeded } }`,
      { ids: [id], city: 'Kiel' },
    );
    expect(await shown(`/contacts/${id}`)).toMatchObject({ city: 'Kiel', assignedTo: acme.ownerId });
  });

  it('is no condition, whoever answers: the database or the resolvers', async () => {
    const deal = await acme.deal({ value: 7 });
    const where = 'where: { value: { gte: $x, lte: 1000 } }';
    const { deals, dealAggregate } = await run(`query ($x: Decimal) { deals(${where}) { totalCount } dealAggregate(${where}) { count } }`);
    expect(dealAggregate).toEqual([{ count: deals.totalCount }]);
    const text = `mutation ($id: ID!, $x: Decimal) { updateDeal(id: $id, input: { title: "Seven" }) { pipeline { deals(${where}) { totalCount } } } }`;
    expect((await run(text, { id: deal.id })).updateDeal.pipeline.deals.totalCount).toBeGreaterThan(0);
    expect((await run(text, { id: deal.id, x: 1000 })).updateDeal.pipeline.deals.totalCount).toBe(0);
  });
});

describe('an amount with an exponent', () => {
  it('may be written in the document', async () => {
    const { id } = await acme.deal();
    const text = 'mutation ($id: ID!) { updateDeal(id: $id, input: { value: 1.5e3 }) { value } }';
    expect(await run(text, { id })).toEqual({ updateDeal: { value: 1500 } });
  });

  it.each(['1e3', '1.5E2', '-0e1', '25e-1', '1e-30', '9007199254740993e-2', '1e17'])(
    'is %s in the document as in a variable',
    async (number) => {
      const { id } = await acme.deal();
      const [ofDocument, ofVariable] = [
        await acme.owner.gql(`mutation ($id: ID!) { updateDeal(id: $id, input: { value: ${number} }) { valueExact } }`, { id }),
        await acme.owner.gql('mutation ($id: ID!, $value: Decimal) { updateDeal(id: $id, input: { value: $value }) { valueExact } }', {
          ...{ id, value: Number(number) },
        }),
      ];
      expect(ofDocument.data).toEqual(ofVariable.data);
      expect(ofDocument.errors?.map(({ extensions }) => extensions.details)).toEqual(
        ofVariable.errors?.map(({ extensions }) => extensions.details),
      );
    },
  );

  it('is refused where it is more than a number of JSON tells, and as a text it is taken', async () => {
    const { id } = await acme.deal();
    const change = (value: string) => acme.owner.gql(`mutation { updateDeal(id: "${id}", input: { value: ${value} }) { valueExact } }`);
    for (const value of ['9007199254740993e-2', '1e400']) expectGraphQLRefusal(await change(value), 400, 'value');
    expect((await change('"90071992547409.93"')).data).toEqual({ updateDeal: { valueExact: '90071992547409.93' } });
  });
});

describe('a variable within JSON of the document', () => {
  it('is part of it, with its default', async () => {
    const text = `mutation ($v: String, $n: Int = 3, $none: String) { createContact(input: { firstName: "J",
      customFields: { a: $v, b: "lit", list: [$v, 1], deep: { n: $n, none: $none } } }) { customFields } }`;
    expect((await run(text, { v: 'vv' })).createContact.customFields).toEqual({ a: 'vv', b: 'lit', list: ['vv', 1], deep: { n: 3 } });
  });

  it('keeps those out of a change of many whom it excludes', async () => {
    const [ann, bob] = [await acme.contact({ firstName: 'Ann', city: 'X' }), await acme.contact({ firstName: 'Bob', city: 'X' })];
    const text = `mutation ($not: JSON) { bulkEditContacts(input: {
      filters: { and: [{ field: "city", op: "eq", value: "X" }, { not: $not }] }, changes: { city: "Y" } }) { total succeeded } }`;
    expect(await run(text, { not: { field: 'firstName', op: 'eq', value: 'Bob' } })).toEqual({
      bulkEditContacts: { total: 1, succeeded: 1 },
    });
    expect([(await shown(`/contacts/${ann.id}`)).city, (await shown(`/contacts/${bob.id}`)).city]).toEqual(['Y', 'X']);
  });
});

describe('a member that would be the prototype of an object', () => {
  const make = (values: string) =>
    `mutation ($v: JSON) { createContact(input: { firstName: "J", customFields: ${values} }) { customFields } }`;
  const v = { prototype: { admin: true } };
  const refusal = async (text: string) => (await acme.owner.gql(text, { v })).errors![0]!;

  it.each(['{ constructor: $v }', '{ a: [{ constructor: $v }] }', '{ a: $v, constructor: { prototype: 1 } }'])(
    'is made neither by a variable within JSON nor by the JSON: %s',
    async (values) => {
      const { message, extensions } = await refusal(make(values));
      expect(message).toBe('customFields must not have a member called __proto__, or a constructor with a prototype');
      expect(extensions).toMatchObject({ code: 'invalid_request', field: 'customFields' });
    },
  );

  it('is refused in the document, its default values included', async () => {
    const poison = '{ a: [{ __proto__: { admin: true } }] }';
    const byDefault = `query ($v: JSON = ${poison}) { contacts(where: { customFields: { a: { eq: $v } } }) { totalCount } }`;
    for (const text of [make(poison), byDefault]) {
      const { message, extensions } = await refusal(text);
      expect([message, extensions.code]).toEqual(['The document has a member called __proto__', 'invalid_request']);
    }
  });

  it('is none under another name', async () => {
    expect(await run(make('{ of: $v, constructor: { name: "Kahn" } }'), { v })).toEqual({
      createContact: { customFields: { of: v, constructor: { name: 'Kahn' } } },
    });
  });
});
