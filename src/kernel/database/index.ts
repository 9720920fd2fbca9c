import type { PGlite } from '@electric-sql/pglite';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaClient } from '../../generated/prisma/client.js';
import { migrationNames } from './engine.js';
import { hasMigrations, isMigrated, migrate } from './migrate.js';
import { checkSettings, forPlanned, openPool } from './pool.js';
import { migratePostgres, postgresAdapter, postgresStore } from './postgres.js';
import type { Log, Store } from './store.js';

export { PrismaClient } from '../../generated/prisma/client.js';

export interface Database {
  kind: 'pglite' | 'postgres';
  /** The most connections of each of its two pools; no limit where there is no pool. */
  connections: number;
  prisma: PrismaClient;
  /** plain SQL with $1 placeholders, for the job queue */
  execute(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /**
   * Runs SQL as `execute` does, with a plan that is made once, for any values and by indexes: for what runs in a loop over rows that come
   * and go. A plan for the values of one moment may count on few rows where there are a hundred thousand, and takes longer than the rest.
   */
  executePlanned(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /**
   * The one text that a statement outside of a transaction answers, past Prisma, whose handling of a raw query costs several
   * times what the driver's does
   */
  text(query: { text: string; values: unknown[] }): Promise<string>;
  /**
   * The texts in the one row of a statement that is planned once: one that finds few rows by an index whatever its values are,
   * and whose planning would cost as much as the rest of it.
   */
  planned(query: { text: string; values: unknown[] }): Promise<string[]>;
  /** The process has started: from here on a connection that does not open soon is an error, as somebody waits for it. */
  started(): void;
  /** Loads what the first statement through Prisma needs. */
  warm(): Promise<void>;
  /** Whether it answers with all migrations of this version; throws when it does not answer. */
  isCurrent(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** PostgreSQL; without it the embedded database is used */
  url?: string;
  /** where the embedded database lives; `:memory:` keeps nothing */
  dataDir: string;
  /** of PostgreSQL: the connections of this process at most */
  pool?: number;
  /** called once for every statement that Prisma sends, BEGIN, COMMIT and ROLLBACK included */
  onStatement?: () => void;
  log?: Log;
  /** starts an embedded database that does not exist yet from `dumpDataDir()` */
  image?: Blob;
  /** an embedded database that is open already, in the place of that in `dataDir` */
  embedded?: PGlite;
  /** default true */
  migrate?: boolean;
}

function assemble(
  kind: Database['kind'],
  store: Store,
  adapter: SqlMigrationAwareDriverAdapterFactory,
  onStatement?: () => void,
): Database {
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const migrations = migrationNames();
  const counted =
    <T>(send: (query: { text: string; values: unknown[] }) => Promise<T>): typeof send =>
    (query) => {
      onStatement?.();
      return send(query);
    };
  return {
    kind,
    connections: store.connections ?? Number.POSITIVE_INFINITY,
    prisma,
    execute: store.execute,
    executePlanned: store.executePlanned,
    started: store.started,
    warm: () => prisma.$connect(),
    text: counted(store.text),
    planned: counted(store.planned),
    isCurrent: () => hasMigrations(store.execute, migrations),
    close: async () => {
      await prisma.$disconnect();
      await store.close();
    },
  };
}

/** Opens the database, brings its schema up to date and hands out the Prisma client. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url ? openPostgres(options.url, options) : openEmbedded(options);
}

async function openPostgres(url: string, options: DatabaseOptions): Promise<Database> {
  const pool = openPool(url, options);
  const store = postgresStore(pool, openPool(url, options, forPlanned));
  try {
    await checkSettings(store.execute);
    if (options.migrate !== false && !(await isMigrated(store.execute))) await migratePostgres(url, options.log);
  } catch (error) {
    await store.close();
    throw error;
  }
  return assemble('postgres', store, postgresAdapter(pool, options), options.onStatement);
}

/** The embedded database, which takes memory from those who have a server only when it is imported. */
const embedded = () => import('./pglite.js');

async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const { openPGlite, pgliteAdapter, pgliteStore } = await embedded();
  const opened = options.embedded && { pg: options.embedded, release: () => {} };
  const { pg, release } = opened ?? (await openPGlite(options.dataDir, options.image));
  const store = pgliteStore(pg, release);
  try {
    if (options.migrate !== false) await migrate(store.execute, pgliteAdapter(pg), options.log);
  } catch (error) {
    await store.close();
    throw error;
  }
  return assemble('pglite', store, pgliteAdapter(pg, options.onStatement), options.onStatement);
}

/** Sets the embedded database of a data directory aside, which nobody may have open. Answers the folder that has it from here on. */
export async function setAsideEmbedded(dataDir: string): Promise<string> {
  return (await embedded()).setAsidePGlite(dataDir);
}

/** A migrated, empty embedded database as an image: `openDatabase({ dataDir: ':memory:', image })` skips init and migration. */
export async function dumpDataDir(): Promise<Blob> {
  const { memoryPGlite, pgliteAdapter, pgliteStore } = await embedded();
  const pg = await memoryPGlite();
  await migrate(pgliteStore(pg, () => {}).execute, pgliteAdapter(pg));
  await dropTemplates(pg);
  const image = await pg.dumpDataDir('none');
  await pg.close();
  return image;
}

/** The template databases, a third of the image: nobody creates a database beside the one that is there. */
async function dropTemplates(pg: { exec(sql: string): Promise<unknown> }): Promise<void> {
  await pg.exec('update pg_database set datistemplate = false');
  await pg.exec('drop database template0');
  await pg.exec('drop database template1');
}
