import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modules } from '../../src/modules.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

// Case, accents, emoji (one of them a sequence), another script, punctuation, blanks, and what ICU passes over (a soft hyphen).
const letters = ['a', 'A', 'ä', 'Ä', 'á', 'b', 'B', 'e', 'é', 'z', 'Z', 'ß', 'ss', '😀', '👩‍🚀', '中', 'я', '-', '_', ' ', '\u00ad', '1'];
const name = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

describe('a list sorted by text', () => {
  it.each([
    ['/contacts', 'lastName', 'lastName', {}],
    ['/contacts', 'company', 'company', { firstName: 'x' }],
    ['/companies', 'name', 'name', {}],
    ['/tasks', 'title', 'title', {}],
    ['/products', 'name', 'name', { price: 1 }],
    ['/tags', 'name', 'name', {}],
  ])('%s by %s has ä beside a, whatever the case', async (path, sort, field, rest) => {
    const sorted = ['1st', 'abel', 'Äbel', 'Abend', 'Zoë', 'Zoff'];
    for (const text of ['Zoff', 'Abend', '1st', 'Zoë', 'abel', 'Äbel']) dataOf(await acme.owner.post(path, { [field]: text, ...rest }));
    const listed = async (order: string) => {
      const { data } = (await acme.owner.get(`${path}?sort=${sort}&order=${order}&per_page=200`)).body;
      return (Array.isArray(data) ? data : data.data).map((record: Loose) => record[field]).filter((text: string) => sorted.includes(text));
    };
    expect(await listed('asc')).toEqual(sorted);
    expect(await listed('desc')).toEqual([...sorted].reverse());
  });

  it('is paged exactly, forward and backward, over names that differ in case and accents only', async () => {
    const names = fc.array(fc.option(name, { freq: 8 }), { minLength: 1, maxLength: 30 });
    const property = fc.asyncProperty(names, fc.constantFrom('asc', 'desc'), fc.integer({ min: 1, max: 7 }), async (each, order, size) => {
      const account = await api.seed.account();
      const expected = await keep(account, each, order);
      expect(await follow(account, { order, size })).toEqual(expected);
      expect(await follow(account, { order, size, isBackward: true })).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 25 });
  });

  it('is read from an index, both ways and after a cursor, by each key of a large table', async () => {
    const large = ['contacts', 'companies', 'deals', 'tasks', 'products'];
    const tables = modules.flatMap((module) => module.tables ?? []).filter((table) => large.includes(table.name));
    expect(tables.length).toBe(large.length);
    const readings = tables.flatMap(({ name: table, sorts, listed }) => {
      const live = table === 'tasks' ? 'true' : listed.strings.join('');
      return Object.values(sorts).flatMap(({ by, type, nullable }) =>
        (type === 'text' ? ['asc', 'desc'] : []).flatMap((order) => {
          const after = `(${by}, t.id) ${order === 'asc' ? '>' : '<'} ('ä'::text, '${acme.id}'::uuid)`;
          return ['true', after].map(
            (place) => `select t.* from ${table} t where t.account_id = '${acme.id}' and ${live} and ${place}
            order by ${by} ${order} ${nullable ? 'nulls last' : ''}, t.id ${order} limit 51`,
          );
        }),
      );
    });
    expect(readings.length).toBe(4 * 8);
    for (const reading of readings) {
      const plan = await planOf(reading);
      expect([reading, plan]).toEqual([reading, expect.stringMatching(/Index Scan.* using .*_by_/)]);
      expect([reading, plan]).toEqual([reading, expect.not.stringMatching(/Sort/)]);
    }
  });
});

/** Keeps contacts of these last names, and answers their ids in the order that is promised. */
async function keep(account: Account, names: (string | null)[], order: string): Promise<string[]> {
  const { prisma, execute } = api.app.database;
  const [accountId, createdAt] = [account.id, new Date()];
  const data = names.map((lastName) => ({ accountId, id: crypto.randomUUID(), lastName, createdAt, updatedAt: createdAt }));
  await prisma.contact.createMany({ data });
  const { rows } = await execute(
    `select id from contacts where account_id = $1
     order by lower(last_name collate "und-x-icu") collate "und-x-icu" ${order} nulls last, id ${order}`,
    [accountId],
  );
  return (rows as { id: string }[]).map(({ id }) => id);
}

const page = `query ($order: SortOrder, $first: Int, $after: String, $last: Int, $before: String) {
  contacts(sort: lastName, order: $order, first: $first, after: $after, last: $last, before: $before) {
    nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

/** The ids of all contacts by last name, page by page, from the front or from the end. */
async function follow(
  account: Account,
  { order, size, isBackward }: { order: string; size: number; isBackward?: boolean },
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const window = isBackward ? { last: size, before: cursor } : { first: size, after: cursor };
    const { data, errors } = await account.owner.gql(page, { order, ...window });
    expect(errors).toBeUndefined();
    const { nodes, pageInfo } = data.contacts;
    const found = nodes.map((node: Loose) => node.id);
    if (isBackward) ids.unshift(...found);
    else ids.push(...found);
    if (!pageInfo[isBackward ? 'hasPreviousPage' : 'hasNextPage']) return ids;
    cursor = pageInfo[isBackward ? 'startCursor' : 'endCursor'];
  }
}

/** How the database would read a large table: for few rows it would look at all of them. */
async function planOf(query: string): Promise<string> {
  const { prisma } = api.app.database;
  const [, , , rows] = await prisma.$transaction([
    prisma.$executeRawUnsafe('set local enable_seqscan = off'),
    prisma.$executeRawUnsafe('set local enable_bitmapscan = off'),
    prisma.$executeRawUnsafe('set local enable_sort = off'),
    prisma.$queryRawUnsafe<Record<string, string>[]>(`explain ${query}`),
  ]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('the tags of a contact', () => {
  it('stand in one order wherever they are shown: that of the list of tags', async () => {
    const account = await api.seed.account();
    const tags = ['Zebra', 'zart', 'Äpfel', 'apfel', 'Apfelmus', '😀', '中', '-minus', 'éclair', 'Echt'];
    const names = (list: Loose[]) => list.map((tag) => tag.name);
    const own = (list: Loose[]) => names(list).filter((tag) => tags.includes(tag));
    const made = await account.contact({ firstName: 'Ada', tags: tags.slice(0, 5) });
    const patched = dataOf(await account.owner.patch(`/contacts/${made.id}`, { tags }));
    const expected = own((await account.owner.get('/tags?per_page=200')).body.data);
    expect(expected).toEqual(['-minus', '😀', 'apfel', 'Äpfel', 'Apfelmus', 'Echt', 'éclair', 'zart', 'Zebra', '中']);
    expect(names(made.tags)).toEqual(expected.filter((tag) => tags.indexOf(tag) < 5));
    expect(names(patched.tags)).toEqual(expected);
    expect(names(dataOf(await account.owner.get(`/contacts/${made.id}`)).tags)).toEqual(expected);
    expect(names(dataOf(await account.owner.get('/contacts')).data[0].tags)).toEqual(expected);
    const { data } = await account.owner.gql('{ contacts { nodes { tags { name } } } }');
    expect(names(data.contacts.nodes[0].tags)).toEqual(expected);
    const change = 'mutation ($id: ID!) { updateContact(id: $id, input: { city: "Rome" }) { tags { name } } }';
    expect(names((await account.owner.gql(change, { id: made.id })).data.updateContact.tags)).toEqual(expected);
    const csv = (await account.owner.get('/contacts/export')).text;
    expect(csv).toContain(expected.join(', '));
    const told = await api.app.database.prisma.outboxEvent.findMany({
      where: { accountId: account.id, entityId: made.id },
      orderBy: { seq: 'asc' },
    });
    const [created, updated] = told as unknown as Loose[];
    expect([names(created!.data.tags), names(updated!.data.tags)]).toEqual([names(made.tags), expected]);
    expect(updated!.changes.tags).toEqual({ from: names(made.tags), to: expected });
  });
});
