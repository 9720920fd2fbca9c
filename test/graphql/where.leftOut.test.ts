import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** The ids that a list finds, after a look at what its aggregate counts. */
async function found(list: 'users' | 'products', args: string): Promise<string[]> {
  const counts = { users: 'userAggregate', products: 'productAggregate' }[list];
  const given = args && `(${args})`;
  const { data, errors } = await acme.owner.gql(`{ ${list}${given} { nodes { id } totalCount } of: ${counts}${given} { count } }`);
  expect(errors).toBeUndefined();
  const ids = data[list].nodes.map(({ id }: Loose) => id);
  expect([data[list].totalCount, data.of[0]?.count ?? 0]).toEqual([ids.length, ids.length]);
  return ids.sort();
}

describe('what a list leaves out unless it is asked for', () => {
  it('is asked for by where as by filter: users who were removed', async () => {
    const { userId } = await acme.member();
    dataOf(await acme.owner.del(`/users/${userId}`));
    for (const args of [
      'filter: { status: removed }',
      'where: { status: { eq: removed } }',
      'where: { and: [{ status: { in: [removed, invited] } }, { name: { is_empty: false } }] }',
    ])
      expect([args, await found('users', args)]).toEqual([args, [userId]]);
    expect(await found('users', 'where: { or: [{ status: { eq: removed } }, { status: { in: [suspended] } }] }')).toEqual([userId]);
    expect(await found('users', 'where: { status: { in: [active, removed] } }')).toEqual([acme.ownerId, userId].sort());
    const byOthers = 'where: { or: [{ status: { eq: removed } }, { name: { is_empty: false } }] }';
    for (const args of ['', 'where: { status: { neq: suspended } }', 'where: { not: { status: { eq: removed } } }', byOthers])
      expect([args, await found('users', args)]).toEqual([args, [acme.ownerId]]);
  });

  it('is asked for by where as by filter: products that were archived', async () => {
    const make = async (fields: object) => dataOf(await acme.owner.post('/products', { name: 'Wheel', price: 1, ...fields })).id as string;
    const [sold, resting, archived] = [await make({}), await make({ active: false }), await make({})];
    dataOf(await acme.owner.del(`/products/${archived}`));
    const inactive = [resting, archived].sort();
    for (const args of ['filter: { isActive: false }', 'where: { isActive: { eq: false } }', 'where: { active: { in: [false] } }'])
      expect([args, await found('products', args)]).toEqual([args, inactive]);
    expect(await found('products', 'where: { or: [{ isActive: { eq: false } }] }')).toEqual(inactive);
    expect(await found('products', 'where: { isActive: { eq: true } }')).toEqual([sold]);
    expect(await found('products', '')).toEqual([sold, resting].sort());
  });
});
