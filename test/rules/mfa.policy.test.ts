import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const demand = (body: object) => acme.owner.patch('/auth/mfa/policy', body);

describe('PATCH /auth/mfa/policy', () => {
  it('is told once, with who changed what, and not at all where nothing differs', async () => {
    const is = `workspace.updated ${acme.id}`;
    for (const [from, to] of [
      [[], ['admin']],
      [['admin'], ['admin', 'member']],
      [['admin', 'member'], []],
    ]) {
      const told = await toldIn(acme, async () => expect(dataOf(await demand({ roles: to })).roles).toEqual(to));
      expect(told).toMatchObject({ events: [is], entries: [is], rows: [{ changes: { mfaRoles: { from, to } }, actorId: acme.ownerId }] });
      const again = await toldIn(acme, async () => expect(dataOf(await demand({ roles: to })).roles).toEqual(to));
      expect(again).toMatchObject({ events: [], entries: [] });
    }
  });

  it('changes nothing where it says nothing', async () => {
    dataOf(await demand({ roles: ['admin'] }));
    const told = await toldIn(acme, async () => {
      expect(dataOf(await demand({}))).toEqual({ roles: ['admin'] });
      expectRefusal(await demand({ roles: null }), 400, 'roles');
    });
    expect(told).toMatchObject({ events: [], entries: [] });
    dataOf(await demand({ roles: [] }));
  });

  it('is told of each of several changes at once', async () => {
    const all = [['admin'], ['member'], ['admin', 'member']];
    const told = await toldIn(acme, () => Promise.all(all.map(async (roles) => dataOf(await demand({ roles })))));
    const changes = told.rows.map((row) => row.changes.mfaRoles);
    expect(changes).toHaveLength(3);
    // Each begins with what the one before left.
    expect(changes.map(({ from }) => from)).toEqual([[], ...changes.slice(0, -1).map(({ to }) => to)]);
    expect(dataOf(await acme.owner.get('/auth/mfa/policy')).roles).toEqual(changes.at(-1).to);
  });
});
