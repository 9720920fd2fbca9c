import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Documents } from '../support/documents.js';
import { type Filled, fill } from '../support/filled.js';
import { type Client, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';
import { curlCalls } from '../support/readme.js';

let api: TestServer;
/** The same with little to spend, and without a limit before it. */
let small: TestServer;
const little = { cost: 10 ** 15, records: 300, bytes: 60_000 };
let honest: Filled;
let greedy: Filled;
beforeAll(async () => {
  api = await server();
  small = await server({ config: { graphql: { ...api.app.config.graphql, ...little } } });
  honest = await fill(await api.seed.account());
  greedy = await fill(await small.seed.account());
});
afterAll(() => Promise.all([api.close(), small.close()]));

interface Answer {
  status: number;
  data: Loose;
  errors?: Loose[];
  cost: { estimated: number; records: number; bytes: number };
  /** The text of `data`. */
  text: string;
}

async function ask(who: Client, query: string, variables?: Loose): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const {
    status,
    body,
    text: sent,
  } = await who.raw({ method: 'POST', path: '/graphql', headers, payload: JSON.stringify({ query, variables }) });
  return { status, data: body.data, errors: body.errors, cost: body.extensions.cost, text: /"data":(.*)\}$/s.exec(sent)?.[1] ?? 'null' };
}

/** How many items all lists of objects in it have. */
function itemsIn(value: Loose): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce((sum: number, member) => sum + itemsIn(member), 0);
  return Array.isArray(value) ? inside + value.filter((item) => typeof item === 'object' && item !== null).length : inside;
}

const round = ({ ids }: Filled, levels: number) =>
  `{ invoicePayments(id: "${ids.invoice}") ${'{ invoice { payments '.repeat(levels)}{ id }${' } }'.repeat(levels)} }`;
const duplicates =
  '{ duplicateContacts(first: 200) { nodes { contacts { assignedUser { contacts(first: 200) { nodes { assignedUser { contacts(first: 200) { nodes { id } } } } } } } } } }';
const stages = (levels: number) => `${'stages { pipeline { '.repeat(levels)}id${' } }'.repeat(levels)}`;

describe('a document that could read too much', () => {
  it.each<[string, () => string, string]>([
    ['payments of invoices', () => round(honest, 3), 'invoicePayments.invoice.payments.invoice.payments.invoice.payments'],
    ['contacts of users', () => duplicates, 'duplicateContacts.nodes.contacts.assignedUser.contacts.nodes.assignedUser.contacts'],
    [
      'stages of pipelines',
      () => `{ pipeline(id: "${honest.ids.pipeline}") { ${stages(3)} } }`,
      'pipeline.stages.pipeline.stages.pipeline.stages',
    ],
    [
      'a list in a connection',
      () => '{ contacts(first: 200) { nodes { tags { contacts(first: 200) { nodes { tags { id } } } } } } }',
      'contacts.nodes.tags.contacts.nodes.tags',
    ],
  ])('is refused before it runs, naming where most of it is: %s', async (_what, query, path) => {
    const { status, data, errors, cost } = await ask(honest.caller, query());
    expect([status, data, errors?.length]).toEqual([200, undefined, 1]);
    const setting = { limit: 'cost', setting: 'GRAPHQL_MAX_COST', most: 1_000_000 };
    expect(errors?.[0].extensions).toMatchObject({ code: 'invalid_request', status: 400, ...setting, path: expect.stringContaining(path) });
    expect(errors?.[0].message).toContain(`Most of them are at ${path}`);
    expect(cost).toMatchObject({ records: 0, bytes: 0 });
    expect(cost.estimated).toBeGreaterThan(1_000_000);
  });
});

describe('a document that reads too much', () => {
  it('ends when its records are spent', async () => {
    const { status, data, errors, cost } = await ask(greedy.caller, round(greedy, 3));
    expect([status, data, errors?.length]).toEqual([200, undefined, 1]);
    expect(errors?.[0]).toMatchObject({
      message: 'The operation reads more than 300 records, the limit GRAPHQL_MAX_RECORDS. Ask for smaller pages or fewer fields',
      extensions: { code: 'invalid_request', status: 400, limit: 'records', setting: 'GRAPHQL_MAX_RECORDS', most: 300 },
    });
    expect(cost.records).toBeLessThan(330);
    expect((await ask(greedy.caller, round(greedy, 1))).errors).toBeUndefined();
  });

  it('ends when its bytes are spent', async () => {
    const same = Array.from({ length: 25 }, (_, i) => `f${i}: customFields`).join(' ');
    const { status, data, errors } = await ask(greedy.caller, `{ contacts { nodes { ${same} } } }`);
    expect([status, data, errors?.length]).toEqual([200, undefined, 1]);
    expect(errors?.[0].extensions).toMatchObject({ code: 'invalid_request', limit: 'bytes', setting: 'GRAPHQL_MAX_BYTES', most: 60_000 });
  });

  it('changes nothing', async () => {
    const inside = 'tags { contacts(first: 200) { nodes { tags { contacts(first: 200) { nodes { tags { id } } } } } } }';
    const change = `updateContact(id: "${greedy.ids.contact}", input: { firstName: "Changed" }) { ${inside} }`;
    const { status, errors } = await ask(greedy.caller, `mutation { createTag(input: { name: "new" }) { id } ${change} }`);
    expect([status, errors?.[0].extensions.limit]).toEqual([200, 'records']);
    expect((await greedy.caller.get('/tags')).body.meta.total).toBe(3);
    expect(dataOf(await greedy.caller.get(`/contacts/${greedy.ids.contact}`)).firstName).toBe('Ada');
  });
});

describe('a bulk edit whose answer shows too many records', () => {
  const edit = `mutation ($filters: JSONObject!) { bulkEditContacts(input: { filters: $filters, changes: { jobTitle: "After" } }) {
    succeeded results { record { ... on Contact { tags { id } } } } } }`;

  it('tells what was done, with errors in the place of what is not shown, and so again under its key', async () => {
    const { owner } = await small.seed.account();
    const tags = Array.from({ length: 10 }, (_, n) => `tag ${n}`);
    for (let n = 0; n < 40; n++) dataOf(await owner.post('/contacts', { firstName: 'Ada', jobTitle: 'Before', tags }));
    const filters = { field: 'jobTitle', op: 'eq', value: 'Before' };
    const key = { 'idempotency-key': crypto.randomUUID() };
    const first = await owner.gql(edit, { filters }, key);
    expect([first.status, first.data?.bulkEditContacts.succeeded]).toEqual([200, 40]);
    const unshown = first.data.bulkEditContacts.results.filter(({ record }: Loose) => record === null).length;
    expect(unshown).toBeGreaterThan(0);
    expect(unshown).toBeLessThan(40);
    const told = {
      path: expect.arrayContaining(['results', 'record']),
      extensions: { code: 'invalid_request', status: 400, limit: 'records' },
    };
    for (const error of first.errors!) expect(error).toMatchObject(told);
    expect(first.errors).toHaveLength(unshown);
    const again = await owner.gql(edit, { filters }, key);
    expect([again.headers['idempotent-replayed'], again.data]).toEqual(['true', first.data]);
    const wordsOf = (errors: Loose[] = []) => errors.map(({ message, path, extensions }) => ({ message, path, limit: extensions.limit }));
    expect(wordsOf(again.errors)).toEqual(wordsOf(first.errors));
    expect(dataOf(await owner.get('/contacts')).data[0].jobTitle).toBe('After');
  });
});

describe('a mutation whose answer is too large', () => {
  it('is refused, and nothing is done', async () => {
    for (let i = 0; i < 8; i++) dataOf(await greedy.caller.post('/notes', { body: 'x'.repeat(9000), contactId: greedy.ids.contact }));
    const title = 'Never made';
    const query = `mutation { createTask(input: { title: "${title}", contactId: "${greedy.ids.contact}" }) { contact { notes(first: 10) { nodes { body } } } } }`;
    const { status, data, errors } = await ask(greedy.caller, query);
    expect([status, data, errors?.length]).toEqual([200, undefined, 1]);
    expect(errors?.[0].extensions).toMatchObject({ code: 'invalid_request', limit: 'bytes' });
    expect(dataOf(await greedy.caller.get('/tasks?per_page=200')).data.filter((task: Loose) => task.title === title)).toEqual([]);
  });
});

describe('every answer', () => {
  it('tells what it was taken for and what it has cost', async () => {
    const { cost, text } = await ask(honest.caller, '{ contacts(first: 50) { totalCount nodes { firstName tags { name } } } }');
    expect(cost).toEqual({ estimated: 50 * 101, records: 6 * 4, bytes: Buffer.byteLength(text) });
  });

  it('counts what is beyond ASCII in bytes', async () => {
    const caller = await (await api.seed.account()).key();
    const contact = dataOf(await caller.post('/contacts', { firstName: 'Zoë ☃ 🎉' }));
    const { cost, text } = await ask(caller, `{ contact(id: "${contact.id}") { firstName } }`);
    expect(cost).toEqual({ estimated: 1, records: 1, bytes: Buffer.byteLength(text) });
  });
});

describe('an honest document', () => {
  const board = `query Board($id: ID!) { pipeline(id: $id) { id name stages { id name color probability deals(first: 50) { nodes { id title value currency status expectedCloseDate contact { id firstName lastName email tags { name } } company { id name }
    assignedUser { id name } } } } } }`;
  const contactPage = `query ContactPage($id: ID!) { contact(id: $id) { id firstName lastName email phone company customFields
    tags { id name color } assignedUser { id name email } companyRecord { id name domain }
    deals(first: 50) { nodes { id title value stage { name } pipeline { name } products { quantity name } } }
    tasks(first: 50) { nodes { id title dueDate assignedUser { name } } } notes(first: 50) { nodes { id body author { name } } }
    invoices(first: 50) { nodes { id invoiceNumber total items { description amount } payments { amount paidAt } } }
    activities(first: 50) { nodes { id type title } } } }`;
  const list = `query List($first: Int, $after: String) { contacts(first: $first, after: $after) { totalCount
    nodes { id firstName lastName email tags { name } assignedUser { name } companyRecord { name } } pageInfo { hasNextPage endCursor } } }`;

  it.each([
    ['the board', board, { id: 'pipeline' }],
    ['the contact page', contactPage, { id: 'contact' }],
    ['the largest page of a list', list, {}],
    ['invoices with all that is in them', '{ invoices(first: 50) { nodes { id items { id description } payments { id amount } } } }', {}],
  ])('passes: %s', async (_what, query, given) => {
    const about = Object.entries(given).map(([name, of]) => [name, honest.ids[of]]);
    const { status, errors, cost } = await ask(honest.caller, query, { first: 200, ...Object.fromEntries(about) });
    expect([status, errors]).toEqual([200, undefined]);
    expect(cost.records).toBeLessThanOrEqual(cost.estimated);
  });

  it('passes: those of the README', async () => {
    const documents = curlCalls(() => '').flatMap(({ body }) => (body?.includes('"query"') ? [JSON.parse(body).query as string] : []));
    expect(documents.length).toBeGreaterThan(2);
    for (const query of documents.filter((text) => !text.startsWith('subscription'))) {
      const { status, errors } = await ask(honest.caller, query);
      expect([status, errors]).toEqual([200, undefined]);
    }
  });
});

it('no document reads or answers more than its budget, and none more than it was taken for', async () => {
  const documents = new Documents(small.schema, greedy.ids);
  let answered = 0;
  let ended = 0;
  const property = fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 5, maxLength: 60 }), async (choices) => {
    const { data, errors, cost, text } = await ask(greedy.caller, documents.query(choices));
    const setting = errors?.[0].extensions.setting;
    if (setting) {
      ended++;
      expect(data).toBeUndefined();
      expect(setting).toMatch(/^GRAPHQL_MAX_/);
      return;
    }
    if (data) answered++;
    expect(cost.records).toBeLessThanOrEqual(little.records);
    expect(itemsIn(data)).toBeLessThanOrEqual(Math.min(cost.records, cost.estimated));
    expect(cost.bytes).toBeLessThanOrEqual(little.bytes);
    expect(Buffer.byteLength(text)).toBe(cost.bytes || 4);
  });
  await fc.assert(property, { numRuns: 1000 });
  expect(answered).toBeGreaterThan(100);
  expect(ended).toBeGreaterThan(10);
});
