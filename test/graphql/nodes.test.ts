import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInterfaceType, type GraphQLObjectType, isNonNullType } from 'graphql';
import { contract } from '../../src/app.js';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
/** The id of a record of every type. */
let ids: Record<string, string>;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  ids = await oneOfEach(acme);
});
afterAll(() => api.close());

const nobody = '00000000-0000-7000-8000-000000000000';

/** A workspace with a record of every type. */
async function oneOfEach(account: Account): Promise<Record<string, string>> {
  const { owner } = account;
  const make = async (path: string, body: object) => dataOf(await owner.post(path, body));
  const contact = await account.contact({ firstName: 'Ada', customFields: { gone: 1 } });
  const pipeline = await account.pipeline();
  const deal = await account.deal({ pipeline, contactId: contact.id });
  const invoice = await account.invoice({ contactId: contact.id });
  const { id: keyId } = await make('/api-keys', { name: 'one', permission: 'read' });
  const field = await make('/custom-fields', { label: 'Gone', fieldKey: 'gone', entityType: 'contact', fieldType: 'number' });
  const gone = dataOf(await owner.del(`/custom-fields/${field.id}?confirmImpact=true&expectedValueCount=1&expectedDependencyCount=0`));
  const { id: importId } = await make('/imports', { rows: [{ firstName: 'Im' }, { email: 'no address' }] });
  dataOf(await owner.post(`/imports/${importId}/process`));
  await eventually(async () => dataOf(await owner.get(`/imports/${importId}`)).status === 'completed');
  const { data: failed } = dataOf(await owner.get(`/imports/${importId}/errors`));
  return {
    Activity: (await make('/activities', { type: 'call', title: 'Called', contactId: contact.id })).id,
    ApiKey: keyId,
    Company: (await account.company()).id,
    Contact: contact.id,
    CustomField: (await make('/custom-fields', { label: 'Kept', fieldKey: 'kept', entityType: 'contact', fieldType: 'number' })).id,
    CustomFieldCleanup: gone.cleanupJobId,
    Deal: deal.id,
    Import: importId,
    ImportError: failed[0].id,
    Invoice: invoice.id,
    InvoiceItem: invoice.items[0].id,
    Message: (await make('/messages', { contactId: contact.id, channel: 'sms', direction: 'inbound', body: 'Hi' })).id,
    Note: (await make('/notes', { body: 'n', contactId: contact.id })).id,
    Payment: (await make(`/invoices/${invoice.id}/payments`, { amount: 1 })).id,
    Pipeline: pipeline.id,
    Product: (await make('/products', { name: 'Hours' })).id,
    SmartList: (await make('/smart-lists', { name: 'All', filters: { field: 'firstName', op: 'is_not_null' } })).id,
    Stage: pipeline.stages[0].id,
    Tag: (await account.tag()).id,
    Task: (await account.task()).id,
    Template: (await make('/emails/templates', { name: 'T', channel: 'email', subject: 's', body: 'b' })).id,
    User: account.ownerId,
    Workspace: account.id,
  };
}

const document = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';
const typesOf = async (client: Pick<Account['owner'], 'gql'>, given: string[]): Promise<(string | null)[]> => {
  const { data, errors } = await client.gql(document, { ids: given });
  expect(errors).toBeUndefined();
  for (const [i, node] of data.nodes.entries()) expect([given[i]!.toLowerCase(), null]).toContain(node?.id ?? null);
  return data.nodes.map((node: Loose) => node?.__typename ?? null);
};

describe('a record', () => {
  it('of every type is a node, found by its id alone', async () => {
    const { schema } = contract();
    const { objects } = schema.getImplementations(schema.getType('Node') as GraphQLInterfaceType);
    expect(objects.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(ids)));
    // Those of them that say where they are read from are all of them, or the server does not start.
    expect([...api.seed.app.registry.nodes.keys()].sort()).toEqual(objects.map(({ name }) => name).sort());
    expect(await typesOf(acme.owner, Object.values(ids))).toEqual(Object.keys(ids));
    for (const [type, id] of Object.entries(ids)) {
      expect((await acme.owner.gql(`{ node(id: "${id}") { id __typename } }`)).data.node).toEqual({ id, __typename: type });
    }
  });

  it('is the same as through the field of its type, with what leads on from it', async () => {
    const fields = 'id title value valueExact status createdAt contact { id firstName } stage { name deals(first: 1) { totalCount } }';
    const { data, errors } = await acme.owner.gql(
      `{ node(id: "${ids.Deal}") { ... on Deal { ${fields} } } deal(id: "${ids.Deal}") { ${fields} } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.node).toEqual(data.deal);
    const invoice = 'invoiceNumber status items { amount } contact { firstName }';
    const other = await acme.owner.gql(
      `{ node(id: "${ids.Invoice}") { ... on Invoice { ${invoice} } } invoice(id: "${ids.Invoice}") { ${invoice} } }`,
    );
    expect(other.data.node).toEqual(other.data.invoice);
  });

  it('is read with what leads on from it in one statement, as field by field', async () => {
    const page = 'deals(first: 2) { totalCount nodes { title stage { name } } pageInfo { endCursor } }';
    const fields = `__typename id ... on Contact { customFields firstName ${page} } ... on Deal { contact { id ${page} } } ... on Node { again: id }`;
    const asked = [...Object.values(ids), nobody, 'nonsense', ids.Contact!.toUpperCase()];
    const roots = `nodes(ids: $ids) { ${fields} } one: node(id: "${ids.Contact}") { ${fields} } none: node(id: "nonsense") { id }`;
    const ask = (aside: string) => acme.owner.gql(`query ($ids: [ID!]!) { ${roots} ${aside} }`, { ids: asked });
    const printed = await ask('');
    expect(printed.errors).toBeUndefined();
    expect(printed.data.one).toMatchObject({ __typename: 'Contact', again: ids.Contact, deals: { totalCount: 1 } });
    expect(printed.data.nodes.slice(-3)).toEqual([null, null, printed.data.one]);
    // With a field that the database cannot print, the whole document runs field by field.
    const { aside: _aside, ...compiled } = (await ask('aside: contactSmartViews { key }')).data;
    expect(printed.data).toEqual(compiled);
    expect(Object.keys(printed.data.nodes[0])).toEqual(Object.keys(compiled.nodes[0]));
    expect(await api.statements(() => ask(''))).toBe(1);
  });

  it('of a type without anything selected is an empty object', async () => {
    const { data } = await acme.owner.gql(`{ node(id: "${ids.Tag}") { ... on Contact { firstName } } }`);
    expect(data).toEqual({ node: {} });
  });

  it('of any type is read with others in one statement', async () => {
    expect(await api.statements(() => acme.owner.gql(document, { ids: Object.values(ids) }))).toBe(1);
  });
});

describe('nodes', () => {
  it('answers in the order of the ids, each as often as it is named, in any case', async () => {
    const given = [ids.Deal!, ids.Contact!.toUpperCase(), ids.Deal!];
    expect(await typesOf(acme.owner, given)).toEqual(['Deal', 'Contact', 'Deal']);
    expect(await typesOf(acme.owner, [])).toEqual([]);
  });

  it('is null for ids that are unknown, malformed, of another account or of what is deleted', async () => {
    const other = await api.seed.account();
    const [tag, deal] = [await acme.tag(), await acme.deal()];
    dataOf(await acme.owner.del(`/tags/${tag.id}`));
    dataOf(await acme.owner.del(`/deals/${deal.id}`));
    expect(await typesOf(acme.owner, [nobody, 'nonsense', '', tag.id, deal.id, ids.Tag!])).toEqual([null, null, null, null, null, 'Tag']);
    expect(new Set(await typesOf(other.owner, Object.values(ids)))).toEqual(new Set([null]));
    for (const id of [nobody, 'nonsense', ids.Tag]) {
      expect((await other.owner.gql(`{ node(id: "${id}") { id } }`)).data).toEqual({ node: null });
    }
  });

  it('refuses more than 200 ids, and names the argument', async () => {
    const reply = await acme.owner.gql(document, { ids: Array.from({ length: 201 }, () => nobody) });
    expectGraphQLRefusal(reply, 400, 'ids');
    expect(reply.errors![0].extensions.details).toMatchObject([{ field: 'ids', code: 'too_many' }]);
    expectGraphQLRefusal(await acme.owner.gql(document, { ids: Array.from({ length: 10_000 }, () => nobody) }), 400, 'ids');
    expectGraphQLRefusal(await acme.owner.gql(document, { ids: [ids.Tag, {}] }), 400, 'ids.1');
    expect(
      await typesOf(
        acme.owner,
        Array.from({ length: 200 }, () => ids.Tag!),
      ),
    ).toEqual(Array.from({ length: 200 }, () => 'Tag'));
  });

  it('weighs as much as it names', async () => {
    const many =
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Contact { deals(first: 50) { nodes { notes(first: 200) { nodes { id } } } } } } }';
    const few = await acme.owner.gql(many, { ids: [ids.Contact] });
    expect(few.errors).toBeUndefined();
    const refused = await acme.owner.gql(many, { ids: Array.from({ length: 200 }, () => ids.Contact) });
    expect(refused.errors![0].message).toMatch(/may read \d+ records/);
  });
});

describe('a stage', () => {
  it('goes with its pipeline, and comes by it while that is there', async () => {
    const account = await api.seed.account();
    const [gone, kept] = [await account.pipeline(), await account.pipeline()];
    const [dead, live] = [gone.stages[0].id, kept.stages[0].id];
    dataOf(await account.owner.del(`/pipelines/${gone.id}`));
    expect(await typesOf(account.owner, [dead, live])).toEqual([null, 'Stage']);
    expect((await account.owner.gql(`{ node(id: "${dead}") { ... on Stage { name pipeline { name } } } }`)).data).toEqual({ node: null });
    const records = await eventually(async () => {
      const { data, errors } = await account.owner.gql('{ events(names: ["stage.created"]) { nodes { entityId record { id } } } }');
      expect(errors).toBeUndefined();
      const told = [dead, live].map((id) => data.events.nodes.find(({ entityId }: Loose) => entityId === id));
      return told.every(Boolean) ? told.map(({ record }) => record) : undefined;
    });
    expect(records).toEqual([null, { id: live }]);
  });
});

describe('a key', () => {
  it('finds records of its scopes alone, and hears of no other that it is there', async () => {
    const key = await acme.key({ scopes: ['deals'] });
    const shown = new Set(await typesOf(key, Object.values(ids)));
    expect(shown).toEqual(new Set([null, 'Deal', 'Pipeline', 'Stage', 'Workspace']));
  });

  it('asks for a type by a fragment only with its scope', async () => {
    const key = await acme.key({ scopes: ['deals'] });
    const read = (selection: string, id = ids.Deal) => key.gql(`{ node(id: "${id}") { ${selection} } }`);
    expect((await read('... on Deal { title }')).data.node.title).toBeDefined();
    for (const id of [ids.Contact, nobody]) expectGraphQLRefusal(await read('... on Contact { firstName }', id), 403);
    expectGraphQLRefusal(await read('... on Node { ... on Contact { firstName } }'), 403);
    expectGraphQLRefusal(await read('... on Deal { contact { firstName } }'), 403);
    expectGraphQLRefusal(await key.gql(`{ node(id: "${ids.Deal}") { ...F } } fragment F on Contact { firstName }`), 403);
  });

  it('finds no API keys', async () => {
    const key = await acme.key();
    expect(await typesOf(key, [ids.ApiKey!, ids.Tag!])).toEqual([null, 'Tag']);
    expect((await key.gql(`{ node(id: "${ids.ApiKey}") { ... on ApiKey { prefix } } }`)).data).toEqual({ node: null });
  });
});

describe('the record of an event', () => {
  it('is there as it is by then, and null once it is deleted', async () => {
    const account = await api.seed.account();
    const [kept, gone] = [await account.tag('kept'), await account.tag('gone')];
    dataOf(await account.owner.patch(`/tags/${kept.id}`, { name: 'by now' }));
    dataOf(await account.owner.del(`/tags/${gone.id}`));
    const records = await eventually(async () => {
      const { data, errors } = await account.owner.gql(
        '{ events(names: ["tag.created"]) { nodes { entityId record { __typename id ... on Tag { name } } } } }',
      );
      expect(errors).toBeUndefined();
      return data.events.nodes.length === 2 ? data.events.nodes : undefined;
    });
    expect(records).toEqual([
      { entityId: kept.id, record: { __typename: 'Tag', id: kept.id, name: 'by now' } },
      { entityId: gone.id, record: null },
    ]);
  });

  it('is said to be null where it is of a type that is no node', () => {
    const { schema } = contract();
    const { events, nodes } = api.app.registry;
    const others = [...events.values()].flatMap(({ of }) => (nodes.has(of.type) ? [] : [of]));
    expect(others.length).toBeGreaterThan(0);
    for (const { noun, type } of others)
      for (const event of ['Event', `${type}Event`])
        expect((schema.getType(event) as GraphQLObjectType).getFields().record!.description).toContain(noun.replaceAll('_', ' '));
  });

  it('comes with both subscriptions, and asks for the scopes of the types that it is shown as', async () => {
    const key = await acme.key({ scopes: ['tags'] });
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const all = socket.run('subscription { events { name record { id ... on Tag { name } } } }');
    const tags = socket.run('subscription { tagEvents { name tag { name } record { __typename id } } }');
    const refused = socket.run('subscription { events { record { ... on Deal { title } } } }');
    expect((await refused.refused())[0].extensions.code).toBe('permission_denied');
    const tag = await acme.tag('told');
    expect((await all.nth(1))[0]).toEqual({ name: 'tag.created', record: { id: tag.id, name: 'told' } });
    expect((await tags.nth(1))[0]).toEqual({ name: 'tag.created', tag: { name: 'told' }, record: { __typename: 'Tag', id: tag.id } });
    socket.cut();
  });
});

describe('a root field that reads by an id', () => {
  it('may be null, so that the rest of the document is answered', () => {
    const { schema } = contract();
    const byId = Object.values(schema.getQueryType()!.getFields()).filter(({ args }) => args.some(({ name }) => name === 'id'));
    expect(byId.length).toBeGreaterThan(30);
    expect(byId.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]);
  });
});
