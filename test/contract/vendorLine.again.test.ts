import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { SimulatedLines } from '../../src/vendors/line/simulated.js';
import { type Account, dataOf, type Loose, server, type TestServer, toldIn } from '../support/index.js';

const settings = '/settings/vendor-line';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
});
beforeEach(async () => {
  acme = await api.seed.account();
  await put('line_echo');
});
afterAll(() => api.close());

const put = async (apiKey: string, by = acme.owner) => dataOf(await by.put(settings, { apiKey }));
const connection = () => api.app.database.prisma.vendorConnection.findFirstOrThrow({ where: { accountId: acme.id } });

it('the key that is kept, put again, changes nothing that is shown, and is not told', async () => {
  const [before, shown] = [await connection(), dataOf(await acme.owner.get(settings))];
  const told = await toldIn(acme, async () => expect(await put('line_echo')).toEqual(shown));
  expect([told.events, told.entries]).toEqual([[], []]);
  const { updatedAt, generation } = before;
  expect(await connection()).toMatchObject({ updatedAt, generation: generation + 1 });
});

it('put by somebody else it is told with who connected it, and another one of the same mask without a change that shows', async () => {
  const admin = await acme.member('admin');
  const byAdmin = await toldIn(acme, () => put('line_echo', admin));
  const connectedBy = { from: acme.ownerId, to: admin.userId };
  expect(byAdmin.rows.map(({ name, changes }: Loose) => [name, changes])).toEqual([['vendor_connection.updated', { connectedBy }]]);
  const { updatedAt } = await connection();
  const another = await toldIn(acme, () => put('line_echo.b', admin));
  expect(another.rows.map(({ name }: Loose) => name)).toEqual(['vendor_connection.updated']);
  expect((await connection()).updatedAt.getTime()).toBeGreaterThan(updatedAt.getTime());
});

it('lines that it cannot see any more are released by it all the same', async () => {
  const { simulator } = api.app.vendors.line as SimulatedLines;
  dataOf(await acme.owner.put(`${settings}/lines/echo-2`, { userId: acme.ownerId }));
  simulator.keep('echo', ['echo-1']);
  const { rows } = await toldIn(acme, async () => expect((await put('line_echo')).assignments).toEqual([]));
  expect(rows.map(({ name }: Loose) => name)).toEqual(['line_assignment.deleted']);
});
