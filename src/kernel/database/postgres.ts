import type { Socket } from 'node:net';
import { cpus } from 'node:os';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlMigrationAwareDriverAdapterFactory, SqlQuery } from '@prisma/driver-adapter-utils';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { withFixes } from './adapter.js';
import { migrate } from './migrate.js';
import type { Log, Store } from './store.js';

const [MAX_NAMES, MAX_PLANNED] = [300, 600];
const MIGRATION_LOCK = 7240111;
const settings = [
  'statement_timeout=5000',
  'lock_timeout=2000',
  'idle_in_transaction_session_timeout=10000',
  // both adapters read timestamps as UTC without looking at the offset
  'TimeZone=UTC',
  'jit=off',
  // Indexes are in memory, or on disks that read any page as fast as the next.
  'random_page_cost=1.1',
];

interface PoolSettings {
  max: number;
  settings: string[];
  /** How long a connection lives; 0 for as long as it is used. */
  seconds: number;
}

const forAll: PoolSettings = { max: Math.min(10, cpus().length * 4), settings: [], seconds: 0 };

/** A little more than the server's own statement_timeout: nothing came, so the connection is dead. */
const readTimeoutMillis = 6000;

/**
 * A connection that ends when it does not answer. The driver only gives up the query: on a half-open connection every
 * later query would wait as long again.
 */
class MortalClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const send = this.query.bind(this) as (...args: unknown[]) => unknown;
    const guarded = (...args: unknown[]) => {
      const result = send(...args);
      if (result instanceof Promise) result.catch((error: Error) => this.#endIfSilent(error));
      return result;
    };
    Object.assign(this, { query: guarded });
  }

  #endIfSilent({ message }: Error): void {
    if (message === 'Query read timeout') (this as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  }
}

/**
 * Of the pool for statements that are planned once a connection. PostgreSQL plans them each time when left to itself, since it
 * takes lists of ids and pages for longer than they are. What was planned while a table was small is soon forgotten.
 */
export const forPlanned: PoolSettings = { ...forAll, settings: ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off'], seconds: 60 };

/** A pool whose waits are all bounded and that outlives the death of its connections. */
export function openPool(url: string, log?: Log, own = forAll): pg.Pool {
  const pool = new pg.Pool({
    Client: MortalClient,
    connectionString: url,
    keepAlive: true,
    query_timeout: readTimeoutMillis,
    max: own.max,
    connectionTimeoutMillis: 2000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: own.seconds,
    options: [...settings, ...own.settings].map((setting) => `-c ${setting}`).join(' '),
    application_name: 'crm-server',
  });
  pool.on('error', (error) => log?.warn({ err: error }, 'an idle database connection ended'));
  return pool;
}

/**
 * Names for prepared statements: a text gets one on its second use, and no more than a fixed number get one, since
 * every connection keeps every name for ever.
 */
export function statementNames(max = MAX_NAMES, prefix = 's'): (query: SqlQuery) => string | undefined {
  const names = new Map<string, string>();
  const seenOnce = new LRUCache<string, true>({ max: 1000 });
  return ({ sql }) => {
    const known = names.get(sql);
    if (known || names.size >= max || !/^\s*(select|with|insert|update|delete)\b/i.test(sql)) return known;
    if (!seenOnce.delete(sql)) {
      seenOnce.set(sql, true);
      return undefined;
    }
    const name = `${prefix}${names.size}`;
    names.set(sql, name);
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
  const pool = new pg.Pool({ connectionString: url, max: 3, connectionTimeoutMillis: 10_000, options: '-c TimeZone=UTC' });
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
