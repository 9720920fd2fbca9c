import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { openDatabase } from '../../src/kernel/database/index.js';

const { DATABASE_URL, REDIS_URL, CRM_TEST_RUN = 'alone', JEST_WORKER_ID = '1' } = process.env;

/** Whether the suite runs on PostgreSQL. */
export const isPostgres = Boolean(DATABASE_URL);

export interface Suite<F> {
  (name: string, body: F): void;
  skip(name: string, body: F): void;
}

/** `onPostgres(describe)('races', …)`: what only PostgreSQL can show; left out where the embedded database serves. */
export const onPostgres = <F>(suite: Suite<F>): ((name: string, body: F) => void) => (isPostgres ? suite : suite.skip);

/** `onEmbedded(describe)('on disk', …)`: what only the embedded database does; left out where PostgreSQL serves. */
export const onEmbedded = <F>(suite: Suite<F>): ((name: string, body: F) => void) => (isPostgres ? suite.skip : suite);

/** `onRedis(describe)('limits', …)`: what only a shared Redis can show. */
export const onRedis = <F>(suite: Suite<F>): ((name: string, body: F) => void) => (REDIS_URL ? suite : suite.skip);

/** `onBoth(describe)('two processes', …)`: what processes on one PostgreSQL show of each other by one Redis. */
export const onBoth = <F>(suite: Suite<F>): ((name: string, body: F) => void) => (isPostgres ? onRedis(suite) : suite.skip);

const uniqueName = () => `crm_test_${CRM_TEST_RUN}_${JEST_WORKER_ID}_${process.hrtime.bigint().toString(36)}`;

export interface Place {
  databaseUrl?: string;
  redisUrl?: string;
  /** Of the embedded database. */
  image?: Blob;
  /** Gives the database back. */
  drop(): Promise<void>;
}

/** A migrated, empty database of one server's own: a copy of the image in memory, or a clone of the template. */
export async function freshPlace(): Promise<Place> {
  const name = uniqueName();
  // A prefix of its own keeps the rate limits of tests that run beside each other apart.
  const redisUrl = REDIS_URL && `${REDIS_URL}?keyPrefix=${name}:`;
  if (!DATABASE_URL) {
    return {
      redisUrl,
      get image() {
        return image();
      },
      drop: async () => {},
    };
  }
  // A commit that waits for the disk takes ten times as long, and no test takes the power from PostgreSQL.
  await admin(`create database ${name} template ${process.env.CRM_TEST_TEMPLATE}`, `alter database ${name} set synchronous_commit = off`);
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  return { databaseUrl: url.href, redisUrl, drop: () => giveBack(name) };
}

/** To drop a database waits for the disk, for seconds where others write: the run does it beside the tests, several at a time. */
const giveBack = (name: string) => admin(`alter database ${name} allow_connections false`);

function imageFile(): string {
  const file = process.env.CRM_TEST_IMAGE;
  if (!file) throw new Error('Run the tests through Jest: its global setup makes the database image');
  return file;
}

const image = () => new Blob([readFileSync(imageFile())]);

/** Puts an embedded database, migrated and empty, where a process will find it: to migrate one anew takes it ten seconds. */
export async function embeddedIn(dataDir: string): Promise<void> {
  const files = `${imageFile()}.files`;
  if (!existsSync(files)) await unpack(files);
  cpSync(files, dataDir, { recursive: true });
}

async function unpack(files: string): Promise<void> {
  const dataDir = mkdtempSync(`${files}-`);
  const database = await openDatabase({ dataDir, image: image(), migrate: false });
  await database.close();
  try {
    renameSync(dataDir, files);
  } catch {
    // The tests beside these were the first.
    rmSync(dataDir, { recursive: true });
  }
}

/** An embedded database for a server, emptied for it if another one had it before; see kept.mjs. */
export const embeddedDatabase = (): Promise<PGlite> => (globalThis as unknown as TestGlobals).takeDatabase(imageFile());

interface TestGlobals {
  takeDatabase(image: string): Promise<PGlite>;
}

async function admin(...statements: string[]): Promise<void> {
  const client = new pg.Client(DATABASE_URL);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
