import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readConfig } from '../../src/kernel/base/config.js';
import { sweep } from '../../src/workers/sweeps.js';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, day, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
const imports = importsBy(() => acme.owner);
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Nine rows, of which the second and the last are in error. */
const rows = Array.from({ length: 9 }, (_, n) => ({
  lastName: `L${n}`,
  other: 'led nowhere',
  ...([1, 8].includes(n) && { email: 'none' }),
}));
const completedAgo = (id: string, days: number) =>
  api.app.database.prisma.import.updateMany({ where: { id }, data: { completedAt: new Date(api.clock.now().getTime() - days * day) } });
const kept = async ({ id }: Loose): Promise<number[]> => {
  const found = await api.app.database.prisma.importRow.findMany({ where: { importId: id }, orderBy: { row: 'asc' } });
  return found.map(({ row }) => row);
};
const seen = async (one: Loose) => [
  dataOf(await acme.owner.get(`/imports/${one.id}`)),
  await imports.errorsOf(one),
  (await imports.contactsOf(one)).map(({ id }) => id).sort(),
];

it('deletes the rows of an import that nothing shows once it was completed KEEP_IMPORTS_DAYS ago, and none without it', async () => {
  const [old, young] = [await imports.imported({ rows }), await imports.imported({ rows })];
  const waiting = await imports.made({ rows });
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  await completedAgo(old.id, 31);
  await completedAgo(young.id, 29);
  const before = await seen(old);
  await sweep(api.app);
  for (const each of [old, young, waiting]) expect(await kept(each)).toEqual(all);
  api.app.config.keepImportsDays = 30;
  await api.app.database.prisma.import.updateMany({ where: { id: waiting.id }, data: { createdAt: new Date(0) } });
  await sweep(api.app);
  expect(await kept(old)).toEqual([1, 2, 3, 4, 5, 9]);
  for (const each of [young, waiting]) expect(await kept(each)).toEqual(all);
  expect(await seen(old)).toEqual(before);
  expect(await imports.processed(waiting)).toMatchObject({ processedRows: 9, errorCount: 2 });
  await sweep(api.app);
  expect(await kept(waiting)).toEqual(all);
});

it('refuses KEEP_IMPORTS_DAYS below 1', () => {
  expect(readConfig({ KEEP_IMPORTS_DAYS: '1' }).keepImportsDays).toBe(1);
  expect(readConfig({}).keepImportsDays).toBeUndefined();
  expect(() => readConfig({ KEEP_IMPORTS_DAYS: '0' })).toThrow(/KEEP_IMPORTS_DAYS/);
});
