import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DocumentNode, OperationTypeNode, print } from 'graphql';
import { GraphQLClient } from 'graphql-request';
import * as documents from '../../src/generated/client/documents.js';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';
import { Socket } from '../support/live.js';
import { codeBlocks } from '../support/readme.js';

let crm: TestServer;
let acme: Account;
let secret: string;
let client: GraphQLClient;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  await acme.pipeline();
  ({ secret } = await acme.key());
  client = new GraphQLClient(`http://127.0.0.1:${crm.wire.port}/graphql`, { headers: { authorization: `Bearer ${secret}` } });
});
afterAll(() => crm.close());

/** The operations of the package by their names. */
const operations = Object.values(documents as Record<string, DocumentNode>).flatMap((document) =>
  (document.definitions ?? []).flatMap((one) => (one.kind === 'OperationDefinition' ? [[one.name!.value, document, one] as const] : [])),
);
const ofKind = (kind: OperationTypeNode) =>
  operations.filter(([, , { operation }]) => operation === kind).map(([name, document]) => [name, document] as const);

describe('crm-server/documents', () => {
  it('has each operation of its file', () => {
    const named = [...readFileSync('src/client/documents.graphql', 'utf8').matchAll(/^(?:query|mutation|subscription) (\w+)/gm)];
    expect(operations.map(([name]) => name).sort()).toEqual(named.map(([, name]) => name).sort());
    expect(operations.length).toBeGreaterThan(15);
  });

  it('makes, reads, changes, moves and deletes', async () => {
    const { createContact: ada } = await client.request(documents.CreateContactDocument, {
      input: { firstName: 'Ada', lastName: 'Typed' },
    });
    await client.request(documents.UpdateContactDocument, { id: ada.id, input: { company: 'Analytical' } });
    const { contacts } = await client.request(documents.ContactsDocument, { filter: { search: 'Typed' }, orderBy: [{ lastName: 'asc' }] });
    expect(contacts).toMatchObject({ nodes: [{ id: ada.id, company: 'Analytical' }], pageInfo: { hasNextPage: false } });
    const { pipeline } = await client.request(documents.PipelineDocument, {});
    const [first, second] = pipeline!.stages;
    const input = { title: 'Typed', contactId: ada.id, pipelineId: pipeline!.id, stageId: first!.id };
    const { createDeal } = await client.request(documents.CreateDealDocument, { input });
    const { moveDeal } = await client.request(documents.MoveDealDocument, { id: createDeal.id, stageId: second!.id });
    expect(moveDeal.stageId).toBe(second!.id);
    const { contact } = await client.request(documents.ContactDocument, { id: ada.id });
    expect(contact!.deals.nodes).toMatchObject([{ id: createDeal.id, title: 'Typed' }]);
    const { deleteContact } = await client.request(documents.DeleteContactDocument, { id: ada.id });
    expect(deleteContact.deletedId).toBe(ada.id);
  });

  it.each(ofKind(OperationTypeNode.QUERY).filter(([name]) => name !== 'Contact'))('%s is answered as it is', async (_, document) => {
    expect(Object.keys(await client.request<Loose>(document))).toHaveLength(1);
  });

  it.each(ofKind(OperationTypeNode.SUBSCRIPTION))('%s tells the first thing at once, and can go on', async (_, document) => {
    const text = print(document);
    expect(text).toContain('after: $after');
    const socket = await Socket.open(crm.wire.port, { init: { Authorization: `Bearer ${secret}` } });
    const feed = socket.run(text);
    expect(await feed.nth(1)).toHaveLength(1);
    socket.cut();
  });
});

describe('the example of the guide', () => {
  it('does what it says, with the package as it is exported', async () => {
    const [code] = codeBlocks('ts', readFileSync('docs/guide/clients.md', 'utf8'));
    const here = code!.replaceAll('127.0.0.1:4000', `127.0.0.1:${crm.wire.port}`);
    const env = { ...process.env, CRM_KEY: secret };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', here], { env });
    expect(stdout).toBe('true\n');
  });
});
