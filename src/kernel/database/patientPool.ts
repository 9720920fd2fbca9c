import type pg from 'pg';
import type { Log } from './store.js';

/** Between two looks at who holds a statement up. */
const lookMs = 500;
/** Between two lines of the log that tell it. */
const tellMs = 60_000;

const holders = `select distinct held.pid, a.application_name as application, a.backend_type as kind, a.state,
  extract(epoch from now() - a.xact_start)::int as seconds
  from unnest(pg_blocking_pids($1)) held(pid) left join pg_stat_activity a on a.pid = held.pid`;

/** The query fails by itself; an error of its connection that nobody listens to would end the process. */
const ignore = () => {};

/** Sends statements that may wait for others as long as it takes. While one does, the log says for whom. */
export class PatientPool {
  #told = Number.NEGATIVE_INFINITY;
  #looks = false;

  constructor(
    private readonly pool: pg.Pool,
    private readonly log?: Log,
  ) {}

  async query(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    const client = await this.pool.connect();
    client.on('error', ignore);
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
      client.removeListener('error', ignore);
      client.release(fault);
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
