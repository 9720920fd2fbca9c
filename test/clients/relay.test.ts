import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createClient } from 'graphql-ws';
import relay from 'relay-runtime';
import WebSocket from 'ws';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually } from '../support/live.js';

/** Loads a module outside Jest, as Node does. */
declare const importBuilt: <T>(name: string) => Promise<T>;

const { ConnectionHandler, Environment, Network, Observable, RecordSource, Store } = relay as Loose;
const { commitMutation, createOperationDescriptor, fetchQuery, getSingularSelector, requestSubscription } = relay as Loose;

/** What a screen of Relay asks for: a list that pages, a record that is read again by its id, writes that change lists, events. */
const documents = `
  graphql\`query screenQuery { ...screen_contacts @arguments(first: 2) }\`;
  graphql\`fragment screen_contacts on Query
    @argumentDefinitions(first: { type: "Int" }, after: { type: "String" }) @refetchable(queryName: "screenPageQuery") {
    contacts(first: $first, after: $after, sort: firstName, order: asc) @connection(key: "screen_contacts", filters: []) {
      totalCount edges { node { id ...screen_contact } }
    }
  }\`;
  graphql\`fragment screen_contact on Contact @refetchable(queryName: "screenContactQuery") { firstName customFields createdAt }\`;
  graphql\`mutation screenCreateMutation($input: CreateContactInput!, $connections: [ID!]!) {
    createContact(input: $input) @appendNode(connections: $connections, edgeTypeName: "ContactEdge") { id ...screen_contact }
  }\`;
  graphql\`mutation screenDeleteMutation($id: ID!, $connections: [ID!]!) {
    deleteContact(id: $id) { deletedId @deleteEdge(connections: $connections) }
  }\`;
  graphql\`subscription screenSubscription { contactEvents(ready: true) { id kind actor { recordId name } contact { id ...screen_contact } } }\`;
  graphql\`query screenTalkQuery {
    conversations(first: 5) { edges { node { contactId lastMessage { body } contact { id firstName } } } }
    users(first: 5) { nodes { id name } }
  }\`;
`;

const folder = mkdtempSync(join(tmpdir(), 'crm-relay-'));
/** What the compiler said, and what it made of each document. */
let said: string;
let made: Record<string, Loose>;
let crm: TestServer;
let account: Account;
let key: KeyClient;
let url: string;
beforeAll(async () => {
  said = compile();
  const load = async (name: string) => [name.split('.')[0], (await importBuilt<{ default: Loose }>(join(folder, 'made', name))).default];
  made = Object.fromEntries(await Promise.all(readdirSync(join(folder, 'made')).map(load)));
  crm = await server();
  account = await crm.seed.account();
  for (const firstName of ['Ada', 'Bea', 'Cleo', 'Dana']) await account.contact({ firstName });
  key = await account.key();
  url = `http://127.0.0.1:${crm.wire.port}/graphql`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await crm.close();
});

function compile(): string {
  for (const name of ['src', 'made']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'src/screen.js'), documents);
  copyFileSync('schema/schema.graphql', join(folder, 'schema.graphql'));
  const settings = { src: 'src', language: 'javascript', schema: 'schema.graphql', artifactDirectory: 'made', eagerEsModules: false };
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(settings));
  const args = [resolve('node_modules/relay-compiler/cli.js'), 'relay.config.json', '--noWatchman'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

/** What Relay warns of, it tells the console. */
const warned = jest.spyOn(console, 'error');
beforeEach(() => {
  warned.mockReset();
});

const ws = () =>
  createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: bearer(key), lazyCloseTimeout: 0 });

/** Relay as an application sets it up. */
function screen() {
  const line = ws();
  const headers = { ...bearer(key), 'content-type': 'application/json' } as unknown as Record<string, string>;
  const ask = async ({ text: query }: Loose, variables: Loose) =>
    (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })).json();
  const follow = ({ text: query }: Loose, variables: Loose) =>
    Observable.create((sink: Loose) => line.subscribe({ query, variables }, sink));
  const network = Network.create(ask, follow);
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const whole = createOperationDescriptor(made.screenQuery, {});
  environment.retain(whole);
  const read = (fragment: Loose, reference: Loose) => environment.lookup(getSingularSelector(fragment, reference)).data;
  const list = () => read(made.screen_contacts, environment.lookup(whole.fragment).data).contacts;
  return {
    environment,
    fetched: (query: Loose, variables: object = {}) => fetchQuery(environment, query, variables).toPromise(),
    list,
    names: (): string[] => list().edges.map(({ node }: Loose) => read(made.screen_contact, node).firstName),
    write: (mutation: Loose, variables: object) =>
      new Promise<void>((onCompleted, onError) => commitMutation(environment, { mutation, variables, onCompleted, onError })),
    end: () => line.dispose(),
  };
}

const connections = () => [ConnectionHandler.getConnectionID('client:root', 'screen_contacts')];

describe("Relay's compiler", () => {
  it('takes the schema and documents with all of its directives without a warning', () => {
    expect(said).toContain('Compilation completed');
    expect(said).not.toMatch(/warn|error/i);
    expect(Object.keys(made)).toEqual(expect.arrayContaining(['screenPageQuery', 'screenContactQuery', 'screen_contacts']));
  });
});

describe("Relay's runtime", () => {
  it('pages through a list, reads a record again by its id, and changes the list by what is written', async () => {
    const { fetched, list, names, write, end } = screen();
    await fetched(made.screenQuery);
    expect([names(), list().totalCount]).toEqual([['Ada', 'Bea'], 4]);
    await fetched(made.screenPageQuery, { first: 2, after: list().pageInfo.endCursor });
    expect(names()).toEqual(['Ada', 'Bea', 'Cleo', 'Dana']);
    await write(made.screenCreateMutation, { input: { firstName: 'Eve' }, connections: connections() });
    expect(names().at(-1)).toBe('Eve');
    const [{ node: ada }, { node: bea }] = list().edges;
    await write(made.screenDeleteMutation, { id: ada.id, connections: connections() });
    expect(names()).toEqual(['Bea', 'Cleo', 'Dana', 'Eve']);
    await key.gql('mutation ($id: ID!) { updateContact(id: $id, input: { firstName: "Beate" }) { id } }', { id: bea.id });
    await fetched(made.screenContactQuery, { id: bea.id });
    expect(names()).toEqual(['Beate', 'Cleo', 'Dana', 'Eve']);
    expect(warned.mock.calls).toEqual([]);
    await end();
  });

  it('puts what events bring into its store', async () => {
    const { environment, fetched, list, names, end } = screen();
    await fetched(made.screenQuery);
    const { users } = await fetched(made.screenTalkQuery);
    const kinds: string[] = [];
    requestSubscription(environment, {
      ...{ subscription: made.screenSubscription, variables: {} },
      onNext: ({ contactEvents }: Loose) => kinds.push(contactEvents.kind),
    });
    await eventually(() => kinds.includes('ready'));
    const [{ node }] = list().edges;
    await account.owner.gql('mutation ($id: ID!) { updateContact(id: $id, input: { firstName: "Aaron" }) { id } }', { id: node.id });
    await eventually(() => names()[0] === 'Aaron');
    // Who did it has the id of the user, and is none.
    expect(environment.getStore().getSource().get(users.nodes[0].id)).toMatchObject({ __typename: 'User' });
    expect(warned.mock.calls).toEqual([]);
    await end();
  });

  it('keeps records apart whose ids are the same, as those of a contact and of the conversation with them', async () => {
    const contact = await account.contact({ firstName: 'Zoe' });
    await account.owner.post('/messages', { contactId: contact.id, channel: 'sms', direction: 'inbound', body: 'Anybody there?' });
    const { fetched, end, environment } = screen();
    const { conversations } = await fetched(made.screenTalkQuery);
    expect(conversations.edges[0].node).toEqual({
      ...{ contactId: contact.id, lastMessage: { body: 'Anybody there?' } },
      contact: { id: contact.id, firstName: 'Zoe' },
    });
    expect(environment.getStore().getSource().get(contact.id)).toMatchObject({ __typename: 'Contact' });
    expect(warned.mock.calls).toEqual([]);
    await end();
  });
});
