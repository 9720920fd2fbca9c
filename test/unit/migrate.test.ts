import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { pause } from '../../src/kernel/base/eventLoop.js';
import { migrationNames } from '../../src/kernel/database/engine.js';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { isMigrated, migrate, type Query } from '../../src/kernel/database/migrate.js';
import { memoryPGlite, pgliteAdapter, pgliteStore } from '../../src/kernel/database/pglite.js';
import { openPool } from '../../src/kernel/database/pool.js';
import { migratePostgres, postgresAdapter } from '../../src/kernel/database/postgres.js';
import { freshPlace, onEmbedded, onPostgres, type Place } from '../support/database.js';
import { eventually } from '../support/live.js';

jest.setTimeout(120_000);

let place: Place;
const open: Database[] = [];
beforeAll(async () => {
  place = await freshPlace();
});
afterAll(async () => {
  for (const db of open) await db.close();
  await place.drop();
});

/** What is logged while a database is opened. */
async function told(options: Parameters<typeof openDatabase>[0]): Promise<unknown[][]> {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  open.push(await openDatabase({ ...options, log: { info: note, warn: note } }));
  return lines;
}

describe('a start', () => {
  // On PostgreSQL test/faults/processes.start.test.ts looks.
  onEmbedded(it)('that migrates says what it begins, and when it is done', async () => {
    const count = migrationNames().length;
    expect(await told({ dataDir: ':memory:' })).toEqual([
      [{ count, migrations: migrationNames().slice(0, 20) }, 'migrating the database'],
      [{ count, seconds: expect.any(Number) }, 'the database is migrated'],
    ]);
  });

  it('that has nothing to migrate says nothing of it', async () => {
    expect(await told({ url: place.databaseUrl, image: place.image, dataDir: ':memory:' })).toEqual([]);
  });
});

type Factory = SqlMigrationAwareDriverAdapterFactory;

/** A database, and the adapter by which it is migrated. */
async function bare(): Promise<{ query: Query; factory: Factory; close(): Promise<void> }> {
  if (place.databaseUrl) {
    const pool = openPool(place.databaseUrl, {});
    return { query: (text, values) => pool.query({ text, values }), factory: postgresAdapter(pool), close: () => pool.end() };
  }
  const pg = await memoryPGlite(place.image);
  const { execute, close } = pgliteStore(pg, () => {});
  return { query: execute, factory: pgliteAdapter(pg), close };
}

/** The factory with connections that do something else. */
const changed = (factory: Factory, change: (own: SqlDriverAdapter) => Partial<SqlDriverAdapter>): Factory => ({
  ...factory,
  connect: async () => {
    const own = await factory.connect();
    return Object.assign(own, change(own));
  },
});

/** Ends where the engine would note down that a script is done. */
const killedAfterScript = (own: SqlDriverAdapter): Partial<SqlDriverAdapter> => {
  const ask = own.queryRaw.bind(own);
  const isNote = (sql: string) => sql.startsWith('UPDATE "_prisma_migrations"');
  return { queryRaw: (query) => (isNote(query.sql) ? Promise.reject(new Error('killed')) : ask(query)) };
};

describe('a migration', () => {
  const [last, column] = ['20261127183200_line_free', 'line_free_at'];
  let db: Awaited<ReturnType<typeof bare>>;
  const columns = async () => (await db.query('select from information_schema.columns where column_name = $1', [column])).rows.length;
  beforeAll(async () => {
    db = await bare();
  });
  beforeEach(async () => {
    await db.query(`alter table live_calls drop column ${column}`);
    await db.query('delete from _prisma_migrations where migration_name = $1', [last]);
  });
  afterAll(() => db.close());

  it('that a kill kept from being noted down is done, and is not begun again', async () => {
    await expect(migrate(db.query, changed(db.factory, killedAfterScript))).rejects.toThrow();
    expect(await columns()).toBe(1);
    await migrate(db.query, db.factory);
    expect(await isMigrated(db.query)).toBe(true);
  });

  it('does nothing where it comes too late, since another process has begun it anew', async () => {
    const late = (own: SqlDriverAdapter): Partial<SqlDriverAdapter> => {
      const send = own.executeScript.bind(own);
      const begunAnew = 'update _prisma_migrations set rolled_back_at = now() where finished_at is null';
      return { executeScript: (script) => db.query(begunAnew).then(() => send(script)) };
    };
    await expect(migrate(db.query, changed(db.factory, late))).rejects.toThrow();
    expect(await columns()).toBe(0);
    await migrate(db.query, db.factory);
    expect([await isMigrated(db.query), await columns()]).toEqual([true, 1]);
  });
});

onPostgres(describe)('a process that loses the connection by which it alone migrates', () => {
  let holder: pg.Client;
  beforeEach(async () => {
    holder = new pg.Client(place.databaseUrl);
    await holder.connect();
  });
  afterEach(() => holder.end());

  /** Ends the connection that has the lock of migrations, or waits for it, once there is one. */
  const guardEnded = () =>
    eventually(async () => {
      const { rows } = await holder.query(`select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.objid = 7240111 and l.pid <> pg_backend_pid()`);
      return rows.length === 1;
    });
  /** What a start comes to: a process that ended by an error which nobody listens to would fail the test. */
  const outcomeOf = (start: Promise<void>) =>
    start.then(
      () => 'started',
      (error: Error) => error.message,
    );

  it('is refused while it waits for another', async () => {
    await holder.query('select pg_advisory_lock(7240111)');
    const outcome = outcomeOf(migratePostgres(place.databaseUrl!));
    await guardEnded();
    expect(await outcome).toContain('terminating connection');
  });

  it('is refused while it works, since another may begin', async () => {
    await holder.query('begin; lock table _prisma_migrations in access exclusive mode');
    const outcome = outcomeOf(migratePostgres(place.databaseUrl!));
    await guardEnded();
    await pause(200);
    await holder.query('rollback');
    expect(await outcome).toContain('terminating connection');
  });
});
