import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
let nth = 0;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await insert(29);
});
afterAll(() => api.close());

const pick = <T>(values: T[], i: number) => values[i % values.length];

/** Contacts full of nulls, equal values, equal times, and letters whose order is a matter of taste. */
function insert(count: number) {
  const data = Array.from({ length: count }, () => {
    const i = nth++;
    return {
      accountId: acme.id,
      id: crypto.randomUUID(),
      firstName: pick([null, 'b', 'B', 'a', 'Ä', 'ab', 'é', 'z', '中', '-a'], i) ?? null,
      lastName: pick([null, 'Same', 'same', 'Same '], i * 7) ?? null,
      email: pick([null, 'a@example.com', 'A@example.com', 'b_b@example.com'], i * 3) ?? null,
      company: pick([null, 'x', null], i) ?? null,
      leadScore: pick([0, 50, 100, 50], i)!,
      createdAt: new Date(1_767_225_600_000 + (i % 5)),
      updatedAt: new Date(1_767_225_600_000 + (i % 3)),
    };
  });
  return api.app.database.prisma.contact.createMany({ data });
}

const sorts = ['createdAt', 'updatedAt', 'firstName', 'lastName', 'email', 'company', 'leadScore'];

const Page = `query ($sort: ContactSort, $order: SortOrder, $first: Int, $after: String, $last: Int, $before: String, $page: Int, $perPage: Int) {
  contacts(sort: $sort, order: $order, first: $first, after: $after, last: $last, before: $before, page: $page, perPage: $perPage) {
    totalCount nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

async function page(variables: Record<string, unknown>): Promise<Loose> {
  const { data, errors } = await acme.owner.gql(Page, variables);
  expect(errors).toBeUndefined();
  return data.contacts;
}

const idsOf = (connection: Loose): string[] => connection.nodes.map((node: Loose) => node.id);
const all = async (sort: string, order: string) => idsOf(await page({ sort, order, first: 200 }));

const ordering = { sort: fc.constantFrom(...sorts), order: fc.constantFrom('asc', 'desc') };

/** Follows the cursors to the end; `between` happens after every page. */
async function follow(variables: { sort: string; order: string; first: number }, between: (pages: number) => Promise<unknown>) {
  const ids: string[] = [];
  for (let after: string | null = null, pages = 1; ; pages++) {
    const connection: Loose = await page({ ...variables, after });
    const { pageInfo, edges } = connection;
    expect(edges.map((edge: Loose) => edge.node.id)).toEqual(idsOf(connection));
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null]);
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    ids.push(...idsOf(connection));
    if (!pageInfo.hasNextPage) return ids;
    after = pageInfo.endCursor;
    await between(pages);
  }
}

describe('following the cursors', () => {
  it('meets every record once, in the order of the list, whatever is inserted meanwhile', async () => {
    const property = fc.asyncProperty(fc.record({ ...ordering, first: fc.integer({ min: 1, max: 12 }) }), async (variables) => {
      const before = await all(variables.sort, variables.order);
      const met = await follow(variables, (pages) => (pages <= 2 && nth < 150 ? insert(2) : Promise.resolve()));
      expect(new Set(met).size).toBe(met.length);
      expect(met.filter((id) => before.includes(id))).toEqual(before);
      const after = await all(variables.sort, variables.order);
      expect(after.filter((id) => met.includes(id))).toEqual(met);
    });
    await fc.assert(property, { numRuns: 25, examples: sorts.map((sort, i) => [{ sort, order: pick(['asc', 'desc'], i)!, first: 3 }]) });
  });

  it('goes on from the cursor of any record', async () => {
    const { edges } = await page({ sort: 'email', order: 'asc', first: 200 });
    for (const i of [0, 7, 19, edges.length - 2, edges.length - 1]) {
      const rest = idsOf(await page({ sort: 'email', order: 'asc', first: 200, after: edges[i].cursor }));
      expect(rest).toEqual(edges.slice(i + 1).map((edge: Loose) => edge.node.id));
    }
  });

  it('skips a record that is deleted meanwhile, and no other', async () => {
    const before = await all('lastName', 'desc');
    const gone = before[5]!;
    const met = await follow({ sort: 'lastName', order: 'desc', first: 4 }, (pages) =>
      pages === 1 ? acme.owner.del(`/contacts/${gone}`) : Promise.resolve(),
    );
    expect(met).toEqual(before.filter((id) => id !== gone));
  });
});

describe('following the cursors from the end', () => {
  const rows = fc.record({ ...ordering, last: fc.integer({ min: 1, max: 12 }) });

  it('meets every record once, each page in the order of the list', async () => {
    const property = fc.asyncProperty(rows, async (variables) => {
      const whole = await all(variables.sort, variables.order);
      const met: string[] = [];
      for (let before: string | undefined; ; ) {
        const { nodes, pageInfo, edges } = await page({ ...variables, before });
        expect(edges.map((edge: Loose) => edge.node.id)).toEqual(idsOf({ nodes }));
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null]);
        expect(pageInfo.hasNextPage).toBe(before !== undefined);
        met.unshift(...idsOf({ nodes }));
        if (!pageInfo.hasPreviousPage) break;
        before = pageInfo.startCursor;
      }
      expect(met).toEqual(whole);
    });
    await fc.assert(property, { numRuns: 25, examples: sorts.map((sort, i) => [{ sort, order: pick(['asc', 'desc'], i)!, last: 4 }]) });
  });

  it('stops before the cursor of any record', async () => {
    const { edges } = await page({ sort: 'email', order: 'desc', first: 200 });
    for (const i of [0, 1, 7, 19, edges.length - 1]) {
      const rest = idsOf(await page({ sort: 'email', order: 'desc', last: 200, before: edges[i].cursor }));
      expect(rest).toEqual(edges.slice(0, i).map((edge: Loose) => edge.node.id));
    }
  });
});

describe('turning the pages by number', () => {
  it('shows every record once, with an exact total', async () => {
    const property = fc.asyncProperty(fc.record({ ...ordering, perPage: fc.integer({ min: 5, max: 40 }) }), async (variables) => {
      const whole = await all(variables.sort, variables.order);
      const met: string[] = [];
      for (let number = 1; (number - 1) * variables.perPage < whole.length; number++) {
        const connection = await page({ ...variables, page: number });
        expect(connection.totalCount).toBe(whole.length);
        expect(connection.pageInfo.hasNextPage).toBe(number * variables.perPage < whole.length);
        met.push(...idsOf(connection));
      }
      expect(met).toEqual(whole);
    });
    await fc.assert(property, { numRuns: 15 });
  });
});

describe('a page that cannot be', () => {
  it.each([
    [{ first: 0 }, 'first'],
    [{ first: -1 }, 'first'],
    [{ perPage: 0 }, 'perPage'],
    [{ page: 0 }, 'page'],
    [{ first: 2 ** 31 }, 'first'],
    [{ first: 201 }, 'first'],
    [{ last: 0 }, 'last'],
    [{ last: 201 }, 'last'],
    [{ perPage: 100_000 }, 'perPage'],
    [{ first: 2, last: 2 }, 'last'],
    [{ last: 2, page: 1 }, 'last'],
    [{ before: 'nonsense' }, 'before'],
    [{ before: 'nonsense', after: 'nonsense' }, 'before'],
    [{ after: 'nonsense' }, 'after'],
    [{ sort: 'password' }, 'sort'],
    [{ order: 'up' }, 'order'],
  ])('%j answers 400 naming %s', async (variables, field) => {
    expectGraphQLRefusal(await acme.owner.gql(Page, variables), 400, field);
  });

  it('is one after a cursor and with a number', async () => {
    const { pageInfo } = await page({ first: 2 });
    expectGraphQLRefusal(await acme.owner.gql(Page, { after: pageInfo.endCursor, page: 2 }), 400, 'page');
  });
});

describe('the total', () => {
  it('is counted only where it is selected', async () => {
    const query = (selection: string) => api.statements(() => acme.owner.gql(`{ contacts(filter: { source: "x" }) { ${selection} } }`));
    expect(await query('nodes { id }')).toBeLessThanOrEqual(await query('totalCount nodes { id }'));
    expect((await acme.owner.gql('{ contacts(first: 1) { totalCount } }')).data.contacts.totalCount).toBe(nth - 1);
  });
});
