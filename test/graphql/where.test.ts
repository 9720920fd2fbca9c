import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const isList = ({ args, type }: GraphQLField<unknown, unknown>) =>
  args.some(({ name }) => name === 'where') && getNamedType(type).name.endsWith('Connection');
const lists = Object.values(schema.getQueryType()!.getFields()).filter(isList);
const whereOf = ({ args }: GraphQLField<unknown, unknown>) =>
  getNamedType(args.find(({ name }) => name === 'where')!.type) as GraphQLInputObjectType;

const samples: Record<string, unknown> = {
  ...{ String: 'a', ID: '00000000-0000-7000-8000-000000000000', Int: 3, Decimal: '1.5', Boolean: true },
  ...{ DateOrDateTime: '2026-01-02', LocalDate: '2026-01-02', JSON: { a: 1 } },
};

/** Something that an operator can be given. */
function sampleFor(type: GraphQLInputObjectType, operator: string): unknown {
  const taken = type.getFields()[operator]!.type;
  const named = getNamedType(taken);
  const one = isEnumType(named) ? named.getValues()[0]!.name : samples[named.name];
  if (!isListType(taken)) return one;
  return operator === 'between' ? [one, one] : [one, null];
}

/** Every condition that can be put on one field of a record: one for each operator, and one for each way of a relation. */
function conditionsOn(type: GraphQLInputObjectType, depth = 0): Loose[] {
  if (type.name === 'JSONObject') return [{ tier: { eq: 'gold' } }, { seats: { between: [1, 2] } }];
  if ('and' in type.getFields()) return [{}];
  return Object.values(type.getFields()).flatMap((member) => {
    const inner = getNamedType(member.type);
    if (!isInputObjectType(inner)) return [{ [member.name]: sampleFor(type, member.name) }];
    return depth > 1 ? [] : conditionsOn(inner, depth + 1).map((condition) => ({ [member.name]: condition }));
  });
}

/** Each operator of some fields with a value that fits. */
function comparisons(type: GraphQLInputObjectType): [field: string, value: unknown, operator: string][] {
  const values: Record<string, Loose[]> = {
    ...{ firstName: ['Ada', 'bob'], leadScore: [0, 5], createdAt: [made.ada.createdAt], companyId: [made.engines.id], tags: ['vip'] },
    ...{ doNotContact: [false], masterStatus: ['lead'], id: [made.ada.id] },
  };
  const fitting = (operator: string, one: Loose) => {
    if (operator === 'is_empty') return true;
    if (operator === 'between') return [one, one];
    return operator === 'in' || operator === 'not_in' ? [one, null] : one;
  };
  return Object.entries(values).flatMap(([field, all]) => {
    const its = getNamedType(type.getFields()[field]!.type) as GraphQLInputObjectType;
    const operators = Object.keys(its.getFields()).filter((operator) => operator !== 'some' && operator !== 'none');
    return operators.flatMap((operator) => all.map((one): [string, unknown, string] => [field, fitting(operator, one), operator]));
  });
}

let api: TestServer;
let acme: Account;
/** Of lists that are of one record, its id. */
const parents: Record<string, string> = {};
const made: Record<string, Loose> = {};
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  made.engines = await acme.company({ name: 'Engines' });
  made.ada = await acme.contact({
    ...{ firstName: 'Ada', lastName: 'Lovelace', companyId: made.engines.id, assignedTo: acme.ownerId, tags: ['VIP', 'gold'] },
    ...{ attribution: { utm_source: 'ads' }, customFields: { tier: 'gold', seats: 12 } },
  });
  made.bob = await acme.contact({ firstName: 'Bob', customFields: { seats: 3 } });
  made.gone = await acme.company({ name: 'Gone' });
  made.cid = await acme.contact({ firstName: 'Cid', companyId: made.gone.id });
  const products = [{ name: 'Wheel', unitPrice: 3.5 }];
  made.won = await acme.deal({ title: 'Won', contactId: made.ada.id, status: 'won', value: 250, products });
  made.open = await acme.deal({ title: 'Open', contactId: made.ada.id, status: 'open', value: 99.5, expectedCloseDate: '2026-12-05' });
  made.lost = await acme.deal({ title: 'Lost', contactId: made.bob.id, status: 'lost', lostReason: 'x' });
  dataOf(await acme.owner.del(`/companies/${made.gone.id}`));
  parents.importErrors = dataOf(await acme.owner.post('/imports', { rows: [{ firstName: 'Im' }] })).id;
  parents.formSubmissions = dataOf(await acme.owner.post('/forms', { name: 'Form' })).id;
  const template = dataOf(await acme.owner.post('/emails/templates', { name: 'Step', channel: 'email', body: 'Hello' }));
  const sequence = { name: 'Sequence', steps: [{ templateId: template.id, delayDays: 1 }] };
  parents.sequenceEnrollments = dataOf(await acme.owner.post('/emails/sequences', sequence)).id;
  parents.calendarAppointments = dataOf(await acme.owner.post('/calendars', { name: 'Calendar' })).id;
  const webhook = { url: 'https://example.com/hook', events: ['contact.created'] };
  parents.deliveriesOfWebhook = dataOf(await acme.owner.post('/webhooks/manage', webhook)).id;
  const automation = dataOf(await acme.owner.post('/automations', { name: 'Automation', triggerEvent: 'contact.created' })).id;
  Object.assign(parents, { runsOfAutomation: automation, stepsOfAutomation: automation });
  const trigger = { event: 'contact.created' };
  parents.runsOfWorkflow = dataOf(await acme.owner.post('/workflows', { name: 'Workflow', trigger, actions: [] })).id;
});
afterAll(() => api.close());

// A root field that is no declared read: with it, the document runs field by field.
const aside = 'aside: contactSmartViews { key }';

/** What a list finds, by both ways to it. */
async function found(list: 'contacts' | 'deals', where: object, client = acme.owner): Promise<string[]> {
  const type = whereOf(schema.getQueryType()!.getFields()[list]!).name;
  const name = list === 'contacts' ? 'firstName' : 'title';
  const ask = async (more: string) => {
    const { data, errors } = await client.gql(
      `query ($where: ${type}) { ${list}(where: $where) { totalCount nodes { name: ${name} } } ${more} }`,
      {
        where,
      },
    );
    expect(errors).toBeUndefined();
    expect(data[list].totalCount).toBe(data[list].nodes.length);
    return (data[list].nodes as Loose[]).map((node) => node.name as string).sort();
  };
  const printed = await ask('');
  expect(await ask(client === acme.owner ? aside : 'aside: me { __typename }')).toEqual(printed);
  return printed;
}

describe('where', () => {
  it('is taken by every list, root and nested, typed by its record', () => {
    const connections = Object.values(schema.getTypeMap())
      .filter((type): type is GraphQLObjectType => 'getInterfaces' in type && !type.name.startsWith('__'))
      .flatMap((type) => Object.values(type.getFields()))
      .filter(({ type, args }) => getNamedType(type).name.endsWith('Connection') && args.some(({ name }) => name === 'filter'));
    expect(connections.length).toBeGreaterThan(lists.length);
    for (const field of connections) expect(whereOf(field).name).toBe(getNamedType(field.type).name.replace(/Connection$/, 'Where'));
  });

  it.each(lists.map((list) => [list.name, list] as const))(
    '%s: every operator of every field is one that the database knows',
    async (name, list) => {
      const type = whereOf(list);
      for (const [field, { type: its }] of Object.entries(type.getFields())) {
        if (['and', 'or', 'not'].includes(field)) continue;
        const or = conditionsOn(getNamedType(its) as GraphQLInputObjectType).map((condition) => ({ [field]: condition }));
        expect(or.length).toBeGreaterThan(0);
        const id = parents[name] ? `id: "${parents[name]}", ` : '';
        for (const where of [{ or }, { not: { and: or } }]) {
          const { errors } = await acme.owner.gql(`query ($w: ${type.name}) { ${name}(${id}where: $w) { totalCount } }`, { w: where });
          expect({ field, errors }).toEqual({ field, errors: undefined });
        }
      }
    },
  );

  it('means what the JSON of filters means', async () => {
    const contactWhere = whereOf(schema.getQueryType()!.getFields().contacts!);
    for (const [field, value, operator] of comparisons(contactWhere)) {
      const filters = encodeURIComponent(JSON.stringify({ field, op: operator, value }));
      const listed = dataOf(await acme.owner.get(`/contacts?filters=${filters}`));
      const expected = listed.data.map((row: Loose) => row.firstName).sort();
      expect([field, operator, await found('contacts', { [field]: { [operator]: value } })]).toEqual([field, operator, expected]);
    }
  });
});

describe('where finds by', () => {
  it.each<[string, 'contacts' | 'deals', object, string[]]>([
    ['nothing', 'contacts', {}, ['Ada', 'Bob', 'Cid']],
    ['several fields at once', 'deals', { status: { in: ['open', 'won'] }, value: { gte: 100 } }, ['Won']],
    ['several operators of a field', 'deals', { value: { gt: 99, lt: 100 } }, ['Open']],
    ['and, or and not', 'contacts', { or: [{ firstName: { eq: 'Ada' } }, { not: { or: [{ firstName: { lt: 'C' } }] } }] }, ['Ada', 'Cid']],
    ['no value', 'contacts', { lastName: { eq: null } }, ['Bob', 'Cid']],
    ['a member of an object', 'contacts', { attribution: { utm_source: { eq: 'ads' } } }, ['Ada']],
    ['an object that is not there', 'contacts', { attribution: { is_empty: true } }, ['Bob', 'Cid']],
    ['custom fields', 'contacts', { customFields: { seats: { between: [3, 11] } } }, ['Bob']],
    ['several custom fields', 'contacts', { customFields: { seats: { gte: 3 }, tier: { starts_with: 'GO' } } }, ['Ada']],
    ['a day', 'deals', { expectedCloseDate: { between: ['2026-12-01', '2026-12-05'] } }, ['Open']],
    ['a record that is led to', 'contacts', { companyRecord: { name: { contains: 'GIN' } } }, ['Ada']],
    ['that one is led to', 'contacts', { companyRecord: {} }, ['Ada']],
    ['that none is led to, be it that it is gone', 'contacts', { not: { companyRecord: {} } }, ['Bob', 'Cid']],
    ['one of many', 'contacts', { deals: { some: { status: { eq: 'won' }, value: { gt: 200 } } } }, ['Ada']],
    ['none of many', 'contacts', { deals: { none: { status: { eq: 'lost' } } } }, ['Ada', 'Cid']],
    ['some and none', 'contacts', { deals: { some: {}, none: { status: { eq: 'lost' } } } }, ['Ada']],
    ['tags by their names, whatever their case', 'contacts', { tags: { in: ['vip'] } }, ['Ada']],
    ['tags as records', 'contacts', { tags: { some: { name: { eq: 'VIP' } } } }, ['Ada']],
    ['no tags', 'contacts', { tags: { none: {} } }, ['Bob', 'Cid']],
    ['lines of a deal', 'deals', { products: { some: { unitPrice: { lte: 3.5 } } } }, ['Won']],
    ['what is led to further on', 'deals', { contact: { companyRecord: { name: { eq: 'Engines' } } } }, ['Open', 'Won']],
    ['back and forth', 'contacts', { companyRecord: { contacts: { some: { deals: { some: { title: { eq: 'Won' } } } } } } }, ['Ada']],
    ['a user', 'contacts', { assignedUser: { id: { eq: '00000000-0000-7000-8000-000000000000' } } }, []],
    ['what is computed', 'deals', { appointmentMissed: { eq: false } }, ['Lost', 'Open', 'Won']],
  ])('%s', async (_what, list, where, names) => {
    expect(await found(list, where)).toEqual(names);
  });
});

describe('a where', () => {
  it('narrows nested lists', async () => {
    const { data, errors } = await acme.owner.gql(
      '{ contacts(where: {firstName: {eq: "Ada"}}) { nodes { deals(where: {value: {lt: 100}}) { totalCount nodes { title } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.contacts.nodes).toEqual([{ deals: { totalCount: 1, nodes: [{ title: 'Open' }] } }]);
  });

  it('goes together with filter', async () => {
    const { data } = await acme.owner.gql(
      '{ contacts(filter: {search: "ad"}, where: {lastName: {is_empty: false}}) { nodes { firstName } } }',
    );
    expect(data.contacts.nodes).toEqual([{ firstName: 'Ada' }]);
    const none = await acme.owner.gql('{ contacts(filter: {search: "bo"}, where: {lastName: {is_empty: false}}) { totalCount } }');
    expect(none.data.contacts.totalCount).toBe(0);
  });

  it('takes variables within a condition that is written out', async () => {
    const query =
      'query ($name: String, $all: [String!]) { contacts(where: {and: [{firstName: {eq: $name, in: $all}}]}) { nodes { firstName } } aside: contactSmartViews { key } }';
    const { data, errors } = await acme.owner.gql(query, { name: 'Bob', all: ['Ada', 'Bob'] });
    expect(errors).toBeUndefined();
    expect(data.contacts.nodes).toEqual([{ firstName: 'Bob' }]);
  });

  it('takes a default of a variable', async () => {
    const query =
      'query ($w: ContactWhere = {firstName: {eq: "Bob"}}) { contacts(where: $w) { nodes { firstName } } aside: contactSmartViews { key } }';
    expect((await acme.owner.gql(query)).data.contacts.nodes).toEqual([{ firstName: 'Bob' }]);
    expect((await acme.owner.gql(query, { w: { firstName: { eq: 'Ada' } } })).data.contacts.nodes).toEqual([{ firstName: 'Ada' }]);
  });

  it('finds nothing of another account, by whichever way', async () => {
    const other = await api.seed.account();
    await other.contact({ firstName: 'Eve', tags: ['VIP'] });
    const { data } = await other.owner.gql(
      '{ contacts(where: {or: [{deals: {some: {}}}, {companyRecord: {name: {eq: "Engines"}}}, {tags: {none: {}}}]}) { totalCount } }',
    );
    expect(data.contacts.totalCount).toBe(0);
  });
});
