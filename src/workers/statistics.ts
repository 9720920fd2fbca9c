import type { Logger } from 'pino';
import type { Database } from '../kernel/database/index.js';

const everyMs = 20_000;

/** The tables of some schemas of which something is true. */
const tables = (schemas: string, isTrue: string) => `
  select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schemas}) and c.relkind = 'r' and (${isTrue})`;

/** Those that have grown by half since the planner looked at them last, or that it never did. A few pages need no statistics. */
const grown = "pg_relation_size(c.oid) / current_setting('block_size')::int > c.relpages * 1.5 + 10";

/**
 * Those of whose rows a third are old versions. By growth alone each table would grow by half again and again, as what is cleared away
 * gives no space back. A start counts anew, so that until the first time nobody knows what the process before left.
 */
const worn = `pg_stat_get_dead_tuples(c.oid) >
  1000 + case when pg_stat_get_vacuum_count(c.oid) = 0 then 0 else greatest(c.reltuples, 0) / 2 end`;

/** On PostgreSQL the queue's library and autovacuum see to its tables. */
const toLookAt = { postgres: tables('current_schema()', grown), pglite: tables("current_schema(), 'pgboss'", `${grown} or ${worn}`) };

/**
 * Whether more was logged since the last checkpoint than a start should have to replay. The embedded database makes none by itself,
 * and until one is made its log keeps every byte. One of 32 MB stops the rest for some 30 ms.
 */
const logged = `select pg_current_wal_insert_lsn() - redo_lsn > 32 * 1024 * 1024 as much from pg_control_checkpoint()`;

/**
 * Keeps what the planner knows of tables that grow: without it, a count over a join of some thousand rows takes seconds. The embedded
 * database has nothing that does, nor that clears away old versions of rows; PostgreSQL's autovacuum comes a minute after an import or a
 * restore, or is switched off.
 */
export class Statistics {
  #timer?: NodeJS.Timeout;
  #looking?: Promise<void>;

  constructor(
    private readonly database: Pick<Database, 'kind' | 'execute'>,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.look(), everyMs).unref();
  }

  /** Looks for such tables, once where several ask at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((err: unknown) => this.#note(err))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { kind, execute } = this.database;
    const { rows } = await execute(toLookAt[kind]);
    // One after the other, each a statement of its own: nobody waits for more than one of them.
    for (const { name } of rows as { name: string }[]) {
      await execute(`analyze ${name}`).catch((err: unknown) => this.#note(err, name));
      if (kind === 'pglite') await execute(`vacuum ${name}`).catch((err: unknown) => this.#note(err, name));
    }
    if (kind === 'pglite') await this.#checkpoint();
  }

  async #checkpoint(): Promise<void> {
    const { rows } = await this.database.execute(logged);
    if ((rows as { much: boolean }[])[0]!.much) await this.database.execute('checkpoint');
  }

  #note(err: unknown, table?: string): void {
    this.log.warn({ err, table }, 'statistics of a table');
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }
}
