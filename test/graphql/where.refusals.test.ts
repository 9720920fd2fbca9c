import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { id: companyId } = await acme.company({ name: 'Engines' });
  await acme.contact({ firstName: 'Ada', companyId, assignedTo: acme.ownerId, tags: ['VIP'] });
});
afterAll(() => api.close());

describe('a key may ask where as it may select', () => {
  const ask = async (scopes: string[], where: object) => {
    const key = await acme.key({ scopes });
    return key.gql('query ($w: ContactWhere) { contacts(where: $w) { totalCount } }', { w: where });
  };

  it.each([
    ['companies', { companyRecord: { name: { eq: 'Engines' } } }],
    ['companies', { not: { and: [{ companyRecord: {} }] } }],
    ['deals', { deals: { none: {} } }],
    ['tags', { tags: { some: { color: { eq: '#000000' } } } }],
    ['users', { assignedUser: { email: { starts_with: 'a' } } }],
  ])('without %s: %j is refused', async (scope, where) => {
    const refused = await ask(['contacts'], where);
    expectGraphQLRefusal(refused, 403);
    expect(refused.errors![0].message).toContain(scope);
    expect((await ask(['contacts', scope], where)).errors).toBeUndefined();
  });

  it('what comes along with the record needs no more', async () => {
    for (const where of [
      { tags: { some: { name: { eq: 'VIP' } } } },
      { tags: { in: ['vip'] } },
      { assignedUser: { name: { is_empty: false } } },
    ])
      expect((await ask(['contacts'], where)).data.contacts.totalCount).toBe(1);
  });

  it('the JSON of filters asks the same of it', async () => {
    const key = await acme.key({ scopes: ['contacts'] });
    const filters = { field: 'companyRecord', op: 'is', value: { field: 'name', value: 'Engines' } };
    const path = `/contacts?filters=${encodeURIComponent(JSON.stringify(filters))}`;
    expect((await key.get(path)).status).toBe(403);
    expect(dataOf(await acme.owner.get(path)).data.map((row: Loose) => row.firstName)).toEqual(['Ada']);
  });
});

describe('a condition that is wrong is refused by its place', () => {
  const deep = (levels: number): object => (levels === 0 ? { firstName: { eq: 'x' } } : { not: deep(levels - 1) });
  const far = (steps: number): object => (steps === 0 ? {} : { companyRecord: { contacts: { some: far(steps - 1) } } });
  const many = (count: number) => Array.from({ length: count }, () => ({ firstName: { eq: 'x' } }));
  it.each<[string, object]>([
    ['where.leadScore.between', { leadScore: { between: [1] } }],
    ['where.and[1].createdAt.gte', { and: [{}, { createdAt: { gte: 'soon' } }] }],
    ['where.and', { and: [] }],
    ['where.firstName', { firstName: {} }],
    ['where.firstName', { firstName: null }],
    ['where.firstName.contains', { firstName: { contains: null } }],
    ['where.companyId.in[1]', { companyId: { in: [null, 'x'] } }],
    ['where.companyId.in', { companyId: { in: Array.from({ length: 201 }, () => null) } }],
    ['where.firstName.eq', { firstName: { eq: 'a\0b' } }],
    ['where.customFields.tier', { customFields: { tier: 'gold' } }],
    ['where.customFields.tier.like', { customFields: { tier: { like: 'gold' } } }],
    ['where.customFields', { customFields: { 'a\0b': { eq: 1 } } }],
    ['where.deals', { deals: {} }],
    ['where.leadScore.gte', { leadScore: { gte: -2147483648 } }],
    ['where.not.not.not.not.not.not.not.not.not.not.not.not.not.not.not.not.not', deep(40)],
    ['where.or[200].firstName.eq', { or: many(201) }],
    ['where.or[200].firstName.eq', { or: many(10_000) }],
    ['where.or[200]', { or: Array.from({ length: 10_000 }, () => ({})) }],
    ['where.companyRecord.contacts.some.companyRecord.contacts.some.companyRecord', far(3)],
  ])('%s', async (place, where) => {
    expectGraphQLRefusal(await acme.owner.gql('query ($w: ContactWhere) { contacts(where: $w) { totalCount } }', { w: where }), 400, place);
  });

  it('of the wrong type, by the name of the variable', async () => {
    const ask = (where: object) => acme.owner.gql('query ($where: ContactWhere) { contacts(where: $where) { totalCount } }', { where });
    expectGraphQLRefusal(await ask({ and: [{}, { leadScore: { gte: 'many' } }] }), 400, 'where.and[1].leadScore.gte');
    expectGraphQLRefusal(await ask({ leadScore: { contains: 'x' } }), 400, 'where.leadScore.contains');
    expectGraphQLRefusal(await ask({ nothing: { eq: 'x' } }), 400, 'where.nothing');
  });

  it.each([
    ['where.leadScore.contains', 'where: {leadScore: {contains: "x"}}'],
    ['where.and[1].leadScore.gte', 'where: {and: [{}, {leadScore: {gte: "many"}}]}'],
    ['where.masterStatus.gte', 'where: {masterStatus: {gte: lead}}'],
    ['where.nothing', 'where: {nothing: {eq: "x"}}'],
    ['minScore', 'filter: {minScore: "many"}'],
    ['orderBy[1].phone', 'orderBy: [{lastName: asc}, {phone: asc}]'],
    ['first', 'first: "many"'],
  ])('%s: %s, in the document, also below a record', async (field, args) => {
    expectGraphQLRefusal(await acme.owner.gql(`{ contacts(${args}) { totalCount } }`), 400, field);
    expectGraphQLRefusal(await acme.owner.gql(`{ companies { nodes { contacts(${args}) { totalCount } } } }`), 400, field);
  });

  it('of the JSON of filters too', async () => {
    const refused = async (filters: object, place: string) => {
      const reply = await acme.owner.get(`/contacts?filters=${encodeURIComponent(JSON.stringify(filters))}`);
      expect([reply.status, reply.body.details[0].field]).toEqual([400, place]);
    };
    await refused({ field: 'leadScore', op: 'contains', value: '1' }, 'filters.op');
    await refused({ field: 'deals', op: 'is', value: {} }, 'filters.op');
    await refused({ field: 'deals', op: 'some', value: { field: 'nothing' } }, 'filters.value.field');
    await refused({ field: 'deals', op: 'some', value: { field: 'value', op: 'between', value: [1, 'x'] } }, 'filters.value.value.1');
    await refused({ field: 'leadScore', op: 'is_empty', value: 'yes' }, 'filters.value');
  });
});

it.each(['and', 'or'])('a list without a condition is refused as one: %s', async (group) => {
  const told = (place: string) => [{ field: place, code: 'too_few', message: 'must hold at least one condition' }];
  const { errors } = await acme.owner.gql(`{ contacts(where: {${group}: []}) { totalCount } }`);
  expect(errors![0].extensions.details).toEqual(told(`where.${group}`));
  const { body } = await acme.owner.get(`/contacts?filters=${encodeURIComponent(JSON.stringify({ [group]: [] }))}`);
  expect(body.details).toEqual(told(`filters.${group}`));
});
