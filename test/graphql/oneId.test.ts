import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { contract } from '../../src/app.js';
import { demoServer } from '../support/demoServer.js';
import { type Account, type Client, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

const { schema } = contract();
const node = schema.getType('Node')!;
const query = schema.getQueryType()!;

/** Messages of the feed: their ids are positions in it, and no record's. */
const isEvent = (type: GraphQLObjectType) => Boolean(type.getFields().eventId && type.getFields().changeId);
const isRecord = (type: GraphQLObjectType) => type.getInterfaces().some(({ name }) => name === node.name);
const isPage = (type: unknown): type is GraphQLObjectType => isObjectType(type) && Boolean(type.getFields().pageInfo);

describe('a type', () => {
  it('has an id where it is a record, found by it, or an event, and nowhere else', () => {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const others = types.filter((type) => type.getFields().id && !isRecord(type) && !isEvent(type));
    // The payments vendor's, whose ids are its own.
    expect(others.map(({ name }) => name)).toEqual(['BillingInvoice']);
    expect(types.filter((type) => isRecord(type) && type.getFields().id).length).toBeGreaterThan(40);
  });
});

/** All that leads on from a type without arguments that must be given, so deep. */
function selectionOf(type: GraphQLObjectType, depth: number): string {
  const parts = ['__typename', ...(type.getFields().id ? ['id'] : [])];
  for (const { name, type: of, args } of Object.values(type.getFields())) {
    if (depth === 0 || args.some((arg) => isNonNullType(arg.type)) || isLeafType(getNamedType(of))) continue;
    const inner = under(of, depth - 1);
    if (inner) parts.push(`${name}${args.some((arg) => arg.name === 'first') ? '(first: 2)' : ''} ${inner}`);
  }
  return parts.join(' ');
}

function under(of: GraphQLOutputType, depth: number): string | undefined {
  const type = getNamedType(of);
  if (isPage(type)) return `{ nodes { ${selectionOf(getNamedType(type.getFields().nodes!.type) as GraphQLObjectType, depth)} } }`;
  if (isInterfaceType(type)) return '{ __typename id }';
  return isObjectType(type) ? `{ ${selectionOf(type, depth)} }` : undefined;
}

/** A session has no key to check, and the demo account no key of the vendor of lines. */
const absent = ['checkApiKey', 'vendorLines'];

/** Every list and every single thing that can be read without naming one. */
const roots = Object.values(query.getFields()).filter(
  ({ name, type, args }) => !absent.includes(name) && !isLeafType(getNamedType(type)) && args.every((arg) => !isNonNullType(arg.type)),
);

describe('an id of the demo account', () => {
  let crm: TestServer;
  let demo: Client;
  beforeAll(async () => {
    ({ crm, demo } = await demoServer());
  });
  afterAll(() => crm.close());

  const found = new Map<string, Set<string>>();
  const types = new Set<string>();
  const keep = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { __typename: type, id } = value as Loose;
    if (type && typeof id === 'string') {
      types.add(type);
      found.set(id, (found.get(id) ?? new Set()).add(type));
    }
    for (const inner of Object.values(value)) keep(inner);
  };

  it('is that of one type, wherever it is shown', async () => {
    for (const { name, type, args } of roots) {
      const paged = args.some((arg) => arg.name === 'first') ? '(first: 100)' : '';
      const { data, errors } = await demo.gql(`{ ${name}${paged} ${under(type, 1)} }`);
      expect([name, errors?.[0]?.message]).toEqual([name, undefined]);
      keep(data);
    }
    expect([...found].filter(([, shown]) => shown.size > 1).map(([id, shown]) => [id, ...shown])).toEqual([]);
    expect([found.size > 300, types.size > 30]).toEqual([true, true]);
  });
});

describe('what is no record of its own', () => {
  let crm: TestServer;
  let acme: Account;
  beforeAll(async () => {
    crm = await server();
    acme = await crm.seed.account();
  });
  afterAll(() => crm.close());

  const ask = async (document: string): Promise<Loose> => {
    const { data, errors } = await acme.owner.gql(document);
    expect(errors).toBeUndefined();
    return data;
  };

  /** The first event of a name, as REST shows it. */
  const told = (name: string): Promise<Loose> => eventually(async () => dataOf(await acme.owner.get(`/events?names=${name}`)).data[0]);

  it('has in GraphQL a name for what it refers to, and in REST the id of the contract', async () => {
    const deal = await acme.deal({ products: [{ name: 'Hours', unitPrice: 5 }] });
    const [line] = dataOf(await acme.owner.get(`/deals/${deal.id}`)).products;
    const read = 'products { lineId name }';
    const where = `where: { products: { some: { id: { eq: "${line.id}" } } } }`;
    const shown = [{ lineId: line.id, name: 'Hours' }];
    // Printed by the database, and field by field.
    expect((await ask(`{ deal(id: "${deal.id}") { ${read} } }`)).deal.products).toEqual(shown);
    expect((await ask(`{ deals(${where}) { nodes { ${read} pipeline { statistics { dealCount } } } } }`)).deals.nodes[0].products).toEqual(
      shown,
    );
    expect((await told('deal.created')).data.products[0].id).toBe(line.id);
  });

  it('names who did something by the record that they are', async () => {
    await acme.tag();
    // The event has its place in the feed a moment after the write.
    const event = await told('tag.created');
    const { events } = await ask(
      '{ events(names: ["tag.created"]) { nodes { actor { kind recordId name } causes { kind ofId runId } } } }',
    );
    expect(events.nodes[0]).toMatchObject({ actor: { kind: 'user', recordId: acme.ownerId }, causes: [] });
    expect(Object.keys(event.actor)).toEqual(['id', 'kind', 'name']);
    expect(event.actor.id).toBe(acme.ownerId);
  });

  it('is told with the id that it always had: a conversation with that of its contact', async () => {
    const { id } = await acme.contact({ firstName: 'Ada' });
    dataOf(await acme.owner.post('/messages', { contactId: id, channel: 'sms', direction: 'inbound', body: 'Hi' }));
    const { markConversationRead } = await ask(`mutation { markConversationRead(contactId: "${id}") { contactId unreadCount } }`);
    expect(markConversationRead).toEqual({ contactId: id, unreadCount: 0 });
    const { conversation } = await ask(`{ conversation(contactId: "${id}") { contactId messages { nodes { body } } contact { id } } }`);
    expect(conversation).toEqual({ contactId: id, messages: { nodes: [{ body: 'Hi' }] }, contact: { id } });
    const event = await told('conversation.updated');
    expect([event.entityId, event.data.id, event.data.contactId, Object.keys(event.data)[0]]).toEqual([id, id, id, 'id']);
    for (const field of ['id', 'contactId']) {
      const trigger = { event: 'conversation.updated', conditions: { [field]: id } };
      const workflow = dataOf(await acme.owner.post('/workflows', { name: field, trigger, actions: [] }));
      const { data } = await acme.owner.gql(
        `mutation { dryRunWorkflow(id: "${workflow.id}", input: { eventId: "${event.eventId}" }) { conditions { field holds } } }`,
      );
      expect([field, data?.dryRunWorkflow?.conditions]).toEqual([field, [{ field, holds: true }]]);
    }
  });
});
