import pg from 'pg';
import { pause } from '../base/eventLoop.js';
import type { Log } from './store.js';

/** Between two looks at who holds a statement up. */
const lookMs = 500;
/** Between two lines of the log that tell it. */
const tellMs = 60_000;

/**
 * How long a script waits for a lock. Whoever asks for the table after it waits behind it, to read too, and gives up after two seconds.
 * It is more than the second after which PostgreSQL ends a vacuum of its own that is in the way.
 */
const lockMs = 1500;
/** How long others have the table before the script is tried again. */
const restMs = 3000;

/** A script without any of these words changes rows alone: it keeps nobody from a table, and is not to lose what it did to a row's lock. */
const changesTables = /\b(?:alter|create|drop|lock|truncate)\b/i;

/** A lock that was not to be had, and two that each waited for what the other had: nothing of the script is there. */
const lostRaces = new Set(['55P03', '40P01']);
const isLostRace = (error: unknown) => error instanceof pg.DatabaseError && lostRaces.has(error.code ?? '');

const holders = `select distinct held.pid, a.application_name as application, a.backend_type as kind, a.state,
  extract(epoch from now() - a.xact_start)::int as seconds
  from unnest(pg_blocking_pids($1)) held(pid) left join pg_stat_activity a on a.pid = held.pid`;

/** Sends statements that may wait for others as long as it takes. While one does, the log says for whom. */
export class PatientPool {
  #told = Number.NEGATIVE_INFINITY;
  #looks = false;

  constructor(
    /** Somebody listens to its connections. */
    private readonly pool: pg.Pool,
    private readonly log?: Log,
  ) {}

  async query(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    const client = await this.pool.connect();
    const { processID } = client as pg.PoolClient & { processID: number };
    const looks = setInterval(() => void this.#look(processID), lookMs);
    let fault: Error | undefined;
    try {
      return await client.query(text, values);
    } catch (error) {
      fault = error as Error;
      throw error;
    } finally {
      clearInterval(looks);
      client.release(fault);
    }
  }

  /** Runs a script as one transaction, as often as it takes to have the locks that it needs. */
  async script(sql: string): Promise<void> {
    const text = changesTables.test(sql) ? `SET LOCAL lock_timeout = ${lockMs};\n${sql}` : sql;
    while (!(await this.#runs(text))) await pause(restMs);
  }

  async #runs(script: string): Promise<boolean> {
    try {
      await this.query(script);
      return true;
    } catch (error) {
      if (isLostRace(error)) return false;
      throw error;
    }
  }

  async #look(pid: number): Promise<void> {
    if (!this.log || this.#looks || performance.now() - this.#told < tellMs) return;
    this.#looks = true;
    try {
      const { rows } = await this.pool.query(holders, [pid]);
      if (rows.length === 0) return;
      this.#told = performance.now();
      this.log.warn({ holders: rows }, 'a migration waits for others');
    } catch (error) {
      this.log.warn({ err: error }, 'who holds a migration up could not be told');
    } finally {
      this.#looks = false;
    }
  }
}
