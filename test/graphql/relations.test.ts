import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, keepMessage, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const ask = async (query: string, variables?: Record<string, unknown>) => {
  const { data, errors } = await acme.owner.gql(query, variables);
  expect(errors).toBeUndefined();
  return data;
};

/** The nodes of a list of two and of all its parents, and that the second took no more statements than the first. */
async function nodesOf(list: string, selection: string, statements = 1): Promise<Loose[]> {
  const document = `query ($first: Int) { list: ${list}(first: $first) { nodes { ${selection} } } }`;
  const run = async (first: number) => (await ask(document, { first })).list.nodes;
  const few = await api.statements(() => run(2));
  expect(await api.statements(() => run(50))).toBe(few);
  expect(few).toBe(statements);
  return run(50);
}

const titles = ({ nodes }: Loose): string[] => nodes.map((deal: Loose) => deal.title);

describe('the way back', () => {
  it('leads from tags to the contacts that carry them, newest first', async () => {
    for (const [firstName, tags] of [
      ['Ada', ['a', 'b']],
      ['Bob', ['a']],
      ['Cid', ['a', 'c']],
    ] as const) {
      await acme.contact({ firstName, tags });
      api.clock.advance(1);
    }
    const gone = await acme.contact({ firstName: 'Gone', tags: ['a'] });
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    const tags = await nodesOf('tags', 'name contacts(first: 2) { nodes { firstName } }');
    const names = Object.fromEntries(tags.map((tag) => [tag.name, tag.contacts.nodes.map((c: Loose) => c.firstName)]));
    expect(names).toEqual({ a: ['Cid', 'Bob'], b: ['Ada'], c: ['Cid'] });
  });

  it('leads from pipelines to their deals, newest first, and from their stages as on the board', async () => {
    const pipelines = [await acme.pipeline(), await acme.pipeline(), await acme.pipeline()];
    for (const [i, pipeline] of pipelines.entries()) {
      await acme.deal({ pipeline, title: `${i} first` });
      api.clock.advance(1);
      await acme.deal({ pipeline, title: `${i} second`, stageId: pipeline.stages[1].id });
    }
    const nodes = await nodesOf('pipelines', 'deals { nodes { title } }');
    expect(nodes.map((node) => titles(node.deals))).toEqual([0, 1, 2].map((i) => [`${i} second`, `${i} first`]));
    const [board] = (await ask('{ pipelines(first: 1) { nodes { stages { deals { nodes { title } } } } } }')).pipelines.nodes;
    expect(board.stages.slice(0, 2).map((stage: Loose) => titles(stage.deals))).toEqual([['0 first'], ['0 second']]);
  });

  it('leads from products to the invoices that name them, each once, and from payments to their invoice', async () => {
    const products = [1, 2, 3].map((n) => acme.owner.post('/products', { name: `Product ${n}`, price: n }));
    const [one, two] = (await Promise.all(products)).map(dataOf) as [Loose, Loose];
    const item = (productId: string) => ({ description: 'x', quantity: 1, unitPrice: 10, productId });
    const invoice = await acme.invoice({ items: [item(one.id), item(one.id), item(two.id)] });
    const nodes = await nodesOf('products', 'id invoices { nodes { id } }');
    const invoices = Object.fromEntries(nodes.map((node) => [node.id, node.invoices.nodes]));
    expect([invoices[one.id], invoices[two.id]]).toEqual([[{ id: invoice.id }], [{ id: invoice.id }]]);
    expect(Object.values(invoices)).toContainEqual([]);
    dataOf(await acme.owner.post(`/invoices/${invoice.id}/payments`, { amount: 5 }));
    const query = 'query ($id: ID!) { invoice(id: $id) { author { id } payments { invoice { id total } } } }';
    const whole = (await ask(query, { id: invoice.id })).invoice;
    expect(whole).toEqual({ author: { id: acme.ownerId }, payments: [{ invoice: { id: invoice.id, total: 30 } }] });
  });
});

describe('the way back to what was written', () => {
  it('leads from users to the notes that they wrote', async () => {
    await acme.member();
    for (const body of ['one', 'two']) {
      dataOf(await acme.owner.post('/notes', { body }));
      api.clock.advance(1);
    }
    const users = await nodesOf('users', 'id notes { nodes { body author { id } } }');
    const notes = Object.fromEntries(users.map((user) => [user.id, user.notes.nodes]));
    expect(notes[acme.ownerId]).toEqual(['two', 'one'].map((body) => ({ body, author: { id: acme.ownerId } })));
    expect(Object.values(notes)).toContainEqual([]);
  });

  it('leads from companies to their changes', async () => {
    const [first, second] = [await acme.company({ name: 'First' }), await acme.company({ name: 'Second' })];
    api.clock.advance(1);
    dataOf(await acme.owner.patch(`/companies/${first.id}`, { city: 'Lisbon' }));
    const companies = await nodesOf('companies', 'id activities { nodes { type } }');
    const types = Object.fromEntries(companies.map(({ id, activities }) => [id, activities.nodes.map((a: Loose) => a.type)]));
    expect([types[first.id], types[second.id]]).toEqual([['company.updated', 'company.created'], ['company.created']]);
  });

  it('leads from imports to the contacts that they made, and from these to them', async () => {
    const keep = async (...names: string[]) =>
      dataOf(await acme.owner.post('/imports', { rows: names.map((firstName) => ({ firstName })) })).id as string;
    const [two, one, none] = [await keep('Im', 'Port'), await keep('Alone'), await keep('Nobody yet')];
    for (const id of [two, one]) {
      dataOf(await acme.owner.post(`/imports/${id}/process`));
      await eventually(async () => dataOf(await acme.owner.get(`/imports/${id}`)).status === 'completed');
    }
    const nodes = await nodesOf('imports', 'id contacts { nodes { firstName import { id } } }');
    const imports = Object.fromEntries(nodes.map(({ id, contacts }) => [id, contacts.nodes.map((c: Loose) => c.import.id)]));
    expect([imports[two], imports[one], imports[none]]).toEqual([[two, two], [one], []]);
    await acme.contact({ firstName: 'Byhand' });
    expect((await ask('{ contacts(filter: { search: "Byhand" }) { nodes { import { id } } } }')).contacts.nodes).toEqual([
      { import: null },
    ]);
  });
});

describe('the way back over contacts', () => {
  it('leads from companies to the messages of their contacts, the newest first', async () => {
    const [first, second] = [await acme.company(), await acme.company()];
    const [ada, bob, gone] = [
      await acme.contact({ firstName: 'Ada', companyId: first.id }),
      await acme.contact({ firstName: 'Bob', companyId: first.id }),
      await acme.contact({ firstName: 'Gone', companyId: second.id }),
    ];
    for (const [contact, body] of [
      [ada, 'one'],
      [bob, 'two'],
      [gone, 'three'],
      [await acme.contact(), 'four'],
    ] as const) {
      await keepMessage(acme, contact, 'inbound', { body });
      api.clock.advance(1);
    }
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    const nodes = await nodesOf('companies', 'id messages { nodes { body contact { firstName } } }');
    const messages = Object.fromEntries(nodes.map((company) => [company.id, company.messages.nodes]));
    expect(messages[first.id]).toEqual([
      { body: 'two', contact: { firstName: 'Bob' } },
      { body: 'one', contact: { firstName: 'Ada' } },
    ]);
    expect(messages[second.id]).toEqual([]);
    const written = '{ companies(where: { messages: { some: { body: { eq: "two" } } } }) { nodes { id } } }';
    expect((await ask(written)).companies.nodes).toEqual([{ id: first.id }]);
  });
});

describe('a way back', () => {
  it('is refused to a key without the scope of what it leads to', async () => {
    const key = await acme.key({ scopes: ['tags', 'products', 'companies'] });
    for (const query of [
      '{ tags { nodes { contacts { nodes { id } } } } }',
      '{ products { nodes { invoices { nodes { id } } } } }',
      '{ companies { nodes { activities { nodes { id } } } } }',
      '{ companies { nodes { messages { nodes { id } } } } }',
    ])
      expectGraphQLRefusal(await key.gql(query), 403);
  });

  it('takes a count of at least 1', async () => {
    expectGraphQLRefusal(await acme.owner.gql('{ tags { nodes { contacts(first: 0) { nodes { id } } } } }'), 400, 'first');
  });
});
