import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  BoardQuery,
  BoardQueryVariables,
  ColumnQuery,
  ColumnQueryVariables,
  ContactCardQuery,
  ContactCardQueryVariables,
  ContactPageQuery,
  ContactPageQueryVariables,
  DealFeedQuery,
  DealFeedQueryVariables,
  NewContactMutation,
  NewContactMutationVariables,
} from '../../src/generated/operations.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

const document = readFileSync('test/graphql/operations.graphql', 'utf8');

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Sends one of the document's operations, as a client with generated types does. */
async function send<Data, Variables>(operationName: string, variables: Variables): Promise<Data> {
  const payload = JSON.stringify({ query: document, operationName, variables });
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) };
  const { body } = await acme.owner.raw({ method: 'POST', path: '/graphql', payload, headers });
  expect(body.errors).toBeUndefined();
  return body.data;
}

describe('a client with types generated from schema/schema.graphql', () => {
  it('names the operation to run, and gets what its types say', async () => {
    for (const firstName of ['Ada', 'Grace', 'Barbara']) {
      const input: NewContactMutationVariables['input'] = { firstName, company: 'Bell Labs', tags: ['VIP'] };
      const { createContact } = await send<NewContactMutation, NewContactMutationVariables>('NewContact', { input });
      expect(createContact).toMatchObject({ email: null, tags: [{ name: 'VIP', color: '#6B7280' }] });
    }
    const page = (variables: ContactPageQueryVariables) => send<ContactPageQuery, ContactPageQueryVariables>('ContactPage', variables);
    const { contacts } = await page({ first: 2, filter: { tags: ['vip'] } });
    expect(contacts.totalCount).toBe(3);
    expect(contacts.nodes.map(({ firstName, tags }) => [firstName, tags])).toEqual([
      ['Barbara', [{ name: 'VIP' }]],
      ['Grace', [{ name: 'VIP' }]],
    ]);
    const rest = await page({ first: 2, after: contacts.pageInfo.endCursor, filter: { tags: ['vip'] } });
    expect(rest.contacts.nodes.map(({ firstName }) => firstName)).toEqual(['Ada']);
    expect(rest.contacts.pageInfo.hasNextPage).toBe(false);
    const chosen = await page({
      where: { or: [{ firstName: { in: ['Ada', 'Grace'] } }, { tags: { none: {} } }], not: { deals: { some: {} } } },
      orderBy: [{ company: 'asc' }, { firstName: 'desc' }],
    });
    expect(chosen.contacts.nodes.map(({ firstName }) => firstName)).toEqual(['Grace', 'Ada']);
  });
});

let pipeline: Loose;
let contact: Loose;
/** The titles of the deals of the first column, as the board shows them. */
let first: string[];

beforeAll(async () => {
  const stages = ['New', 'Talked', 'Offered', 'Agreed', 'Won', 'Lost'].map((name) => ({
    name,
    isWon: name === 'Won',
    isLost: name === 'Lost',
  }));
  pipeline = await acme.pipeline({ stages });
  contact = await acme.contact({ firstName: 'Ada', lastName: 'Lovelace', tags: ['Partner'] });
  for (const [i, stage] of pipeline.stages.entries()) {
    for (let n = 0; n < 4; n++) {
      await acme.deal({
        pipeline,
        stageId: stage.id,
        title: `${stage.name} ${n}`,
        value: 100 * i + n + 0.5,
        contactId: n % 2 ? contact.id : null,
      });
      api.clock.advance(1);
    }
  }
  dataOf(await acme.owner.post('/notes', { body: 'Called', contactId: contact.id }));
  await acme.task({ title: 'Call again', contactId: contact.id });
  first = ['New 0', 'New 1', 'New 2', 'New 3'];
});

const card = (id: string) => send<ContactCardQuery, ContactCardQueryVariables>('ContactCard', { id });
const board = (variables: BoardQueryVariables) => send<BoardQuery, BoardQueryVariables>('Board', variables);
const column = (variables: ColumnQueryVariables) => send<ColumnQuery, ColumnQueryVariables>('Column', variables);
const feed = (variables: DealFeedQueryVariables) => send<DealFeedQuery, DealFeedQueryVariables>('DealFeed', variables);

describe('a screen', () => {
  it('of a contact is one statement', async () => {
    const { contact: shown } = await card(contact.id);
    expect(shown).toMatchObject({ name: 'Ada Lovelace', tags: [{ name: 'Partner' }], deals: { totalCount: 12 }, tasks: { totalCount: 1 } });
    expect(shown!.deals.nodes).toHaveLength(10);
    expect(shown!.notes.nodes[0]).toMatchObject({ body: 'Called', author: { id: acme.ownerId } });
    expect(await api.statements(() => card(contact.id))).toBe(1);
  });

  it('of a board is one statement: six columns with their totals, each deal with its contact', async () => {
    const { pipeline: shown } = await board({ id: pipeline.id });
    expect(shown!.stages).toHaveLength(6);
    for (const { deals } of shown!.stages) expect([deals.totalCount, deals.nodes.length]).toEqual([4, 4]);
    expect(shown!.stages[0]!.deals.nodes.map(({ title, contact: of }) => [title, of?.name])).toEqual(
      first.map((title, n) => [title, n % 2 ? 'Ada Lovelace' : undefined]),
    );
    expect(await api.statements(() => board({ id: pipeline.id }))).toBe(1);
  });

  it('of the default pipeline needs no id', async () => {
    const other = await api.seed.account();
    const theirs = await other.pipeline();
    const { data } = await other.owner.gql('{ pipeline { id isDefault } }');
    expect(data.pipeline).toEqual({ id: theirs.id, isDefault: true });
    expect((await other.owner.gql('{ pipeline(id: null) { id statistics { dealCount } } }')).data.pipeline.id).toBe(theirs.id);
    const { pipeline: own } = await board({});
    expect(own!.id).toBe(
      (await acme.owner.gql('{ pipelines(first: 200) { nodes { id isDefault } } }')).data.pipelines.nodes.find((p: Loose) => p.isDefault)
        .id,
    );
    expect(await api.statements(() => board({}))).toBe(1);
    const none = await api.seed.account();
    expect((await none.owner.gql('{ pipeline { id } }')).errors![0].extensions.status).toBe(404);
  });
});

describe('paging', () => {
  it('goes on in one column by the cursor of the board, alone or in the list of all deals', async () => {
    const stageId = pipeline.stages[0].id as string;
    const { deals } = (await board({ id: pipeline.id, first: 2 })).pipeline!.stages[0]!;
    expect(deals.nodes.map(({ title }) => title)).toEqual(first.slice(0, 2));
    const after = deals.pageInfo.endCursor;
    const { node } = await column({ stageId, first: 2, after });
    const stage = node as Extract<typeof node, { deals: unknown }>;
    expect(stage!.deals.nodes.map(({ title }) => title)).toEqual(first.slice(2));
    expect(stage!.deals.pageInfo.hasNextPage).toBe(false);
    const listed = (await feed({ filter: { stageId }, after })).deals;
    expect([listed.totalCount, listed.edges.map((edge) => edge.node.title)]).toEqual([4, first.slice(2)]);
    const [own, rest] = [(await feed({ filter: { stageId }, first: 3 })).deals, { filter: { stageId } }];
    expect((await feed({ ...rest, after: own.pageInfo.endCursor })).deals.edges.map((edge) => edge.node.title)).toEqual(first.slice(3));
    const wrong = await acme.owner.gql(`{ deals(sort: title, after: "${after}") { nodes { id } } }`);
    expect(wrong.errors![0].extensions.details).toMatchObject([{ field: 'after' }]);
  });

  it('without an end is one statement a page, and pages through all of it once', async () => {
    const titles: string[] = [];
    let after: string | null | undefined;
    do {
      const { deals } = await feed({ filter: { pipelineId: pipeline.id }, sort: 'value', order: 'asc', first: 7, after });
      titles.push(...deals.edges.map(({ node }) => `${node.title} in ${node.stage.name}`));
      expect(deals.totalCount).toBe(24);
      after = deals.pageInfo.hasNextPage ? deals.pageInfo.endCursor : null;
    } while (after);
    expect(titles).toEqual(pipeline.stages.flatMap(({ name }: Loose) => [0, 1, 2, 3].map((n) => `${name} ${n} in ${name}`)));
    const { endCursor } = (await feed({ first: 7 })).deals.pageInfo;
    expect(await api.statements(() => feed({ first: 7, after: endCursor }))).toBe(1);
  });
});

describe('the name of a contact', () => {
  it.each([
    [{ firstName: 'Ada', lastName: 'Lovelace', company: 'Engines' }, 'Ada Lovelace'],
    [{ lastName: 'Lovelace', email: 'a@example.com' }, 'Lovelace'],
    [{ company: 'Engines', email: 'a@example.com' }, 'Engines'],
    [{ email: 'a@example.com', phone: '+14155550123' }, 'a@example.com'],
    [{ phone: '+14155550123' }, '+14155550123'],
  ])('of %j is %s, printed and by resolvers', async (fields, name) => {
    const { id } = await acme.contact(fields);
    expect((await acme.owner.gql(`{ contact(id: "${id}") { name } }`)).data.contact.name).toBe(name);
    expect((await acme.owner.gql(`{ contact(id: "${id}") { name } contactSmartViews { key } }`)).data.contact.name).toBe(name);
    const { data } = await acme.owner.gql(`mutation { updateContact(id: "${id}", input: { jobTitle: "x" }) { name } }`);
    expect(data.updateContact.name).toBe(name);
  });
});

describe('a relation whose id is never null', () => {
  it('is never null either, printed and by resolvers, also where what it leads to is deleted with its own', async () => {
    const { owner } = acme;
    const [gone] = [await acme.pipeline()];
    const document = (aside: string) => `{ deals(first: 1) { nodes { stage { id pipeline { id } } pipeline { id } } } ${aside} }`;
    await acme.deal({ pipeline: gone });
    for (const aside of ['', 'contactSmartViews { key }']) {
      const { data, errors } = await owner.gql(document(aside));
      expect(errors).toBeUndefined();
      expect(data.deals.nodes[0]).toMatchObject({ pipeline: { id: gone.id }, stage: { pipeline: { id: gone.id } } });
    }
  });
});
