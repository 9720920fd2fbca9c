import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
/** Contacts with many ties and nulls, as they were made. */
const contacts: Loose[] = [];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const pick = (from: (string | null)[], i: number) => from[i % from.length];
  for (let i = 0; i < 24; i++) {
    const contact = {
      firstName: pick(['Ada', 'bob', null, 'Cid', 'ada'], i),
      lastName: pick([null, 'x', 'Y'], i),
      company: pick(['One', null], Math.floor(i / 2)),
      email: i % 4 === 0 ? `p${i}@example.com` : null,
      phone: `+1415555${String(1000 + i)}`,
    };
    contacts.push(await acme.contact(contact));
    if (i % 3 === 0) api.clock.advance(1000);
  }
  for (const [i, { id }] of contacts.entries())
    await api.app.database.prisma.contact.updateMany({ where: { id }, data: { leadScore: i % 4 } });
  for (const [i, contact] of contacts.entries()) contact.leadScore = i % 4;
});
afterAll(() => api.close());

type Key = { name: string; order: 'asc' | 'desc' };
const names = ['firstName', 'lastName', 'company', 'email', 'leadScore', 'createdAt'];
const orders = fc
  .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
  .chain((chosen) =>
    fc.tuple(...chosen.map((name) => fc.record({ name: fc.constant(name), order: fc.constantFrom('asc' as const, 'desc' as const) }))),
  );

const folded = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : (value as number));

/** Where one contact stands to another: nulls last, ties by id in the direction of the last key. */
function compare(a: Loose, b: Loose, keys: readonly Key[]): number {
  for (const { name, order } of [...keys, { name: 'id', order: keys.at(-1)!.order }]) {
    const [x, y] = [a[name] ?? null, b[name] ?? null];
    if (x === y || (x !== null && y !== null && folded(x) === folded(y))) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    return (folded(x)! < folded(y)! ? -1 : 1) * (order === 'asc' ? 1 : -1);
  }
  return 0;
}

const aside = 'aside: contactSmartViews { key }';

/** One page, by the way that prints it or the one that runs field by field. */
async function page(args: string, isPrinted: boolean): Promise<Loose> {
  const text = `{ contacts(${args}) { nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } ${isPrinted ? '' : aside} }`;
  const { data, errors } = await acme.owner.gql(text);
  expect(errors).toBeUndefined();
  return data.contacts;
}

/** All pages of a list, read from its beginning or its end, as they stand in the list. */
async function paged(order: string, size: number, isForward: boolean): Promise<string[]> {
  const ids: string[] = [];
  for (let at: string | null = null, turn = 0; ; turn++) {
    const place: string = at ? `, ${isForward ? 'after' : 'before'}: "${at}"` : '';
    const { nodes, pageInfo } = await page(`${order}, ${isForward ? 'first' : 'last'}: ${size}${place}`, turn % 2 === 0);
    const read = nodes.map(({ id }: Loose) => id as string);
    ids[isForward ? 'push' : 'unshift'](...read);
    if (!(isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return ids;
    at = isForward ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

describe('orderBy', () => {
  it('pages over several keys with nulls and ties, both ways, and no record twice or never', async () => {
    const property = fc.asyncProperty(orders, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (keys, size, isForward) => {
      const order = `orderBy: [${keys.map(({ name, order: direction }) => `{${name}: ${direction}}`).join(', ')}]`;
      const expected = contacts.toSorted((a, b) => compare(a, b, keys)).map(({ id }) => id);
      expect(await paged(order, size, isForward)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 25, endOnFailure: true });
  });

  it('of one key is a sort and its direction', async () => {
    for (const direction of ['asc', 'desc']) {
      const one = await page(`orderBy: [{lastName: ${direction}}], first: 5`, true);
      expect(one).toEqual(await page(`sort: lastName, order: ${direction}, first: 5`, true));
    }
  });

  it('is taken by nested lists, whose cursors go on in the list of their type', async () => {
    const { id } = await acme.company({ name: 'Engines' });
    for (const lastName of ['b', 'a', null, 'a']) await acme.contact({ firstName: 'In', lastName, companyId: id });
    const order = 'orderBy: [{lastName: asc}, {createdAt: desc}]';
    const nested = `{ company(id: "${id}") { contacts(${order}, first: 2) { nodes { lastName } pageInfo { endCursor } } } }`;
    const { contacts: first } = (await acme.owner.gql(nested)).data.company;
    expect(first.nodes.map((c: Loose) => c.lastName)).toEqual(['a', 'a']);
    const rest = `{ contacts(filter: {companyId: "${id}"}, ${order}, after: "${first.pageInfo.endCursor}") { nodes { lastName } } }`;
    expect((await acme.owner.gql(rest)).data.contacts.nodes.map((c: Loose) => c.lastName)).toEqual(['b', null]);
    for (const contact of dataOf(await acme.owner.get(`/companies/${id}`)).contacts)
      dataOf(await acme.owner.del(`/contacts/${contact.id}`));
  });

  it('sort takes texts from a to z, and the rest as the list does', async () => {
    const sorted = async (args: string) => (await page(`${args}, first: 200`, true)).nodes.map(({ id }: Loose) => id);
    expect(await sorted('sort: firstName')).toEqual(await sorted('sort: firstName, order: asc'));
    expect(await sorted('sort: createdAt')).toEqual(await sorted('sort: createdAt, order: desc'));
    const rest = async (query: string) => dataOf(await acme.owner.get(`/contacts?per_page=200&${query}`)).data.map(({ id }: Loose) => id);
    expect(await rest('sort=firstName')).toEqual(await rest('sort=firstName&order=desc'));
  });
});

describe('an order that is wrong is refused by its argument', () => {
  it.each([
    ['orderBy', 'orderBy: [{lastName: asc}], sort: lastName'],
    ['orderBy', 'orderBy: [{lastName: asc}], order: asc'],
    ['orderBy', 'orderBy: [{lastName: asc}, {firstName: asc}, {email: asc}, {company: asc}, {createdAt: asc}]'],
    ['orderBy[1]', 'orderBy: [{lastName: asc}, {}]'],
    ['orderBy[0]', 'orderBy: [{lastName: asc, firstName: asc}]'],
    ['orderBy[0]', 'orderBy: [{lastName: null}]'],
    ['orderBy[1].lastName', 'orderBy: [{lastName: asc}, {lastName: desc}]'],
  ])('%s: %s', async (field, args) => {
    expectGraphQLRefusal(await acme.owner.gql(`{ contacts(${args}) { nodes { id } } }`), 400, field);
    expectGraphQLRefusal(await acme.owner.gql(`{ companies(first: 1) { nodes { contacts(${args}) { nodes { id } } } } }`), 400, field);
  });

  it('says of a key that goes by something else first that it does', async () => {
    const { data } = await acme.owner.gql('{ __type(name: "CustomFieldOrderBy") { inputFields { name description } } }');
    const told = Object.fromEntries(data.__type.inputFields.map(({ name, description }: Loose) => [name, description]));
    expect(told).toMatchObject({ label: 'What people call it', sortOrder: expect.stringMatching(/^By the records that carry them first/) });
  });

  it('a key that there is not', async () => {
    expectGraphQLRefusal(await acme.owner.gql('{ contacts(orderBy: [{phone: asc}]) { nodes { id } } }'), 400, 'orderBy[0].phone');
    const document = 'query ($orderBy: [ContactOrderBy!]) { contacts(orderBy: $orderBy) { nodes { id } } }';
    expectGraphQLRefusal(await acme.owner.gql(document, { orderBy: [{ phone: 'asc' }] }), 400, 'orderBy[0].phone');
  });
});

describe('a cursor', () => {
  const order = 'orderBy: [{lastName: asc}, {createdAt: desc}]';
  const cursorOf = async (args: string) => (await page(`${args}, first: 2`, true)).pageInfo.endCursor as string;

  it.each([
    ['of another order', order, 'orderBy: [{lastName: asc}, {createdAt: asc}]'],
    ['of other keys', order, 'orderBy: [{lastName: asc}]'],
    ['of another where', `${order}, where: {leadScore: {gt: 0}}`, `${order}, where: {leadScore: {gt: 1}}`],
    ['of no where', order, `${order}, where: {leadScore: {gt: 1}}`],
    ['of a where', `${order}, where: {lastName: {eq: null}}`, order],
    ['of another filter', 'filter: {minScore: 1}', 'filter: {minScore: 2}'],
  ])('%s is a 400 naming after', async (_what, of, at) => {
    const cursor = await cursorOf(of);
    for (const more of ['', aside])
      expectGraphQLRefusal(await acme.owner.gql(`{ contacts(${at}, after: "${cursor}") { nodes { id } } ${more} }`), 400, 'after');
    expectGraphQLRefusal(await acme.owner.gql(`{ contacts(${at}, before: "${cursor}") { nodes { id } } }`), 400, 'before');
  });

  it('of another list is a 400 naming after, at the root and below a record', async () => {
    const cursor = await cursorOf('sort: createdAt');
    for (const way of ['after', 'before']) {
      expectGraphQLRefusal(await acme.owner.gql(`{ companies(${way}: "${cursor}") { nodes { id } } }`), 400, way);
      const nested = `{ contacts(first: 1) { nodes { deals(${way}: "${cursor}") { nodes { id } } } } }`;
      expectGraphQLRefusal(await acme.owner.gql(nested), 400, way);
    }
  });

  it('of the same conditions in other words goes on', async () => {
    const cursor = await cursorOf('filter: {minScore: 1, search: null}, where: {leadScore: {gt: 0, lt: 3}}');
    const { errors } = await acme.owner.gql(
      'query ($w: ContactWhere, $c: String) { contacts(filter: {minScore: 1}, where: $w, after: $c) { nodes { id } } }',
      {
        ...{ w: { leadScore: { lt: 3, gt: 0 } }, c: cursor },
      },
    );
    expect(errors).toBeUndefined();
  });

  it('that was made by hand is refused, and never a fault of ours', async () => {
    const by = (keys: unknown, ...more: unknown[]) =>
      Buffer.from(JSON.stringify(['contacts', 'lastName,createdAt', 'asc,desc', keys, contacts[0].id, ...more])).toString('base64url');
    for (const cursor of [
      by(null),
      by('[]'),
      by('["a"]'),
      by('["a", null]'),
      by('["a", "soon"]'),
      by('{"0": "a"}'),
      by('[1, 2]'),
      by('["a\\u0000", "x"]'),
    ])
      expectGraphQLRefusal(await acme.owner.gql(`{ contacts(${order}, after: "${cursor}") { nodes { id } } }`), 400, 'after');
  });
});
