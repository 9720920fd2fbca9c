import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type PGlite, types } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { btree_gist } from '@electric-sql/pglite/contrib/btree_gist';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import {
  DriverAdapterError,
  type IsolationLevel,
  type SqlMigrationAwareDriverAdapterFactory,
  type Transaction,
} from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { nextTurn } from '../base/eventLoop.js';
import { withFixes } from './adapter.js';
import { takeLock } from './lock.js';
import { checkFolder, notOpened } from './pglite.folder.js';
import { PGliteAtOnce } from './pglite.wire.js';
import type { Store } from './store.js';

// as the PostgreSQL driver does
const bigintAsText = { parsers: { [types.INT8]: (value: string) => value } };
/** How long statements are run before what else has come gets its turn of the event loop. */
const turnMs = 10;

/**
 * It runs in this very thread and answers at once, so that a chain of statements would never let the event loop turn: whoever
 * sends many would stop the server. So one that comes late in a turn waits for the next.
 */
class InTurns extends PGliteAtOnce {
  #turnBegan: number | undefined;

  override async execProtocolRaw(...[message, options]: Parameters<PGlite['execProtocolRaw']>): Promise<Uint8Array> {
    if (this.#turnBegan !== undefined && performance.now() - this.#turnBegan > turnMs) await nextTurn();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = performance.now();
      setImmediate(() => {
        this.#turnBegan = undefined;
      });
    }
    return super.execProtocolRaw(message, options);
  }
}

const extensions = { pg_trgm, btree_gin, btree_gist };
/** Of a database that is made anew: a log in segments of 4 MB, since each copy and each start writes whole ones. */
const fresh = { initDbStartParams: ['--wal-segsize=4'] };

/** A database in memory, with the extensions that the schema needs. */
export async function memoryPGlite(image?: Blob): Promise<PGlite> {
  return ready(new InTurns({ extensions, ...(image ? { loadDataDir: image } : fresh) }));
}

async function ready(pg: PGlite): Promise<PGlite> {
  await pg.waitReady;
  // Both adapters read timestamps as UTC without looking at the offset. Statistics of a tenth: taking them stops everything else, and
  // those of a table of contacts would take a second.
  await pg.exec("set time zone 'UTC'; set default_statistics_target = 10");
  return pg;
}

/** Begins the names of folders that nothing is read from. */
const temporaryName = 'database.init-';
const temporaryOf = (parent: string) => join(parent, `${temporaryName}${process.pid}`);

function clearTemporaries(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (name.startsWith(temporaryName)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** Initialises beside the final place and renames when complete: a kill on the way leaves nothing that looks like a database. */
async function initialise(dir: string, image?: Blob): Promise<void> {
  const parent = resolve(dir, '..');
  clearTemporaries(parent);
  const temporary = temporaryOf(parent);
  const pg = new InTurns({ dataDir: temporary, extensions, ...(image ? { loadDataDir: image } : fresh) });
  await pg.waitReady;
  await pg.close();
  renameSync(temporary, dir);
}

async function open(dir: string): Promise<PGlite> {
  checkFolder(dir);
  try {
    return await ready(new InTurns({ dataDir: dir, extensions }));
  } catch (error) {
    throw notOpened(dir, error as Error);
  }
}

/** Gives the database of a data directory another name, which it answers. */
export function setAsidePGlite(dataDir: string): string {
  const parent = resolve(dataDir);
  const release = takeLock(join(parent, 'database.lock'));
  try {
    const aside = join(parent, `database.aside-${Date.now()}`);
    renameSync(join(parent, 'database'), aside);
    return aside;
  } finally {
    release();
  }
}

/** Opens the embedded database of a data directory, which one process may use at a time. */
export async function openPGlite(dataDir: string, image?: Blob): Promise<{ pg: PGlite; release(): void }> {
  if (dataDir === ':memory:') return { pg: await memoryPGlite(image), release: () => {} };
  const dir = resolve(dataDir, 'database');
  mkdirSync(resolve(dataDir), { recursive: true });
  const release = takeLock(join(dataDir, 'database.lock'));
  try {
    if (!existsSync(dir)) await initialise(dir, image);
    return { pg: await open(dir), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** The driver's own version sets the isolation level before BEGIN and swallows a failed COMMIT. */
function begin(pg: PGlite, isolation?: IsolationLevel): Promise<Transaction> {
  return new Promise((started, failed) => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = pg.transaction(async (tx) => {
      if (isolation) await tx.exec(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
      const queryable = await new PrismaPGlite(tx as unknown as PGlite).connect();
      const finish = async () => {
        end();
        await done;
      };
      started({
        provider: 'postgres',
        adapterName: queryable.adapterName,
        options: { usePhantomQuery: true },
        queryRaw: (query) => queryable.queryRaw(query),
        executeRaw: (query) => queryable.executeRaw(query),
        commit: finish,
        rollback: async () => {
          await tx.rollback();
          await finish();
        },
      });
      await ended;
    });
    done.catch((error) => failed(asDriverError(error)));
  });
}

function asDriverError(error: Error & { code?: string }): Error {
  if (!error.code) return error;
  const { code, message } = error;
  const cause = { kind: 'postgres' as const, code, originalCode: code, severity: 'ERROR', message, originalMessage: message };
  return new DriverAdapterError({ ...cause, detail: undefined, column: undefined, hint: undefined });
}

/** The Prisma adapter of an embedded database. */
export function pgliteAdapter(pg: PGlite, onStatement?: () => void): SqlMigrationAwareDriverAdapterFactory {
  const script = async (sql: string) => void (await pg.exec(sql));
  return withFixes(new PrismaPGlite(pg), { script, begin: (isolation) => begin(pg, isolation), onStatement });
}

/** An error that nobody catches: the process ends by it, and the next start replays the log. */
function endProcess({ message }: Error): void {
  setImmediate(() => {
    throw new Error(`The embedded database has stopped: ${message}. What was acknowledged is safe. Start again when the cause is mended.`);
  });
}

/** The embedded database as the rest of the kernel sees it. */
export function pgliteStore(pg: PGlite, release: () => void): Store {
  if (pg instanceof PGliteAtOnce) pg.onEnd = endProcess;
  const planned: Store['planned'] = async ({ text, values }) => (await pg.query<string[]>(text, values, { rowMode: 'array' })).rows[0]!;
  return {
    execute: async (text, values) => {
      if (values?.length) return { rows: (await pg.query(text, values, bigintAsText)).rows };
      try {
        const results = await pg.exec(text, bigintAsText);
        return { rows: results.findLast((result) => result.fields.length > 0)?.rows ?? [] };
      } catch (error) {
        // a script that failed between its own BEGIN and COMMIT would leave the only connection aborted
        if (/\bbegin\b/i.test(text)) await pg.exec('ROLLBACK');
        throw error;
      }
    },
    executePlanned: async (text, values) => ({ rows: (await pg.query(text, values, bigintAsText)).rows }),
    planned,
    text: async (query) => (await planned(query))[0]!,
    started: () => {},
    close: async () => {
      try {
        if (!pg.closed) await pg.exec('CHECKPOINT').then(() => pg.close());
      } finally {
        release();
      }
    },
  };
}
