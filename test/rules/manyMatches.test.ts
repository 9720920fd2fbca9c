import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
/** Of the contacts, whose scores are 0 to 5: as many as few are, one more, and many. */
const scores: [score: number, howMany: number][] = [
  [5, 7],
  [4, 993],
  [3, 1],
  [2, 300],
  [0, 200],
];
const matches = (score: number) => scores.reduce((sum, [own, n]) => (own >= score ? sum + n : sum), 0);

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const pick = <T>(values: T[], i: number) => values[i % values.length]!;
  const all = scores.flatMap(([score, n]) => Array<number>(n).fill(score));
  const data = all.map((leadScore, i) => ({
    ...{ accountId: acme.id, id: crypto.randomUUID(), leadScore },
    ...{ firstName: pick([null, 'b', 'B', 'a', 'Ä'], i * 3), lastName: pick([null, 'Same', 'same'], i), company: pick([null, 'x'], i) },
    ...{ email: i % 4 === 0 ? null : `${i * 7919}@example.com`, assignedTo: i % 7 === 0 ? null : acme.ownerId },
    ...{ createdAt: new Date(1_767_225_600_000 + ((i * 31) % 400)), updatedAt: new Date(1_767_225_600_000 + ((i * 17) % 300)) },
  }));
  await api.app.database.prisma.contact.createMany({ data });
});
afterAll(() => api.close());

const Filtered = `query ($sort: ContactSort, $order: SortOrder, $minScore: Int, $page: Int, $perPage: Int, $last: Int) {
  contacts(sort: $sort, order: $order, filter: { minScore: $minScore }, page: $page, perPage: $perPage, last: $last) {
    totalCount nodes { id leadScore } pageInfo { hasNextPage hasPreviousPage }
  }
}`;

async function filtered(variables: Loose): Promise<Loose> {
  const { data, errors } = await acme.owner.gql(Filtered, variables);
  expect(errors).toBeUndefined();
  return { ...data.contacts, ids: data.contacts.nodes.map((node: Loose) => node.id) };
}

/** All contacts in an order, as the list without a filter pages through them. */
async function everybody(sort: string, order: string): Promise<Loose[]> {
  const found: Loose[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, meta }: Loose = dataOf(await acme.owner.get(`/contacts?sort=${sort}&order=${order}&per_page=200&cursor=${cursor}`));
    found.push(...data);
    cursor = meta.next_cursor;
  }
  return found;
}

const sorts = ['createdAt', 'updatedAt', 'firstName', 'lastName', 'email', 'company', 'leadScore'];

describe('a filter that many records meet', () => {
  it.each(sorts.flatMap((sort) => ['asc', 'desc'].map((order) => [sort, order])))(
    'finds them by %s %s, in the order of the list and with their exact total, as one that few meet does',
    async (sort, order) => {
      const all = await everybody(sort!, order!);
      expect(all).toHaveLength(matches(0));
      for (const minScore of [5, 4, 3, 1, 0]) {
        const expected = all.filter(({ leadScore }) => leadScore >= minScore).map(({ id }) => id);
        const total = matches(minScore);
        for (const page of [1, 2, Math.ceil(total / 60), Math.ceil(total / 60) + 1]) {
          const answer = await filtered({ sort, order, minScore, page, perPage: 60 });
          expect([answer.totalCount, answer.ids]).toEqual([total, expected.slice((page - 1) * 60, page * 60)]);
          expect(answer.pageInfo).toEqual({ hasNextPage: total > page * 60, hasPreviousPage: page > 1 });
        }
        const end = await filtered({ sort, order, minScore, last: 5 });
        expect([end.totalCount, end.ids]).toEqual([total, expected.slice(-5)]);
      }
    },
  );

  it('counts those below each record of a list', async () => {
    const { data } = await acme.owner.gql(`{ users { nodes { id
      many: contacts(first: 2, sort: leadScore, order: asc, filter: { minScore: 1 }) { totalCount nodes { leadScore } }
      few: contacts(first: 2, sort: leadScore, order: asc, filter: { minScore: 5 }) { totalCount nodes { leadScore } } } } }`);
    const own = (await everybody('createdAt', 'asc')).filter(({ assignedTo }) => assignedTo === acme.ownerId);
    const above = (score: number) => own.filter(({ leadScore }) => leadScore >= score).length;
    const owner = data.users.nodes.find(({ id }: Loose) => id === acme.ownerId);
    expect(above(1)).toBeGreaterThan(1000);
    expect(owner.many).toEqual({ totalCount: above(1), nodes: [{ leadScore: 2 }, { leadScore: 2 }] });
    expect(owner.few).toEqual({ totalCount: above(5), nodes: [{ leadScore: 5 }, { leadScore: 5 }] });
  });

  it('finds nobody beyond those, and no deleted ones', async () => {
    const { ids } = await filtered({ minScore: 1, page: 1, perPage: 1 });
    await acme.owner.del(`/contacts/${ids[0]}`);
    expect(await filtered({ minScore: 1, page: 1, perPage: 200 })).toMatchObject({ totalCount: matches(1) - 1 });
    expect((await filtered({ minScore: 1, page: 1, perPage: 200 })).ids).not.toContain(ids[0]);
    expect(await filtered({ minScore: 6 })).toMatchObject({ totalCount: 0, nodes: [] });
    await acme.owner.post(`/contacts/${ids[0]}/restore`);
  });
});
