import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLObjectType, getNamedType, isAbstractType, isLeafType, isObjectType, parse } from 'graphql';
import { contract } from '../../src/app.js';
import { markOf, needsOf } from '../../src/kernel/access/access.js';
import { aNode } from '../support/automations.js';
import { type Account, dataOf, expectGraphQLRefusal, expectRefusal, type KeyClient, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { activeWorkflow } from '../support/workflows.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const { schema } = contract();
// The lists of a live query are those of the queries, each with its own access.
const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType(), schema.getType('Live') as GraphQLObjectType];
const types = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__') && !roots.includes(type),
);
const scopeOf = (type: GraphQLObjectType) => type.extensions.scope as string | undefined;

/** Whether somebody who may read the parent needs more than that for one field of the record that a field of it leads to. */
function isFree(parent: GraphQLObjectType, name: string, type: GraphQLObjectType, field: string): boolean {
  const inner = isLeafType(getNamedType(type.getFields()[field]!.type)) ? field : `${field} { __typename }`;
  const selection = isAbstractType(getNamedType(parent.getFields()[name]!.type)) ? `... on ${type.name} { ${inner} }` : inner;
  const { scopes } = needsOf(schema, parse(`fragment F on ${parent.name} { ${name} { ${selection} } }`));
  return !scopes.includes(scopeOf(type)!);
}

/** The object types that a field leads to. */
function typesOf(parent: GraphQLObjectType, name: string): readonly GraphQLObjectType[] {
  const type = getNamedType(parent.getFields()[name]!.type);
  return isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];
}

/** Those of them that are records of another domain. */
const recordsOf = (parent: GraphQLObjectType, name: string) =>
  typesOf(parent, name).filter((record) => scopeOf(record) && scopeOf(record) !== scopeOf(parent));

/** Nodes are no way from one domain to another: each is null for those who may not read its type (test/graphql/nodes.test.ts). */
const ownTypesOf = (parent: GraphQLObjectType, name: string) =>
  isAbstractType(getNamedType(parent.getFields()[name]!.type)) ? [] : typesOf(parent, name).filter((type) => !roots.includes(type));

const innerTypes = (type: GraphQLObjectType) => Object.keys(type.getFields()).flatMap((name) => ownTypesOf(type, name));

/** The domains through whose root fields and records each type without a scope is reached. */
function domainsOfTypes(): Map<string, Set<string>> {
  const domains = new Map<string, Set<string>>();
  const reach = (type: GraphQLObjectType, domain: string) => {
    if (scopeOf(type) || domains.get(type.name)?.has(domain)) return;
    domains.set(type.name, (domains.get(type.name) ?? new Set()).add(domain));
    for (const inner of innerTypes(type)) reach(inner, domain);
  };
  const rootFields = roots.flatMap((root) => Object.values(root?.getFields() ?? {}).map((field) => ({ root: root!, field })));
  for (const { root, field } of rootFields) {
    const { session, scope, public: open } = markOf(field);
    for (const type of ownTypesOf(root, field.name)) reach(type, session || open ? 'no key' : (scope ?? 'any key'));
  }
  for (const type of types.filter(scopeOf)) for (const inner of innerTypes(type)) reach(inner, scopeOf(type)!);
  return domains;
}

describe('what a key reads of records outside its scopes', () => {
  it('is no more than the names that belong to the record before them', () => {
    const free: Record<string, string> = {};
    for (const parent of types) {
      for (const name of Object.keys(parent.getFields())) {
        for (const record of recordsOf(parent, name)) {
          const fields = Object.keys(record.getFields()).filter((field) => isFree(parent, name, record, field));
          if (fields.length > 0) free[`${parent.name}.${name}`] = `${record.name}: ${fields.join(' ')}`;
        }
      }
    }
    // The dashboard leaves out itself what the key may not read (test/contract/dashboard.access.test.ts).
    const ofDashboard = Object.keys(free).filter((place) => place.startsWith('Dashboard.'));
    expect(ofDashboard.sort()).toEqual(['Dashboard.needsFollowUp', 'Dashboard.recentActivities', 'Dashboard.staleDeals']);
    for (const place of ofDashboard) delete free[place];
    // A caller reads of themselves what there is.
    expect(free['Viewer.user']).toBe('User: id name email role permissions status lastActiveAt createdAt firstName lastName emailVerified');
    for (const place of ['Viewer.user', 'AuthResult.user']) delete free[place];
    const users = Object.entries(free).filter(([, fields]) => fields.startsWith('User:'));
    expect(new Set(users.map(([, fields]) => fields))).toEqual(new Set(['User: id name']));
    for (const [place] of users) delete free[place];
    expect(free).toEqual({
      'Contact.tags': 'Tag: name id',
      'Enrollment.contact': 'Contact: firstName lastName email id',
      'Invoice.contact': 'Contact: firstName lastName id',
      'PipelineSummary.pipeline': 'Pipeline: name id',
      // Who records a payment reads how its invoice stands: both are of the scope invoices.
      'RecordedPayment.invoice': 'Invoice: id status total amountPaid',
    });
  });

  it('is nothing through a type that has no scope of its own: each is part of one domain', () => {
    const domains = domainsOfTypes();
    const ofMany = [...domains].filter(([, found]) => found.size > 1).map(([name]) => name);
    // What events of every domain carry: who did it by id and name, and the ids of what it happened to.
    const ofEvents = ['Actor', 'EventBatch', 'EventCause'];
    const results = ['Archived', 'BulkCounts', 'BulkOutcome', 'BulkResult', 'BulkResults', 'Deleted', 'PageInfo', 'Workspace'];
    // Events of smart lists are for sessions, which hold no scopes.
    // Runs of workflows and of automations show it; what it says of people is hidden from keys without contacts.
    const ofRuns = ['ConditionSeen'];
    expect(ofMany.sort()).toEqual([...ofEvents, ...results, ...ofRuns, 'SmartList'].sort());
    const ofAnyKey = [...domains].filter(([, found]) => found.has('any key')).map(([name]) => name);
    // Who the key is; events and smart lists, of which it gets those about the records of its scopes alone.
    const own = ['ApiKeyCheck', 'Viewer', 'Workspace'];
    const lists = ['SmartList', 'SmartListConnection', 'SmartListEdge', 'SmartListAggregate', 'SmartListBounds', 'SmartListGroupKey'];
    const live = ['SmartListLivePage', 'SmartListLiveEdge'];
    const chosen = ['Event', 'EventConnection', 'EventEdge', ...lists, ...live];
    expect(ofAnyKey.sort()).toEqual([...own, ...chosen, ...ofEvents, 'Deleted', 'PageInfo'].sort());
  });
});

describe('a key without the scope users', () => {
  let acme: Account;
  let key: KeyClient;
  beforeAll(async () => {
    acme = await api.seed.account();
    await acme.contact({ firstName: 'Ada', assignedTo: acme.ownerId });
    await acme.deal({ assignedTo: acme.ownerId });
    await acme.task({ assignedTo: acme.ownerId });
    await acme.company({ ownerId: acme.ownerId });
    dataOf(await acme.owner.post('/notes', { body: 'Hello' }));
    const invoice = await acme.invoice();
    dataOf(await acme.owner.post(`/invoices/${invoice.id}/send`));
    dataOf(await acme.owner.post(`/invoices/${invoice.id}/payments`, { amount: 5 }));
    key = await acme.key({ scopes: ['contacts', 'deals', 'tasks', 'companies', 'notes', 'activities', 'invoices'] });
  });

  const places: [string, (of: string) => string][] = [
    ['the author of a note', (of) => `{ list: notes { nodes { user: author { ${of} } } } }`],
    ['who looks after a contact', (of) => `{ list: contacts { nodes { user: assignedUser { ${of} } } } }`],
    ['who looks after a deal', (of) => `{ list: deals { nodes { user: assignedUser { ${of} } } } }`],
    ['who has a task', (of) => `{ list: tasks { nodes { user: assignedUser { ${of} } } } }`],
    ['the owner of a company', (of) => `{ list: companies { nodes { user: owner { ${of} } } } }`],
    ['who did what the log tells', (of) => `{ list: activities { nodes { user { ${of} } } } }`],
    ['who made an invoice', (of) => `{ list: invoices { nodes { user: author { ${of} } } } }`],
  ];

  it.each(places)('reads %s by id and name, and no more', async (_who, ask) => {
    const { data, errors } = await key.gql(`${ask('id ...Name')} fragment Name on User { name __typename }`);
    expect(errors).toBeUndefined();
    expect(data.list.nodes[0].user).toEqual({ id: acme.ownerId, name: acme.ownerEmail, __typename: 'User' });
    for (const more of ['email', 'role', 'status', 'lastActiveAt', 'id ... on User { email }', 'notes { nodes { id } }']) {
      expectGraphQLRefusal(await key.gql(ask(more)), 403);
    }
    const wide = await acme.key({ scopes: ['users', ...key.record.scopes] });
    expect((await wide.gql(ask('email role'))).data.list.nodes[0].user).toEqual({ email: acme.ownerEmail, role: 'owner' });
  });

  it('reads who recorded a payment by id and name, and no more', async () => {
    const ask = (of: string) => `{ invoices { nodes { payments { recorder { ${of} } } } } }`;
    const { data } = await key.gql(ask('id name'));
    expect(data.invoices.nodes[0].payments).toEqual([{ recorder: { id: acme.ownerId, name: acme.ownerEmail } }]);
    expectGraphQLRefusal(await key.gql(ask('email')), 403);
  });

  it('is refused what only a fragment asks for', async () => {
    const query = '{ notes { nodes { author { id } ...More } } } fragment More on Note { author { email } }';
    expectGraphQLRefusal(await key.gql(query), 403);
  });
});

describe('a key without the scope users, over REST,', () => {
  it('reads who looks after a record by id and name, and no more', async () => {
    const acme = await api.seed.account();
    await acme.contact({ firstName: 'Ada', assignedTo: acme.ownerId });
    await acme.deal({ assignedTo: acme.ownerId });
    const key = await acme.key({ scopes: ['contacts', 'deals'] });
    const wide = await acme.key({ scopes: ['contacts', 'deals', 'users'] });
    const shown = async (caller: { get: KeyClient['get'] }) => {
      const lists = ['/contacts', '/deals'].map((path) => caller.get(`${path}?assigned_to=${acme.ownerId}&include=assignedUser`));
      const [contacts, deals] = (await Promise.all(lists)).map((reply) => dataOf(reply).data);
      return [contacts[0], deals[0], dataOf(await caller.get(`/deals/${deals[0].id}`))].map((record) => record.assignedUser);
    };
    const user = { id: acme.ownerId, name: acme.ownerEmail };
    expect(await shown(key)).toEqual([user, user, user]);
    const whole = { ...user, email: acme.ownerEmail };
    for (const caller of [wide, acme.owner, await acme.key({ permission: 'read' })])
      expect(await shown(caller)).toEqual([whole, whole, whole]);
  });
});

describe('a key without the scope contacts', () => {
  it('searches invoices by the names of their contacts, and by no address or number', async () => {
    const acme = await api.seed.account();
    const { id: contactId } = await acme.contact({ firstName: 'Ada', lastName: 'King', email: 'love@example.org', phone: '+14155550123' });
    const { id, invoiceNumber } = await acme.invoice({ contactId });
    const [narrow, wide] = [await acme.key({ scopes: ['invoices'] }), await acme.key({ scopes: ['invoices', 'contacts'] })];
    const found = async (caller: Pick<KeyClient, 'get' | 'gql'>, search: string) => {
      const { data } = dataOf(await caller.get(`/invoices?search=${encodeURIComponent(search)}`));
      const text = 'query ($search: String) { invoices(filter: { search: $search }) { totalCount nodes { id } } }';
      const { invoices } = (await caller.gql(text, { search })).data;
      expect([invoices.totalCount, invoices.nodes]).toEqual([data.length, data.map((one: { id: string }) => ({ id: one.id }))]);
      return invoices.nodes.map((one: { id: string }) => one.id);
    };
    for (const search of ['love@', 'love@example.org', '5550123', '+1 415 555 0123', '(415) 555-0123']) {
      expect([search, await found(narrow, search)]).toEqual([search, []]);
      for (const caller of [wide, acme.owner]) expect([search, await found(caller, search)]).toEqual([search, [id]]);
    }
    for (const search of ['ada', 'kin', 'a', 'ada king', invoiceNumber])
      expect([search, await found(narrow, search)]).toEqual([search, [id]]);
  });
});

describe('who may not see an event, whatever the scopes are,', () => {
  let acme: Account;
  beforeAll(async () => {
    acme = await api.seed.account();
  });
  const ofKeys = { name: 'W', trigger: { event: 'api_key.created' } };

  it('cannot have it start a workflow, nor change what an active one does about it', async () => {
    const member = await acme.member();
    const narrow = await acme.key({ scopes: ['workflows'], permission: 'write' });
    for (const caller of [member, narrow])
      for (const event of ['api_key.created', 'webhook.created'])
        expectRefusal(await caller.post('/workflows', { name: 'W', trigger: { event } }), 403);
    // The scope of what it is about is asked for no more than that of what actions write.
    dataOf(await narrow.post('/workflows', { name: 'W', trigger: { event: 'contact.created' } }));
    const own = dataOf(await member.post('/workflows', { name: 'W', trigger: { event: 'contact.created' } }));
    expectRefusal(await member.patch(`/workflows/${own.id}`, { trigger: ofKeys.trigger }), 403);
    const { id } = dataOf(await acme.owner.post('/workflows', ofKeys));
    expectRefusal(await member.post(`/workflows/${id}/activate`), 403);
    expect(dataOf(await acme.owner.post(`/workflows/${id}/activate`)).status).toBe('active');
    const changed = { name: 'Other', trigger: { ...ofKeys.trigger, conditions: { permission: 'admin' } } };
    expect(dataOf(await member.patch(`/workflows/${id}`, changed))).toMatchObject({ name: 'Other', isActive: true });
    const actions = [{ type: 'create_task', config: { title: '{{record.name}} {{record.prefix}}' } }];
    for (const caller of [member, narrow]) {
      expectRefusal(await caller.patch(`/workflows/${id}`, { actions }), 403);
      // It has none, so this changes nothing.
      dataOf(await caller.patch(`/workflows/${id}`, { actions: [] }));
      dataOf(await caller.patch(`/workflows/${(await activeWorkflow(acme, { trigger: own.trigger })).id}`, { actions }));
    }
    expect(dataOf(await acme.owner.get(`/workflows/${id}`))).toMatchObject({ actions: [], isActive: true });
    await acme.key({ name: 'Told' });
    const told = await eventually(async () =>
      dataOf(await acme.owner.get('/events?names=api_key.created')).data.find(
        ({ data }: { data: { name: string } }) => data.name === 'Told',
      ),
    );
    expectRefusal(await member.post(`/workflows/${own.id}/dry-run`, { eventId: told.eventId }), 400, 'eventId');
    expect(dataOf(await acme.owner.post(`/workflows/${own.id}/dry-run`, { eventId: told.eventId })).reason).toBe('another_event');
  });

  it('cannot have it start an automation, or end a wait of one', async () => {
    const member = await acme.member();
    const end = aNode('end', 'end');
    const drafts = [
      { triggerEvent: 'webhook.created', graph: { startNodeId: 'end', nodes: [end] } },
      { graph: { startNodeId: 'wait', nodes: [aNode('wait', 'wait', { event: 'webhook.created', timeout: { days: 1 } }, 'end'), end] } },
    ];
    for (const draft of drafts) {
      const { id } = dataOf(await member.post('/automations', { name: 'A', ...draft }));
      expectRefusal(await member.post(`/automations/${id}/publish`), 403);
      expect(dataOf(await acme.owner.post(`/automations/${id}/publish`)).active).toBe(true);
      dataOf(await member.patch(`/automations/${id}`, { active: false }));
      expectRefusal(await member.patch(`/automations/${id}`, { active: true }), 403);
    }
  });
});
