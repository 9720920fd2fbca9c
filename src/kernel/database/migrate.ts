import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { migrationList, migrationNames, noFilters, schemaEngine } from './engine.js';
import type { Log } from './store.js';

/** Runs one statement and returns its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** True when every migration of this version is in the database: the usual start, for which no engine is loaded. */
export const isMigrated = async (query: Query): Promise<boolean> => !(await isNew(query)) && hasMigrations(query, migrationNames());

/** Whether these migrations are in the database. Throws where there never was one. */
export async function hasMigrations(query: Query, names: readonly string[]): Promise<boolean> {
  const { rows } = await query(
    `select count(distinct migration_name)::int as n from _prisma_migrations
     where finished_at is not null and rolled_back_at is null and migration_name = any($1)`,
    [names],
  );
  return (rows as { n: number }[])[0]!.n === names.length;
}

/**
 * The statement by which a script says that its migration is done: the row that the engine made when it began. It comes first, and holds
 * the row to the end of the script, so that whoever finds the row of a process that is gone waits for what the script comes to. A script
 * that comes too late, since its migration was begun anew, ends by it.
 */
async function markOfDone(query: Query): Promise<string> {
  const { rows } = await query(
    'select quote_literal(id) as id from _prisma_migrations where finished_at is null and rolled_back_at is null',
  );
  const [row] = rows as { id: string }[];
  if (!row) throw new Error('Another process has begun this migration anew');
  return `DO $mark$ BEGIN
  UPDATE _prisma_migrations SET finished_at = now() WHERE id = ${row.id} AND finished_at IS NULL AND rolled_back_at IS NULL;
  IF NOT FOUND THEN RAISE EXCEPTION 'another process has begun this migration anew'; END IF;
END $mark$;
`;
}

/**
 * The adapter with scripts that are one transaction with their marks. The engine writes the mark in a statement of its own: after a kill,
 * or a lost line, between the two nobody could tell a migration that is done from one that left nothing.
 */
function marking(query: Query, factory: SqlMigrationAwareDriverAdapterFactory): SqlMigrationAwareDriverAdapterFactory {
  const connect = async () => {
    const connection = await factory.connect();
    const send = connection.executeScript.bind(connection);
    return Object.assign(connection, { executeScript: async (script: string) => send((await markOfDone(query)) + script) });
  };
  return { ...factory, connect };
}

/** So many migrations are told by their names. */
const mostNamed = 20;

/**
 * Applies what is missing, and says so: nothing answers before it is done, which may take long. The caller must be alone: on PostgreSQL
 * under an advisory lock, on the embedded database by its lock file.
 */
export async function migrate(query: Query, factory: SqlMigrationAwareDriverAdapterFactory, log?: Log): Promise<void> {
  if (await isMigrated(query)) return;
  const begun = performance.now();
  const engine = await schemaEngine(marking(query, factory));
  try {
    const interrupted = await forgetInterrupted(query);
    if (interrupted.length > 0) log?.warn({ migrations: interrupted }, 'a migration that was interrupted left nothing, and begins anew');
    const missing = await missingMigrations(query);
    if (missing.length === 0) return void log?.info('the migration of a process that is gone has come to its end');
    log?.info({ count: missing.length, migrations: missing.slice(0, mostNamed) }, 'migrating the database');
    await engine.applyMigrations({ migrationsList: migrationList(), filters: noFilters });
    log?.info({ count: missing.length, seconds: Math.round(performance.now() - begun) / 1000 }, 'the database is migrated');
  } finally {
    engine.free();
  }
}

async function isNew(query: Query): Promise<boolean> {
  const found = await query(`select to_regclass('_prisma_migrations') is null as "isNew"`);
  return (found.rows as { isNew: boolean }[])[0]!.isNew;
}

/** The migrations of this version that are not in the database, oldest first. */
async function missingMigrations(query: Query): Promise<string[]> {
  if (await isNew(query)) return migrationNames();
  const { rows } = await query(
    'select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  );
  const applied = new Set((rows as { name: string }[]).map(({ name }) => name));
  return migrationNames().filter((name) => !applied.has(name));
}

/**
 * A script runs as one implicit transaction with its mark, so a migration without it left nothing behind but its row, which would refuse
 * every later start. The script of a process that is gone may still run: this waits for its end. Answers the names of what left nothing.
 */
async function forgetInterrupted(query: Query): Promise<string[]> {
  if (await isNew(query)) return [];
  const { rows } = await query(
    `update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null returning migration_name as name`,
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}
