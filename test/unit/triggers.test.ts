import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { keptByTriggers } from '../../src/kernel/writes/shownIn.js';
import { modules } from '../../src/modules.js';
import { freshPlace } from '../support/database.js';

interface Row {
  owner: string;
  name: string;
  body: string;
}

/** The tables that a function writes to, by itself and by those that it calls. */
function writtenBy(name: string, bodies: ReadonlyMap<string, string>, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const body = bodies.get(name)!;
  const own = [...body.matchAll(/(?:insert\s+into|(?<!do\s)update|delete\s+from)\s+([a-z_]+)/gi)].map(([, table]) => table!.toLowerCase());
  const called = [...bodies.keys()].filter((other) => body.includes(`${other}(`));
  return [...own, ...called.flatMap((other) => writtenBy(other, bodies, seen))];
}

let db: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const { databaseUrl: url, image, drop: dropPlace } = await freshPlace();
  [db, drop] = [await openDatabase({ url, image, dataDir: ':memory:' }), dropPlace];
});
afterAll(async () => {
  await db.close();
  await drop();
});

/** Which function each trigger of the tables calls. */
async function triggers(): Promise<Row[]> {
  const { rows } = await db.execute(
    `select c.relname as owner, p.proname as name, t.tgname as body from pg_trigger t join pg_class c on c.oid = t.tgrelid
       join pg_proc p on p.oid = t.tgfoid
     where not t.tgisinternal`,
    [],
  );
  return rows as Row[];
}

test('the total of every list that is said to be kept is kept', async () => {
  const kept = new Set((await triggers()).filter(({ body }) => body === 'count_insert').map(({ owner }) => owner));
  const counted = modules.flatMap(({ tables = [] }) => tables).filter(({ isCounted }) => isCounted);
  expect(counted.length).toBeGreaterThan(20);
  expect(counted.map(({ name }) => name).filter((name) => !kept.has(name))).toEqual([]);
});

test('what triggers write to other tables is known, so that a read in which it may show comes after the write', async () => {
  const functions = await db.execute(`select proname as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`, []);
  const bodies = new Map((functions.rows as Row[]).map(({ name, body }) => [name, body]));
  const written = (await triggers()).flatMap(({ owner, name }) =>
    writtenBy(name, bodies).flatMap((table) => (table === owner ? [] : [{ table, owner }])),
  );
  const owners = (table: string) => [...new Set(written.filter((each) => each.table === table).map(({ owner }) => owner))].sort();
  const found = Object.fromEntries(written.map(({ table }) => [table, keptByTriggers[table] === null ? null : owners(table)]));
  expect(written.length).toBeGreaterThan(10);
  expect(found).toEqual(keptByTriggers);
});
