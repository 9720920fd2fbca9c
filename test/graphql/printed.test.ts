import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoServer } from '../support/demoServer.js';
import { type Account, type Client, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { DocumentWriter, drawing, fromTheBeginning, goingOn, listsOfSingles } from '../support/printable.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await fill();
});
afterAll(() => api.close());

/** A small workspace in which everything leads to everything, some of it to what is deleted. */
async function fill(): Promise<void> {
  const member = await acme.member();
  const head = await acme.company({ name: 'Head', annualRevenue: 1234.5, ownerId: acme.ownerId });
  const companies = [head, await acme.company({ name: 'Branch', parentCompanyId: head.id }), await acme.company({ name: 'Gone' })];
  const contacts: Loose[] = [];
  for (const [i, firstName] of ['Ada', 'Bob', 'Cid "x"\n\\', 'Dée', null, 'Eve'].entries()) {
    const attribution = i % 2 ? { utm_source: 'ads', clickIds: { g: i } } : null;
    const links = { companyId: companies[i % 3]!.id, assignedTo: i % 2 ? acme.ownerId : member.userId };
    contacts.push(
      await acme.contact({
        firstName,
        email: `p${i}@example.com`,
        tags: ['a', `t${i % 2}`],
        attribution,
        customFields: { n: i, 'o k': [1, null] },
        ...links,
      }),
    );
    api.clock.advance(i % 2 ? 1 : 0);
  }
  const pipeline = await acme.pipeline();
  const deals: Loose[] = [];
  for (let i = 0; i < 7; i++) {
    const products =
      i % 2
        ? [
            { name: 'a', unitPrice: 1.5 },
            { name: 'b', unitPrice: 10, quantity: 2, discount: 0.25 },
          ]
        : [];
    const links = { contactId: contacts[i % 6]!.id, companyId: companies[i % 3]!.id, assignedTo: acme.ownerId };
    deals.push(
      await acme.deal({ pipeline, stageId: pipeline.stages[i % 3].id, expectedCloseDate: i % 2 ? '2030-01-02' : null, products, ...links }),
    );
    await acme.task({
      title: `Task ${i}`,
      contactId: contacts[i % 6]!.id,
      dealId: deals[i]!.id,
      assignedTo: acme.ownerId,
      dueDate: i % 2 ? '2030-05-06' : null,
    });
    dataOf(
      await acme.owner.post('/notes', { body: `Note ${i}`, isPinned: i % 3 === 0, contactId: contacts[i % 6]!.id, dealId: deals[i]!.id }),
    );
  }
  const product = dataOf(await acme.owner.post('/products', { name: 'Hours', price: 12.5 }));
  const items = [{ description: 'x', quantity: 1.5, unitPrice: 10, productId: product.id }];
  const invoice = await acme.invoice({ items, contactId: contacts[0]!.id, companyId: head.id, dealId: deals[0]!.id });
  dataOf(await acme.owner.post(`/invoices/${invoice.id}/payments`, { amount: 5 }));
  await acme.invoice({ contactId: contacts[1]!.id });
  dataOf(await acme.owner.post('/imports', { rows: [{ firstName: 'Im' }] }));
  dataOf(await acme.owner.post('/smart-lists', { name: 'All', filters: { field: 'firstName', op: 'is_not_null' } }));
  for (const path of [`/companies/${companies[2]!.id}`, `/contacts/${contacts[5]!.id}`, `/deals/${deals[6]!.id}`])
    dataOf(await acme.owner.del(path));
}

// A root field that is no declared read: with it, the whole document runs field by field.
const aside = 'aside: contactSmartViews { key }';
const variables = { yes: true, search: 'a' };
const declared = '($yes: Boolean = true, $search: String)';

const used = (text: string) => {
  const names = declared
    .slice(1, -1)
    .split(', ')
    .filter((variable) => text.includes(variable.split(':')[0]!));
  return names.length > 0 ? `(${names.join(', ')})` : '';
};

const plain = (errors: Loose[] | undefined) =>
  errors?.map(({ message, path, extensions: { requestId: _id, ...rest } }) => ({ message, path, ...rest }));

/** JSON without the space between its tokens. */
const tight = (text: string) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/** Both ways to the same answer: the text of its data besides. */
async function bothWays(text: string, fragments = '', client: Pick<Client, 'raw'> = acme.owner) {
  const ask = async (roots: string) => {
    const payload = JSON.stringify({ query: `query ${used(roots + fragments)} { ${roots} } ${fragments}`, variables });
    const reply = await client.raw({ method: 'POST', path: '/graphql', payload, headers: { 'content-type': 'application/json' } });
    const { data, errors } = reply.body as Loose;
    expect(errors?.some((error: Loose) => error.extensions.status === 500)).not.toBe(true);
    return { data, errors: plain(errors), text: tight(/"data":(.*)\}$/s.exec(reply.text)?.[1] ?? '') };
  };
  const [printed, compiled] = [await ask(text), await ask(`${text} ${aside}`)];
  if (!compiled.data) return { printed, compiled: { ...compiled, text: printed.text } };
  const { aside: _aside, ...data } = compiled.data;
  return { printed, compiled: { ...compiled, data, text: compiled.text.replace(/,"aside":[^\]]*\]\}$/, '}') } };
}

/** The same from the cursors that the lists of a document answer. */
async function goesOnBothWays(text: string, fragments: string, client: Pick<Client, 'raw'>) {
  const begun = await bothWays(fromTheBeginning(text), fragments, client);
  expect(begun.printed).toEqual(begun.compiled);
  expect(begun.printed.errors).toBeUndefined();
  const further = goingOn(text, begun.printed.data);
  if (further === fromTheBeginning(text)) return false;
  const { printed, compiled } = await bothWays(further, fragments, client);
  expect(printed).toEqual(compiled);
  expect(printed.errors).toBeUndefined();
  return true;
}

describe('a document of columns and relations', () => {
  const documents = fc.integer({ min: 0, max: 2 ** 31 }).map((seed) => ({ seed, ...new DocumentWriter(drawing(seed)).write() }));

  it('is answered as it is field by field', async () => {
    const property = fc.asyncProperty(documents, async ({ text, fragments }) => {
      await goesOnBothWays(text, fragments, acme.owner);
    });
    await fc.assert(property, { numRuns: 40, endOnFailure: true });
  });

  it('takes one statement, however much it selects', async () => {
    const property = fc.asyncProperty(documents, async ({ text, fragments }) => {
      const whole = fromTheBeginning(text);
      expect([
        whole,
        await api.statements(() => acme.owner.gql(`query ${used(whole + fragments)} { ${whole} } ${fragments}`, variables)),
      ]).toEqual([whole, 1]);
    });
    await fc.assert(property, { numRuns: 10, endOnFailure: true });
  });

  it.each([
    'contact(id: "00000000-0000-7000-8000-000000000000") { id }',
    'contact(id: "nonsense") { id }',
    'contacts(first: 0) { nodes { id } }',
    'contacts(after: "nonsense") { nodes { id } }',
    'contacts(first: 1) { nodes { id } } deal(id: "00000000-0000-7000-8000-000000000000") { id }',
    'companies { nodes { deals(first: 201) { nodes { id } } } }',
    'companies { nodes { deals(last: 2, first: 2) { nodes { id } } } }',
    'companies(first: 1) { nodes { deals(before: "x") { nodes { id } } } }',
    'deals(filter: { stale: "never" }) { nodes { id } }',
    'contacts(filter: { filters: { field: "x" } }) { nodes { id } }',
    'contacts(where: { companyId: { in: ["x"] } }) { nodes { id } }',
    'companies { nodes { deals(where: { value: { between: [1] } }) { nodes { id } } } }',
  ])('%s is refused in the same words', async (text) => {
    const { printed, compiled } = await bothWays(text);
    expect(printed.errors).not.toBeUndefined();
    expect(printed).toEqual(compiled);
  });

  it('is refused to a key without the scopes of all that it selects', async () => {
    const key = await acme.key({ scopes: ['contacts'] });
    const { printed, compiled } = await bothWays('contacts { nodes { deals { nodes { id } } } }', '', key);
    expect(printed).toEqual(compiled);
    expect(printed.errors).toMatchObject([{ status: 403 }]);
  });

  it('shows a key of the log what it may read', async () => {
    const key = await acme.key({ scopes: ['contacts', 'activities'] });
    const { printed, compiled } = await bothWays('contacts { nodes { activities { totalCount nodes { type } } } }', '', key);
    expect(printed).toEqual(compiled);
    const types = printed.data.contacts.nodes.flatMap((c: Loose) => c.activities.nodes.map((a: Loose) => a.type as string));
    expect(types).toContain('contact.created');
    expect(types.filter((type: string) => !type.startsWith('contact.'))).toEqual([]);
  });

  it('shows nothing of another account', async () => {
    const other = await api.seed.account();
    const { data } = await other.owner.gql(
      '{ contacts { totalCount nodes { id } } users { nodes { contacts { totalCount } deals { totalCount } } } }',
    );
    expect(data).toEqual({
      contacts: { totalCount: 0, nodes: [] },
      users: { nodes: [{ contacts: { totalCount: 0 }, deals: { totalCount: 0 } }] },
    });
  });
});

describe('a document over a running business', () => {
  let crm: TestServer;
  let demo: Client;
  let ids: Map<string, string[]>;
  beforeAll(async () => {
    ({ crm, demo } = await demoServer());
    const idsOf = async ([type, list]: [string, string]): Promise<[string, string[]]> => {
      const { data, errors } = await demo.gql(`{ ${list}(first: 20) { nodes { id } } }`);
      expect(errors).toBeUndefined();
      return [type, (data as Loose)[list].nodes.map(({ id }: Loose) => id)];
    };
    ids = new Map(await Promise.all([...listsOfSingles].map(idsOf)));
  });
  afterAll(() => crm.close());

  it('is answered as it is field by field, and goes on from its cursors', async () => {
    let gone = 0;
    const documents = fc.integer({ min: 0, max: 2 ** 31 }).map((seed) => ({ seed, ...new DocumentWriter(drawing(seed), ids).write() }));
    const property = fc.asyncProperty(documents, async ({ text, fragments }) => {
      gone += Number(await goesOnBothWays(text, fragments, demo));
    });
    await fc.assert(property, { numRuns: 60, endOnFailure: true });
    expect([gone > 10, [...ids.values()].filter(({ length }) => length > 0).length > 20]).toEqual([true, true]);
  });

  it('is shown to a key, or refused to it, in the same words', async () => {
    const keys = new Map<string, Pick<Client, 'raw'>>();
    const scopesOf = (seed: number) =>
      ['contacts', 'deals', 'messages', 'calls', 'activities', 'settings'].filter((_, nth) => (seed >> nth) % 2).concat('contacts');
    const keyOf = async (scopes: string[]) => {
      const { key } = dataOf(await demo.post('/api-keys', { name: 'Some', permission: 'read', scopes }));
      return crm.anybody().with({ authorization: `Bearer ${key}` });
    };
    const documents = fc.integer({ min: 0, max: 2 ** 31 }).map((seed) => ({ seed, ...new DocumentWriter(drawing(seed), ids).write() }));
    const property = fc.asyncProperty(documents, async ({ seed, text, fragments }) => {
      const scopes = scopesOf(seed);
      const key = keys.get(String(scopes)) ?? (await keyOf(scopes));
      keys.set(String(scopes), key);
      const { printed, compiled } = await bothWays(fromTheBeginning(text), fragments, key);
      expect(printed).toEqual(compiled);
    });
    await fc.assert(property, { numRuns: 40, endOnFailure: true });
  });
});

describe('the names that a client gives', () => {
  it('may be longer than those of PostgreSQL, wherever they stand', async () => {
    const [a, b] = ['a', 'b'].map((last) => 'long'.repeat(16) + last);
    for (const text of [
      `contacts(first: 3) { edges { ${a}: cursor ${b}: cursor } }`,
      `contacts(first: 3) { edges { ${a}: __typename ${b}: node { id } } }`,
      `contacts(first: 3) { nodes { ${a}: id ${b}: firstName } ${a}: totalCount }`,
      `contacts(first: 3) { pageInfo { ${a}: hasNextPage ${b}: endCursor } }`,
      `contacts(first: 3) { nodes { attribution { ${a}: utm_source ${b}: utm_medium } } }`,
      `nodes(ids: ["${acme.id}"]) { ${a}: __typename ${b}: id }`,
    ]) {
      const { printed, compiled } = await bothWays(text);
      expect([text, printed]).toEqual([text, compiled]);
      expect(JSON.stringify(printed)).toContain(`"${a}"`);
    }
  });

  it('may be those that a statement uses', async () => {
    const names = ['n0', 'o', 'x', 'e'];
    for (const name of names) {
      const text = `contacts(first: 3) { nodes { id ${name}: firstName tags { id ${name}: name } attribution { ${name}: utm_source } }
        edges { ${name}: cursor } } companies { edges { node { ${name}: name } } }`;
      const { printed, compiled } = await bothWays(text);
      expect(printed).toEqual(compiled);
      expect(printed.data.contacts.nodes[0]).toHaveProperty(name);
      expect(
        await api.statements(() =>
          acme.owner.gql(`{ ${text} contact(id: "${printed.data.contacts.nodes[0].id}") { ${name}: firstName } }`),
        ),
      ).toBe(1);
    }
  });
});

describe('a nested list', () => {
  it('pages on from its cursor, in itself and in the list of its type', async () => {
    const home = await api.seed.account();
    const pipeline = await home.pipeline();
    const titles = ['a', 'b', 'c', 'd', 'e'];
    for (const title of titles) {
      await home.deal({ pipeline, title });
      home.seed.app.clock.now();
      api.clock.advance(1);
    }
    const stageId = pipeline.stages[0].id as string;
    const column = (args: string) =>
      `{ pipeline(id: "${pipeline.id}") { stages { deals(${args}) { totalCount nodes { title } pageInfo { endCursor startCursor hasNextPage } } } } }`;
    const first = (await home.owner.gql(column('first: 2'))).data.pipeline.stages[0].deals;
    expect([first.totalCount, first.nodes.map((d: Loose) => d.title), first.pageInfo.hasNextPage]).toEqual([5, ['a', 'b'], true]);
    const { endCursor } = first.pageInfo;
    const second = (await home.owner.gql(column(`first: 2, after: "${endCursor}"`))).data.pipeline.stages[0].deals;
    expect(second.nodes.map((d: Loose) => d.title)).toEqual(['c', 'd']);
    const rest = await home.owner.gql(`{ deals(filter: { stageId: "${stageId}" }, after: "${endCursor}") { nodes { title } } }`);
    expect(rest.data.deals.nodes.map((d: Loose) => d.title)).toEqual(['c', 'd', 'e']);
    const last = (await home.owner.gql(column('last: 2'))).data.pipeline.stages[0].deals;
    expect(last.nodes.map((d: Loose) => d.title)).toEqual(['d', 'e']);
    const before = (await home.owner.gql(column(`last: 2, before: "${last.pageInfo.startCursor}"`))).data.pipeline.stages[0].deals;
    expect(before.nodes.map((d: Loose) => d.title)).toEqual(['b', 'c']);
  });
});
