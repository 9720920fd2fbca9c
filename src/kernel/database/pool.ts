import type { Socket } from 'node:net';
import { cpus } from 'node:os';
import pg from 'pg';
import type { Query } from './migrate.js';
import type { Log } from './store.js';

const settings = [
  'statement_timeout=5000',
  'lock_timeout=2000',
  'idle_in_transaction_session_timeout=10000',
  // both adapters read timestamps as UTC without looking at the offset
  'TimeZone=UTC',
  'jit=off',
  // Indexes are in memory, or on disks that read any page as fast as the next.
  'random_page_cost=1.1',
  // A parallel worker is a process that is started for one statement, before it is known whether there is anything for it to do.
  'max_parallel_workers_per_gather=0',
  // What `commitsUnawaited` sets.
  'crm.unawaited_commit=off',
];

/** What PostgreSQL, or the driver, would take from the URL instead of ours. */
const oursAlone = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'];

/** As which `TimeZone` may be set where it is not by us: by a role, on the far side of a pooler. */
const utc = /^(?:etc\/)?(?:utc|gmt)$/i;

/**
 * Throws where what a connection needs has not arrived: a pooler on the way may drop what the URL's settings go along with. Times would
 * be read wrong, and waits would have no end.
 */
export async function checkSettings(query: Query): Promise<void> {
  const { rows } = await query(`select current_setting('TimeZone') as "TimeZone",
    current_setting('statement_timeout') as statement_timeout, current_setting('lock_timeout') as lock_timeout`);
  const [found] = rows as [Record<string, string>];
  const wrong = Object.entries(found).filter(([name, value]) => (name === 'TimeZone' ? !utc.test(value) : value === '0'));
  if (wrong.length === 0) return;
  throw new Error(
    `The server's settings do not reach its database connections (${wrong.map((one) => one.join(' = ')).join(', ')}): ` +
      'a pooler drops the startup parameter "options". Let DATABASE_URL lead to PostgreSQL itself: the server pools its connections (DATABASE_POOL).',
  );
}

interface PoolSettings {
  settings: string[];
  /** How long a connection lives; 0 for as long as it is used. */
  seconds: number;
}

const forAll: PoolSettings = { settings: [], seconds: 0 };

/** A little more than the server's own statement_timeout: nothing came, so the connection is dead. */
const readTimeoutMs = 6000;

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
 * SQLSTATEs that tell of a statement and its rows, and leave the connection as it was: refused values and keys, lost races, locks
 * that somebody has, a statement that took too long. Not among them is a statement that the connection keeps by name and that is
 * planned for columns which have changed (0A000): only a new connection forgets it.
 */
const refusals = /^(2[1-3]|40|42|44|54|55|P0)|^57014$/;
/** Of these classes: whether it was done is not known; a name that the connection keeps and the driver does not. */
const suspicious = new Set(['40003', '42P05']);

/** Whether a statement was refused on a connection that is as good as before. */
function isRefusal(error: unknown): boolean {
  const state = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  return refusals.test(state) && !suspicious.has(state);
}

/** A text without values may be a script that begins a transaction, and leaves it open where it fails. */
const mayBeScript = ({ name, values }: pg.QueryConfig) => !name && !values?.length;

/**
 * Has somebody listen to each connection from the moment that there is one: it may end with the very bytes by which it began, before
 * whoever asked for it has it. What it is asked for fails by itself; an error that nobody listens to would end the process.
 */
export function listenToConnections(pool: pg.Pool): void {
  pool.on('connect', (client) => client.on('error', () => {}));
}

/**
 * A pool whose connections outlive the refusal of a statement. The driver's own closes the connection at every error, and refusals are
 * part of every day: a lost race, a taken name. A new connection takes PostgreSQL a process, and has forgotten what was prepared.
 */
class LastingPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super(config);
    listenToConnections(this);
    Object.assign(this, { query: (query: pg.QueryConfig | string) => this.#ask(typeof query === 'string' ? { text: query } : query) });
  }

  async #ask(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = await this.connect();
    let fault: Error | undefined;
    try {
      return await client.query(query);
    } catch (error) {
      if (mayBeScript(query) || !isRefusal(error)) fault = error as Error;
      throw error;
    } finally {
      client.release(fault);
    }
  }
}

/**
 * Of the pool for statements that are planned once a connection. PostgreSQL plans them each time when left to itself, since it
 * takes lists of ids and pages for longer than they are. What was planned while a table was small is soon forgotten.
 */
export const forPlanned: PoolSettings = { settings: ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off'], seconds: 60 };

/** The URL with settings of ours for each connection: added to those that its `options` name, and instead of them where they differ. */
export function withSettings(url: string, ours: readonly string[]): string {
  const own = new URL(url);
  for (const name of oursAlone) own.searchParams.delete(name);
  const options = [...own.searchParams.getAll('options'), ...ours.map((setting) => `-c ${setting}`)];
  own.searchParams.set('options', options.join(' '));
  return own.href;
}

/** Connections of a process, half of them for statements that are planned once. */
const connectionsOf = (given?: number) => given ?? 2 * Math.min(10, cpus().length * 4);

export interface PoolOptions {
  log?: Log;
  /** Connections of this process at most: this pool has half of them. */
  pool?: number;
}

/**
 * How long a connection may take to open. While a process starts, its own work may keep it from seeing that one is open, and several
 * processes may start at once: what would be an error to who waits for an answer ends no start.
 */
const openingMillis = { starting: 10_000, serving: 2000 };

/** A pool whose waits are all bounded and that outlives the death of its connections, for a process that starts. */
export function openPool(url: string, { log, pool: most }: PoolOptions, own = forAll): pg.Pool {
  const pool = new LastingPool({
    Client: MortalClient,
    connectionString: withSettings(url, [...settings, ...own.settings]),
    keepAlive: true,
    query_timeout: readTimeoutMs,
    max: Math.floor(connectionsOf(most) / 2),
    connectionTimeoutMillis: openingMillis.starting,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: own.seconds,
    application_name: 'crm-server',
  });
  pool.on('error', (error) => log?.warn({ err: error }, 'an idle database connection ended'));
  return pool;
}

/** The process has started: from here on somebody waits for each connection. */
export function hasStarted(pool: pg.Pool): void {
  pool.options.connectionTimeoutMillis = openingMillis.serving;
}
