import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { migrationList, migrationNames, noFilters, schemaEngine } from './engine.js';

/** Runs one statement and returns its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** True when every migration of this version is in the database: the usual start, for which no engine is loaded. */
export async function isMigrated(query: Query): Promise<boolean> {
  const found = await query(`select to_regclass('_prisma_migrations') is not null as "exists"`);
  if (!(found.rows[0] as { exists: boolean }).exists) return false;
  return hasMigrations(query, migrationNames());
}

/** Whether these migrations are in the database. Throws where there never was one. */
export async function hasMigrations(query: Query, names: readonly string[]): Promise<boolean> {
  const { rows } = await query(
    `select count(distinct migration_name)::int as n from _prisma_migrations
     where finished_at is not null and rolled_back_at is null and migration_name = any($1)`,
    [names],
  );
  return (rows as { n: number }[])[0]!.n === names.length;
}

/** Whether new transactions may write: not on a standby, nor where the database was made read-only. */
export async function takesWrites(query: Query): Promise<boolean> {
  const { rows } = await query(`select current_setting('transaction_read_only') = 'off' as "takesWrites"`);
  return (rows as { takesWrites: boolean }[])[0]!.takesWrites;
}

/**
 * Applies what is missing. The caller must be alone: on PostgreSQL under an advisory lock, on the embedded database by
 * its lock file.
 */
export async function migrate(query: Query, factory: SqlMigrationAwareDriverAdapterFactory): Promise<void> {
  if (await isMigrated(query)) return;
  const engine = await schemaEngine(factory);
  try {
    await forgetInterrupted(query);
    await engine.applyMigrations({ migrationsList: migrationList(), filters: noFilters });
  } finally {
    engine.free();
  }
}

/**
 * A script runs as one implicit transaction, so a migration that a kill interrupted left nothing behind but its row,
 * which would refuse every later start.
 */
async function forgetInterrupted(query: Query): Promise<void> {
  const found = await query(`select to_regclass('_prisma_migrations') is not null as "exists"`);
  if (!(found.rows[0] as { exists: boolean }).exists) return;
  await query('update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null');
}
