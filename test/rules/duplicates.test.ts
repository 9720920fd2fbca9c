import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statements } from '../../src/kernel/database/statement.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Contacts of one name and company each time: so many of the first, of the second … Answers the ids of each group in their order. */
async function named(account: Account, sizes: number[]): Promise<string[][]> {
  const [now, accountId] = [api.clock.now(), account.id];
  const groups = sizes.map((size) => Array.from({ length: size }, () => api.clock.id()).sort());
  const data = groups.flatMap((ids, nth) => ids.map((id) => ({ accountId, id, firstName: `N${nth}`, company: 'Acme', createdAt: now, updatedAt: now }))); // biome-ignore format: one line
  await api.app.database.prisma.contact.createMany({ data });
  return groups;
}

/** How many rows all parts of a plan have looked at, those included that they left out. */
function looked(node: Loose): number {
  const leftOut = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const inner: number[] = (node.Plans ?? []).map(looked);
  return inner.reduce((sum, rows) => sum + rows, (node['Actual Rows'] + leftOut) * node['Actual Loops']);
}

describe('GET /contacts/duplicates', () => {
  it('shows the first forty of very many with one name and company, by their ids, and each of a pair', async () => {
    const other = await api.seed.account();
    const groups = await named(other, [45, 2, 40, 2]);
    const shown = dataOf(await other.owner.get('/contacts/duplicates'));
    const seen = shown.map(({ value, count, contacts }: Loose) => [value, count, contacts.map(({ id }: Loose) => id)]);
    const expected = [0, 2, 1, 3].map((nth) => [`n${nth} @ acme`, groups[nth]!.length, groups[nth]!.slice(0, 40)]);
    expect(seen).toEqual(expected);
  });

  it('looks through those with a name and company once, however many groups the page has', async () => {
    await named(acme, [4000, ...Array.from({ length: 100 }, () => 2)]);
    await api.app.database.execute('analyze contacts');
    const rowsOf = async (size: number) => {
      const page = { size, offset: '0', isLater: false, count: 0, matchOn: '', value: '' };
      const { text, values } = statements.get('duplicateContacts')!.bind(acme.id, page as never);
      const { rows } = await api.app.database.execute(`explain (analyze, format json) ${text}`, values);
      return looked((rows as { 'QUERY PLAN': Loose[] }[])[0]!['QUERY PLAN'][0]!.Plan);
    };
    const ofOne = await rowsOf(1);
    expect(ofOne).toBeGreaterThan(4200);
    expect(await rowsOf(101)).toBeLessThan(3 * ofOne);
  });
});
