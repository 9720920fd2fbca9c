import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { crossAccountIndexes, globalTables } from '../../src/kernel/database/globals.js';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { modules } from '../../src/modules.js';
import { freshPlace, type Place } from '../support/database.js';

const isGlobal = (table: string) => (globalTables as readonly string[]).includes(table);
type Row = Record<string, string>;

const isExcepted = ({ table, index }: Row) =>
  // An id is that of one record in all accounts, since clients may choose it.
  index === `${table}_id_key` || (crossAccountIndexes as readonly string[]).includes(index as string);

let place: Place;
let db: Database;
beforeAll(async () => {
  place = await freshPlace();
  db = await openDatabase({ url: place.databaseUrl, image: place.image, dataDir: ':memory:' });
});
afterAll(async () => {
  await db.close();
  await place.drop();
});

const rows = async (sql: string) => (await db.execute(sql)).rows as Row[];
const ofTenants = async (sql: string) => (await rows(sql)).filter((row) => !isGlobal(row.table as string));

describe('the catalog', () => {
  test('every name on the list of global tables is a table, and every excepted index exists', async () => {
    const tables = await rows(`select tablename as name from pg_tables where schemaname = 'public'`);
    expect(tables.map((row) => row.name)).toEqual(expect.arrayContaining([...globalTables]));
    const indexes = await rows(`select indexname as name from pg_indexes where schemaname = 'public'`);
    expect(indexes.map((row) => row.name)).toEqual(expect.arrayContaining([...crossAccountIndexes]));
  });

  test('every constraint whose meaning a module tells exists', async () => {
    const indexes = await rows(`select relname as name from pg_class where relkind = 'i' and relnamespace = 'public'::regnamespace`);
    const told = modules.flatMap(({ constraints = {} }) => Object.keys(constraints));
    expect(told.length).toBeGreaterThan(3);
    expect(indexes.map((row) => row.name)).toEqual(expect.arrayContaining(told));
  });

  test('every tenant table has a primary key, and account_id is never null', async () => {
    const tables = await ofTenants(`
      select c.relname as "table", a.attnotnull::text as required, (select count(*) from pg_index i where i.indrelid = c.oid and i.indisprimary)::text as keys
      from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`);
    expect(tables.length).toBeGreaterThan(45);
    expect(tables.filter((row) => row.required !== 'true' || row.keys !== '1')).toEqual([]);
  });

  test('every key, unique index, exclusion and plain index of a tenant table begins with account_id', async () => {
    const indexes = await ofTenants(`
      select t.relname as "table", i.relname as index, a.attname as first
      from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      left join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[0]
      where t.relnamespace = 'public'::regnamespace`);
    expect(indexes.length).toBeGreaterThan(100);
    expect(indexes.filter((row) => row.first !== 'account_id' && !isExcepted(row))).toEqual([]);
  });

  test('every foreign key between tenant tables begins with account_id on both sides, and none deletes or unlinks', async () => {
    const keys = await ofTenants(`
      select t.relname as "table", f.relname as target, k.conname as name, k.confdeltype::text as deletes, a.attname as first, b.attname as target_first
      from pg_constraint k join pg_class t on t.oid = k.conrelid join pg_class f on f.oid = k.confrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = k.conkey[1]
      join pg_attribute b on b.attrelid = f.oid and b.attnum = k.confkey[1]
      where k.contype = 'f' and t.relnamespace = 'public'::regnamespace`);
    expect(keys.length).toBeGreaterThan(60);
    expect(keys.filter((key) => key.deletes !== 'r')).toEqual([]);
    const between = keys.filter((key) => !isGlobal(key.target as string));
    expect(between.filter((key) => key.first !== 'account_id' || key.target_first !== 'account_id')).toEqual([]);
  });

  test('every foreign key of a tenant table has an index to look its children up', async () => {
    const bare = await ofTenants(`
      select t.relname as "table", k.conname as name from pg_constraint k join pg_class t on t.oid = k.conrelid
      where k.contype = 'f' and not exists (
        select from pg_index x where x.indrelid = k.conrelid and x.indkey::text || ' ' like array_to_string(k.conkey, ' ') || ' %')
      and cardinality(k.conkey) > 1`);
    expect(bare).toEqual([]);
  });

  test('every timestamp is timestamptz(3), and nothing is a binary float', async () => {
    const columns = await rows(`
      select c.relname as "table", a.attname as column, format_type(a.atttypid, a.atttypmod) as type
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and c.relname <> '_prisma_migrations'`);
    expect(columns.length).toBeGreaterThan(500);
    const wrong = (type: string) => /real|double|money/.test(type) || (/^time/.test(type) && type !== 'timestamp(3) with time zone');
    expect(columns.filter((row) => wrong(row.type as string))).toEqual([]);
  });
});
