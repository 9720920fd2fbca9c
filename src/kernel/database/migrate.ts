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

/** So many migrations are told by their names. */
const mostNamed = 20;

/**
 * Applies what is missing, and says so: nothing answers before it is done, which may take long. The caller must be alone: on PostgreSQL
 * under an advisory lock, on the embedded database by its lock file.
 */
export async function migrate(query: Query, factory: SqlMigrationAwareDriverAdapterFactory, log?: Log): Promise<void> {
  if (await isMigrated(query)) return;
  const begun = performance.now();
  const engine = await schemaEngine(factory);
  try {
    const interrupted = await forgetInterrupted(query);
    if (interrupted.length > 0) log?.warn({ migrations: interrupted }, 'a migration that was interrupted left nothing, and begins anew');
    const missing = await missingMigrations(query);
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
 * A script runs as one implicit transaction, so a migration that a kill interrupted left nothing behind but its row,
 * which would refuse every later start. Answers the names of such.
 */
async function forgetInterrupted(query: Query): Promise<string[]> {
  if (await isNew(query)) return [];
  const { rows } = await query(
    `update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null returning migration_name as name`,
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}
