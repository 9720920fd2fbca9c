import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlMigrationAwareDriverAdapterFactory, SqlQuery } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { withFixes } from './adapter.js';
import { migrate, type Query } from './migrate.js';
import { PatientPool } from './patientPool.js';
import { hasStarted, listenToConnections, withSettings } from './pool.js';
import { mostNames, statementNames } from './statementNames.js';
import type { Log, Store } from './store.js';

const MAX_PLANNED = 600;
const MIGRATION_LOCK = 7240111;

/** A migration takes as long as it takes. The lock of a process whose host has vanished holds up the others for a minute, not two hours. */
const migrationSettings = [
  'TimeZone=UTC',
  'statement_timeout=0',
  'lock_timeout=0',
  'tcp_keepalives_idle=30',
  'tcp_keepalives_interval=10',
  'tcp_keepalives_count=3',
];

/** The Prisma adapter of a PostgreSQL pool. */
export function postgresAdapter(
  pool: pg.Pool,
  options: { onStatement?: () => void; log?: Log; script?: (sql: string) => Promise<void> } = {},
): SqlMigrationAwareDriverAdapterFactory {
  const { log, onStatement, script = async (sql: string) => void (await pool.query(sql)) } = options;
  const adapter = new PrismaPg(pool, {
    // the driver takes an absent name for an unnamed statement
    statementNameGenerator: statementNames() as (query: SqlQuery) => string,
    onConnectionError: (error) => log?.warn({ err: error }, 'a database connection ended in a transaction'),
  });
  return withFixes(adapter, { script, onStatement });
}

/** Brings a PostgreSQL database up to date; of several processes that start at once, one works and the others wait. */
export async function migratePostgres(url: string, log?: Log): Promise<void> {
  const pool = new pg.Pool({
    connectionString: withSettings(url, migrationSettings),
    // One for the lock, one for what is done, one that looks who holds it up.
    max: 3,
    connectionTimeoutMillis: 10_000,
    application_name: 'crm-server migration',
  });
  pool.on('error', (error) => log?.warn({ err: error }, 'a migration connection ended'));
  listenToConnections(pool);
  try {
    const guard = await pool.connect();
    // Who has lost the lock is not alone any more: another process may begin.
    const lost = new Promise<never>((_, lose) => guard.once('error', lose));
    const held = async () => {
      const { rows } = await guard.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [MIGRATION_LOCK]);
      if (!rows[0]!.mine) {
        log?.info('another process migrates the database: waiting for it');
        await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      }
      const patient = new PatientPool(pool, log);
      const query: Query = (text, values) => patient.query(text, values);
      await migrate(query, postgresAdapter(pool, { log, script: (sql) => patient.script(sql) }), log);
    };
    try {
      await Promise.race([held(), lost]);
    } finally {
      guard.release(true);
    }
  } finally {
    await pool.end();
  }
}

/** PostgreSQL as the rest of the kernel sees it. */
export function postgresStore(pool: pg.Pool, plannedPool: pg.Pool): Store {
  const rowOf = (from: pg.Pool, names: number): Store['planned'] => {
    const nameOf = statementNames(names, 't');
    return async ({ text, values }) => {
      const name = nameOf({ sql: text });
      const { rows } = await from.query<string[]>({ name, text, values, rowMode: 'array' });
      return rows[0]!;
    };
  };
  const row = rowOf(pool, mostNames);
  const nameOf = statementNames(mostNames, 'e');
  const nameOfLoop = statementNames(mostNames, 'l');
  return {
    connections: pool.options.max,
    execute: async (text, values) => {
      const name = values && nameOf({ sql: text });
      const result: unknown = await pool.query({ name, text, values });
      const last = Array.isArray(result) ? result.findLast((one: pg.QueryResult) => one.fields.length > 0) : result;
      return { rows: (last as pg.QueryResult | undefined)?.rows ?? [] };
    },
    executePlanned: (text, values) => plannedPool.query({ name: nameOfLoop({ sql: text }), text, values }),
    text: async (query) => (await row(query))[0]!,
    planned: rowOf(plannedPool, MAX_PLANNED),
    started: () => {
      hasStarted(pool);
      hasStarted(plannedPool);
    },
    close: async () => void (await Promise.all([pool.end(), plannedPool.end()])),
  };
}
