import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isRequiredArgument,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { contract } from '../../src/app.js';
import { costOf } from '../../src/graphql/guards.cost.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';

let crm: TestServer;
let acme: Account;
let key: KeyClient;
/** What is open, until the next test. */
let lines: { cut(): void }[] = [];
beforeAll(async () => {
  const standard = readConfig({}).graphql;
  crm = await server({ config: { graphql: { ...standard, eventCost: 200, liveCost: 450, records: 30, bytes: 60_000 } } });
  acme = await crm.seed.account();
  key = await acme.key();
});
afterAll(() => crm.close());
afterEach(async () => {
  for (const line of lines) line.cut();
  lines = [];
  await eventually(async () => (await subscribers()) === 0);
});

const subscribers = async () => (await crm.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;

/** Reads three records and a page at an event: 103 with a page of a hundred. */
const colleagues = (size: number, alias = 'a') =>
  `subscription { ${alias}: contactEvents { id contact { assignedUser { contacts(first: ${size}) { nodes { id } } } } } }`;

async function open(caller = key): Promise<Socket> {
  const socket = await Socket.open(crm.wire.port, { init: bearer(caller) });
  lines.push(socket);
  return socket;
}

async function stream(query: string, caller = key): Promise<Stream> {
  const opened = await Stream.open(caller, query);
  lines.push(opened);
  return opened;
}

const isRefused = ([error]: Loose[], setting: string) => {
  expect(error.extensions).toMatchObject({ code: 'invalid_request', status: 400, setting });
  return error;
};

describe('a subscription', () => {
  it('that may read too much at each event is refused, naming where most of it is', async () => {
    const socket = await open();
    const error = isRefused(await socket.run(colleagues(198)).refused(), 'GRAPHQL_MAX_EVENT_COST');
    expect(error.message).toBe(
      'The operation may read 201 records at each event; at most 200 are allowed. Most of them are at contactEvents.contact.assignedUser.contacts.nodes (198): ask for smaller pages of contactEvents.contact.assignedUser.contacts',
    );
    const refused = await stream(colleagues(198));
    await eventually(() => refused.ended);
    expect([refused.status, refused.body.errors[0].message]).toEqual([400, error.message]);
    socket.run(colleagues(197));
    await eventually(async () => (await subscribers()) === 1);
  });
});

describe('all live subscriptions of a caller', () => {
  it('have one budget over its sockets and streams, and give back what they took', async () => {
    const [one, two] = [await open(), await open()];
    const first = one.run(colleagues(197, 'a'));
    two.run(colleagues(147, 'b'));
    await eventually(async () => (await subscribers()) === 2);
    const third = await stream(colleagues(97, 'c'));
    expect(third.status).toBe(200);
    const [refusal] = await two.run(colleagues(1, 'd')).refused();
    expect(refusal.message).toBe(
      'The live subscriptions of this caller may read 454 records at an event; at most 450 are allowed: end others first, or select less',
    );
    isRefused([refusal], 'GRAPHQL_MAX_LIVE_COST');
    isRefused(await (await stream(colleagues(1, 'd'))).refused(), 'GRAPHQL_MAX_LIVE_COST');
    one.send({ id: first.id, type: 'complete' });
    await eventually(async () => (await subscribers()) === 2);
    two.run(colleagues(197, 'd'));
    await eventually(async () => (await subscribers()) === 3);
    isRefused(await two.run(colleagues(1, 'e')).refused(), 'GRAPHQL_MAX_LIVE_COST');
    third.cut();
    await eventually(async () => (await subscribers()) === 2);
    two.run(colleagues(97, 'e'));
    await eventually(async () => (await subscribers()) === 3);
  });

  it('that are executed once count once, and those of others not at all', async () => {
    const socket = await open();
    for (let n = 0; n < 5; n++) socket.run(colleagues(197));
    await eventually(async () => (await subscribers()) === 5);
    const other = await open(await acme.key());
    for (const alias of ['b', 'c']) other.run(colleagues(197, alias));
    await eventually(async () => (await subscribers()) === 7);
    isRefused(await other.run(colleagues(197, 'd')).refused(), 'GRAPHQL_MAX_LIVE_COST');
    socket.run(colleagues(197, 'b'));
    await eventually(async () => (await subscribers()) === 8);
  });

  it('are not spent by those that were refused for something else', async () => {
    const socket = await open();
    for (const alias of ['a', 'b', 'c', 'd']) {
      const [error] = await socket.run(colleagues(190, alias).replace('contactEvents', 'contactEvents(after: "soon")')).refused();
      expect(error.extensions.field).toBe('after');
      const [late] = await socket.run(colleagues(190, alias).replace('contactEvents', 'contactEvents(after: "999999")')).refused();
      expect(late.extensions.field).toBe('after');
    }
    socket.run(colleagues(197));
    await eventually(async () => (await subscribers()) === 1);
  });
});

describe('an event', () => {
  it('whose execution reads more than a query may ends its subscription over WebSocket and SSE, and no other', async () => {
    const crowd = await crm.seed.account();
    const caller = await crowd.key();
    // What is told of these is over before anybody listens: the last of them alone is too much.
    const before = await stream('subscription { contactEvents { id } }', caller);
    for (let n = 0; n < 31; n++) await crowd.contact({ firstName: `C${n}`, assignedTo: crowd.ownerId });
    await before.nth(31);
    before.cut();
    await eventually(async () => (await subscribers()) === 0);
    const socket = await open(caller);
    const heavy = socket.run(colleagues(100));
    const light = socket.run(colleagues(10, 'b'));
    const heavyStream = await stream(colleagues(100), caller);
    await eventually(async () => (await subscribers()) === 3);
    await crowd.contact({ firstName: 'New', assignedTo: crowd.ownerId });
    const message = 'The operation reads more than 30 records, the limit GRAPHQL_MAX_RECORDS. Ask for smaller pages or fewer fields';
    for (const ended of [heavy, heavyStream]) {
      const [error] = await ended.refused();
      expect(error.message).toBe(message);
      isRefused([error], 'GRAPHQL_MAX_RECORDS');
      expect(ended.results).toEqual([]);
    }
    await eventually(() => heavyStream.complete);
    expect((await light.nth(1))[0].contact.assignedUser.contacts.nodes).toHaveLength(10);
    await eventually(async () => (await subscribers()) === 1);
    await crowd.contact({ firstName: 'Newer', assignedTo: crowd.ownerId });
    await light.nth(2);
  });

  it('whose result has too many bytes ends it too, also while it is replayed', async () => {
    const caller = await (await crm.seed.account()).key();
    await caller.post('/contacts', { firstName: 'Long', customFields: { text: 'x'.repeat(5000) } });
    const same = Array.from({ length: 15 }, (_, n) => `c${n}: customFields`).join(' ');
    const socket = await open(caller);
    const feed = socket.run(`subscription { contactEvents(after: "0") { contact { ${same} } } }`);
    isRefused(await feed.refused(), 'GRAPHQL_MAX_BYTES');
    await eventually(async () => (await subscribers()) === 0);
  });
});

/** The lists without pages that a record has of other records. */
const heldBy = (record: GraphQLObjectType): string[] =>
  Object.values(record.getFields()).flatMap(({ name, type, args }) =>
    isListType(getNullableType(type)) && args.length === 0 && isObjectType(getNamedType(type)) ? [name] : [],
  );

describe('a live list', () => {
  const { schema } = contract();
  const fieldsOf = (name: string) => (schema.getType(name) as GraphQLObjectType).getFields();
  const recordOf = (page: string) => getNamedType(fieldsOf(page.replace(/Page$/, 'Edge')).node!.type) as GraphQLObjectType;
  const lists = Object.values(fieldsOf('Live')).filter(({ type, args }) => {
    return /LivePage$/.test(getNamedType(type).name) && !args.some(isRequiredArgument);
  });
  const held = lists.flatMap(({ name, type }) => heldBy(recordOf(getNamedType(type).name)).map((of) => [name, of] as const));
  // Of a conversation or an invoice there may be a thousand: messages have pages, and so has one invoice.
  const many = held.filter(([, of]) => !['thread', 'payments'].includes(of));

  it('has records that hold others', () => {
    expect(many).toEqual(
      expect.arrayContaining([
        ['contacts', 'tags'],
        ['invoices', 'items'],
        ['pipelines', 'stages'],
      ]),
    );
  });

  it.each(many)('of %s is accepted at its own size with their %s', (name, of) => {
    const document = parse(`subscription { live { ${name} { rows { recordId node { id ${of} { __typename } } } } } }`);
    expect(validate(schema, document)).toEqual([]);
    const { records } = costOf(schema, document, document.definitions[0] as OperationDefinitionNode);
    expect(records).toBeLessThanOrEqual(readConfig({}).graphql.eventCost);
  });
});
