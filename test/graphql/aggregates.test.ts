import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, type GraphQLEnumType, type GraphQLInputObjectType, type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { type Account, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const query = schema.getQueryType()!.getFields();
const aggregates = Object.values(query).filter(({ name }) => name.endsWith('Aggregate'));

let api: TestServer;
let acme: Account;
let stages: Loose[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'America/New_York' } });
  const pipeline = await acme.pipeline();
  stages = pipeline.stages;
  const contact = await acme.contact({ firstName: 'Ada' });
  const deal = (title: string, more: object) => acme.deal({ pipeline, title, ...more });
  await deal('a', {
    status: 'won',
    value: '0.1',
    currency: 'EUR',
    stageId: stages[0].id,
    contactId: contact.id,
    expectedCloseDate: '2026-02-28',
  });
  await deal('b', { status: 'won', value: '0.2', currency: 'EUR', stageId: stages[0].id, expectedCloseDate: '2026-03-01' });
  await deal('c', {
    status: 'open',
    value: '1234567890123456.78',
    stageId: stages[1].id,
    probability: 0.5,
    expectedCloseDate: '2026-03-02',
  });
  await deal('d', { status: 'open', stageId: stages[1].id, probability: 0.25 });
  const gone = await deal('e', { status: 'open', value: 5, stageId: stages[1].id });
  await acme.owner.del(`/deals/${gone.id}`);
  // On the last evening of a year in New York it is the next year in Greenwich.
  const { deal: deals } = api.app.database.prisma;
  const made = { a: '2026-01-01T03:00:00Z', b: '2026-01-01T12:00:00Z', c: '2026-01-04T12:00:00Z', d: '2026-01-05T12:00:00Z' };
  for (const [title, createdAt] of Object.entries(made)) await deals.updateMany({ where: { title }, data: { createdAt } });
});
afterAll(() => api.close());

async function answer(args: string, selection: string, client = acme.owner): Promise<Loose[]> {
  const { data, errors } = await client.gql(`{ dealAggregate${args} { ${selection} } }`);
  expect(errors).toBeUndefined();
  return data.dealAggregate;
}

/** All that is to be known of a group, but the records that its key leads to. */
function figuresOf(name: string): string {
  const type = getNamedType(query[name]!.type) as GraphQLObjectType;
  const parts = Object.values(type.getFields()).filter((field) => field.name !== 'key' && !isLeafType(getNamedType(field.type)));
  const leaves = (field: (typeof parts)[number]) =>
    Object.values((getNamedType(field.type) as GraphQLObjectType).getFields()).flatMap((one) =>
      isLeafType(getNamedType(one.type)) ? [one.name] : [],
    );
  return `count ${parts.map((field) => `${field.name} { ${leaves(field).join(' ')} }`).join(' ')}`;
}

it.each(aggregates.map(({ name }) => name))('%s without groups is one, whose key says nothing', async (name) => {
  const type = getNamedType((getNamedType(query[name]!.type) as GraphQLObjectType).getFields().key!.type) as GraphQLObjectType;
  const [leaf] = Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
  const { data, errors } = await acme.owner.gql(`{ ${name} { count key { ${leaf!.name} } } }`);
  expect([errors, data?.[name]]).toEqual([undefined, [{ count: expect.any(Number), key: { [leaf!.name]: null } }]]);
});

describe('an aggregate', () => {
  it('is there for every list of all records of a type', () => {
    const lists = Object.values(query).filter(
      ({ args }) => args.some(({ name }) => name === 'where') && !args.some(({ name }) => name === 'id'),
    );
    // Users and phone numbers as call flows see them are counted as what they are.
    const seen = ['callFlowRoster', 'callFlowNumbers'];
    const listed = lists.filter(({ name }) => !name.endsWith('Aggregate') && !seen.includes(name));
    const nameOf = (type: string) => `${type.charAt(0).toLowerCase()}${type.slice(1)}`.replace(/Connection$/, 'Aggregate');
    expect(aggregates.map(({ name }) => name).sort()).toEqual(listed.map(({ type }) => nameOf(getNamedType(type).name)).sort());
  });

  it.each(aggregates.map(({ name }) => name))(
    '%s: every figure in every group is one statement, and counts what there is',
    async (name) => {
      const input = getNamedType(query[name]!.args.find((arg) => arg.name === 'groupBy')!.type) as GraphQLInputObjectType;
      const fields = (getNamedType(input.getFields().field!.type) as GraphQLEnumType).getValues().map((value) => value.name);
      const whole = (await acme.owner.gql(`{ ${name} { count } }`)).data[name][0].count;
      const figures = figuresOf(name);
      for (const [i, field] of fields.entries()) {
        const keys = i % 2 || fields.length === 1 ? `{field: ${field}}` : `{field: ${field}}, {field: ${fields[(i + 1) % fields.length]}}`;
        const text = `{ ${name}(groupBy: [${keys}]) { key { ${field} } ${figures} } }`;
        expect(await api.statements(() => acme.owner.gql(text))).toBe(1);
        const { data, errors } = await acme.owner.gql(text);
        expect([field, errors]).toEqual([field, undefined]);
        expect(data[name].reduce((sum: number, { count }: Loose) => sum + count, 0)).toBe(whole);
      }
    },
  );
});

describe('the numbers of a list', () => {
  it('without groups are one, over nothing too', async () => {
    expect(
      await answer(
        '',
        'count sum { value valueExact } avg { valueExact probability } min { value createdAt } max { valueExact createdAt expectedCloseDate }',
      ),
    ).toEqual([
      {
        count: 4,
        sum: { value: 1234567890123457, valueExact: '1234567890123457.08' },
        avg: { valueExact: '411522630041152.36', probability: 0.375 },
        min: { value: 0.1, createdAt: '2026-01-01T03:00:00.000Z' },
        max: { valueExact: '1234567890123456.78', createdAt: '2026-01-05T12:00:00.000Z', expectedCloseDate: '2026-03-02' },
      },
    ]);
    expect(await answer('(where: {title: {eq: "none"}})', 'count sum { value valueExact } min { createdAt }')).toEqual([
      { count: 0, sum: { value: null, valueExact: null }, min: { createdAt: null } },
    ]);
    expect(await answer('', 'count')).toEqual([{ count: 4 }]);
  });

  it('are there where nothing of them is selected but their type', async () => {
    const selection = 'count key { __typename } sum { __typename } min { __typename } max { __typename }';
    const [type, key] = ['DealFigures', 'DealGroupKey'];
    expect((await answer('', selection))[0]).toMatchObject({ count: 4, key: { __typename: key }, sum: { __typename: type } });
  });

  it('are by one field, or two, in their order, a group without a value last', async () => {
    expect(await answer('(groupBy: [{field: status}])', 'key { status } count sum { valueExact }')).toEqual([
      { key: { status: 'open' }, count: 2, sum: { valueExact: '1234567890123456.78' } },
      { key: { status: 'won' }, count: 2, sum: { valueExact: '0.3' } },
    ]);
    const groups = await answer('(groupBy: [{field: contactId}, {field: currency}])', 'key { contact { firstName } currency } count');
    expect(groups).toEqual([
      { key: { contact: { firstName: 'Ada' }, currency: 'EUR' }, count: 1 },
      { key: { contact: null, currency: 'EUR' }, count: 1 },
      { key: { contact: null, currency: 'USD' }, count: 2 },
    ]);
  });
});

describe('the groups of a list', () => {
  it('by a reference tell the record', async () => {
    const groups = await answer('(groupBy: [{field: stageId}])', 'key { stageId stage { name } } count');
    const told = groups.map(({ key, count }) => [key.stageId, key.stage.name, count]);
    expect(told.sort()).toEqual(
      [
        [stages[0].id, stages[0].name, 2],
        [stages[1].id, stages[1].name, 2],
      ].sort(),
    );
  });

  it('are by days, weeks and months of the workspace', async () => {
    const by = async (field: string, period: string) =>
      (await answer(`(groupBy: [{field: ${field}, by: ${period}}])`, `key { ${field} } count`)).map(({ key, count }) => [
        key[field],
        count,
      ]);
    expect(await by('createdAt', 'month')).toEqual([
      ['2025-12-01', 1],
      ['2026-01-01', 3],
    ]);
    expect(await by('createdAt', 'week')).toEqual([
      ['2025-12-29', 3],
      ['2026-01-05', 1],
    ]);
    expect(await by('createdAt', 'day')).toEqual([
      ['2025-12-31', 1],
      ['2026-01-01', 1],
      ['2026-01-04', 1],
      ['2026-01-05', 1],
    ]);
    expect(await by('expectedCloseDate', 'month')).toEqual([
      ['2026-02-01', 1],
      ['2026-03-01', 2],
      [null, 1],
    ]);
  });
});

describe('an aggregate, like its list,', () => {
  it('is over what filter and where find, and its own account alone', async () => {
    expect(await answer('(filter: {status: won}, where: {value: {gt: 0.1}})', 'count')).toEqual([{ count: 1 }]);
    expect(await answer('(where: {contact: {firstName: {eq: "Ada"}}})', 'count sum { value }')).toEqual([
      { count: 1, sum: { value: 0.1 } },
    ]);
    const other = await api.seed.account();
    expect(await answer('(groupBy: [{field: status}])', 'count', other.owner)).toEqual([]);
    expect(await answer('', 'count sum { value }', other.owner)).toEqual([{ count: 0, sum: { value: null } }]);
  });

  it('asks of a key what its list does, and what its keys lead to', async () => {
    const contacts = await acme.key({ scopes: ['contacts'] });
    expectGraphQLRefusal(await contacts.gql('{ dealAggregate { count } }'), 403);
    expectGraphQLRefusal(await contacts.gql('{ contactAggregate(where: {deals: {some: {}}}) { count } }'), 403);
    const deals = await acme.key({ scopes: ['deals'] });
    expect((await deals.gql('{ dealAggregate { count } }')).errors).toBeUndefined();
    expectGraphQLRefusal(await deals.gql('{ dealAggregate(groupBy: [{field: contactId}]) { key { contact { id } } } }'), 403);
  });

  it('answers at most a thousand groups', async () => {
    const home = await api.seed.account();
    const stamps = () => ({ id: randomUUID(), createdAt: api.clock.now(), updatedAt: api.clock.now() });
    const rows = Array.from({ length: 1001 }, (_, i) => ({
      accountId: home.id,
      name: `tag ${i}`,
      color: `#${String(i).padStart(6, '0')}`,
      ...stamps(),
    }));
    await api.app.database.prisma.tag.createMany({ data: rows });
    expectGraphQLRefusal(await home.owner.gql('{ tagAggregate(groupBy: [{field: color}]) { count } }'), 400, 'groupBy');
    const { data } = await home.owner.gql(
      '{ tagAggregate(where: {name: {neq: "tag 7"}}, groupBy: [{field: color}]) { key { color } count } }',
    );
    expect(data.tagAggregate).toHaveLength(1000);
  });
});

describe('what cannot be grouped is refused by its argument', () => {
  it.each([
    ['groupBy', '[{field: status}, {field: stageId}, {field: currency}]'],
    ['groupBy[0].by', '[{field: status, by: day}]'],
    ['groupBy[1].field', '[{field: createdAt, by: day}, {field: createdAt, by: month}]'],
  ])('%s: %s', async (field, groupBy) => {
    expectGraphQLRefusal(await acme.owner.gql(`{ dealAggregate(groupBy: ${groupBy}) { count } }`), 400, field);
  });

  it.each([
    ['groupBy[0].field', '[{field: nothing}]', [{ field: 'nothing' }]],
    ['groupBy[1].field', '[{field: status}, {field: value}]', [{ field: 'status' }, { field: 'value' }]],
    ['groupBy[0].field', '[{by: day}]', [{ by: 'day' }]],
    ['groupBy[0].by', '[{field: createdAt, by: year}]', [{ field: 'createdAt', by: 'year' }]],
    ['groupBy', '"status"', 'status'],
  ])('%s: %s, in the document and as a variable', async (field, groupBy, given) => {
    expectGraphQLRefusal(await acme.owner.gql(`{ dealAggregate(groupBy: ${groupBy}) { count } }`), 400, field);
    const byVariable = 'query ($groupBy: [DealGroupBy!]) { dealAggregate(groupBy: $groupBy) { count } }';
    expectGraphQLRefusal(await acme.owner.gql(byVariable, { groupBy: given }), 400, field);
  });

  it('a filter that is wrong', async () => {
    expectGraphQLRefusal(await acme.owner.gql('{ dealAggregate(filter: {stale: "never"}) { count } }'), 400, 'stale');
    expectGraphQLRefusal(await acme.owner.gql('{ dealAggregate(where: {value: {between: [1]}}) { count } }'), 400, 'where.value.between');
  });
});
