import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlMigrationAwareDriverAdapterFactory, SqlQuery } from '@prisma/driver-adapter-utils';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { withFixes } from './adapter.js';
import { migrate } from './migrate.js';
import { withSettings } from './pool.js';
import type { Log, Store } from './store.js';

const [MAX_NAMES, MAX_PLANNED] = [300, 600];
const MIGRATION_LOCK = 7240111;

/** Longer texts are composed of a client's conditions: they get no name, and are not kept. */
const longestNamed = 20_000;
/** How much text is kept of statements that have a name, and of those that were met once. */
const mostKept = 2_000_000;

/**
 * Names for prepared statements: a text gets one on its second use, and no more than a fixed number get one, since
 * every connection keeps every name for ever.
 */
export function statementNames(max = MAX_NAMES, prefix = 's'): (query: SqlQuery) => string | undefined {
  const names = new Map<string, string>();
  const seenOnce = new LRUCache<string, true>({ max: 1000, maxSize: mostKept, sizeCalculation: (_, text) => text.length });
  let room = mostKept;
  return ({ sql }) => {
    if (sql.length > longestNamed) return undefined;
    const known = names.get(sql);
    if (known || names.size >= max || sql.length > room || !/^\s*(select|with|insert|update|delete)\b/i.test(sql)) return known;
    if (!seenOnce.delete(sql)) {
      seenOnce.set(sql, true);
      return undefined;
    }
    const name = `${prefix}${names.size}`;
    names.set(sql, name);
    room -= sql.length;
    return name;
  };
}

/** The Prisma adapter of a PostgreSQL pool. */
export function postgresAdapter(
  pool: pg.Pool,
  options: { onStatement?: () => void; log?: Log } = {},
): SqlMigrationAwareDriverAdapterFactory {
  const { log, onStatement } = options;
  const adapter = new PrismaPg(pool, {
    // the driver takes an absent name for an unnamed statement
    statementNameGenerator: statementNames() as (query: SqlQuery) => string,
    onConnectionError: (error) => log?.warn({ err: error }, 'a database connection ended in a transaction'),
  });
  const script = async (sql: string) => void (await pool.query(sql));
  return withFixes(adapter, { script, onStatement });
}

/** Brings a PostgreSQL database up to date; of several processes that start at once, one works and the others wait. */
export async function migratePostgres(url: string, log?: Log): Promise<void> {
  const pool = new pg.Pool({ connectionString: withSettings(url, ['TimeZone=UTC']), max: 3, connectionTimeoutMillis: 10_000 });
  pool.on('error', (error) => log?.warn({ err: error }, 'a migration connection ended'));
  try {
    const guard = await pool.connect();
    try {
      await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await migrate((text, values) => pool.query(text, values), postgresAdapter(pool, { log }));
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
      const name = nameOf({ sql: text, args: [], argTypes: [] });
      const { rows } = await from.query<string[]>({ name, text, values, rowMode: 'array' });
      return rows[0]!;
    };
  };
  const row = rowOf(pool, MAX_NAMES);
  const nameOf = statementNames(MAX_NAMES, 'e');
  return {
    execute: async (text, values) => {
      const name = values && nameOf({ sql: text, args: [], argTypes: [] });
      const result: unknown = await pool.query({ name, text, values });
      const last = Array.isArray(result) ? result.findLast((one: pg.QueryResult) => one.fields.length > 0) : result;
      return { rows: (last as pg.QueryResult | undefined)?.rows ?? [] };
    },
    text: async (query) => (await row(query))[0]!,
    planned: rowOf(plannedPool, MAX_PLANNED),
    close: async () => void (await Promise.all([pool.end(), plannedPool.end()])),
  };
}
