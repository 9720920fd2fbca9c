import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { SimulatedLines } from '../../src/vendors/line/simulated.js';
import { type Account, dataOf, type Loose, server, type TestServer, toldIn } from '../support/index.js';

const settings = '/settings/vendor-line';
const put = { apiKey: 'line_again' };

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  dataOf(await acme.owner.put(settings, put));
});
afterAll(() => api.close());

const vendor = () => (api.app.vendors.line as SimulatedLines).simulator;
const assign = (nth: number) => acme.owner.put(`${settings}/lines/again-${nth}`, { userId: acme.ownerId });
const connection = () => api.app.database.prisma.vendorConnection.findFirstOrThrow({ where: { accountId: acme.id } });

it('PUT /settings/vendor-line of the key that is kept replaces nothing, and tells nothing', async () => {
  const before = await connection();
  const { events } = await toldIn(acme, async () => expect(dataOf(await acme.owner.put(settings, put)).status).toBe('connected'));
  expect(events).toEqual([]);
  const { generation, updatedAt, sealedKey } = before;
  expect(await connection()).toMatchObject({ generation, updatedAt, sealedKey });
});

it('an assignment goes on where that is put while the vendor is asked', async () => {
  vendor().meanwhile(async () => void dataOf(await acme.owner.put(settings, put)));
  expect(dataOf(await assign(1)).assignedTo.userId).toBe(acme.ownerId);
});

it('lines that the key cannot see any more are released by it all the same', async () => {
  vendor().keep('again', ['again-2']);
  const { rows } = await toldIn(acme, async () => expect(dataOf(await acme.owner.put(settings, put)).assignments).toEqual([]));
  expect(rows.map(({ name }: Loose) => name)).toEqual(['line_assignment.deleted']);
});
