import type { Logger } from 'pino';
import type { Database } from '../kernel/database/index.js';

const everyMs = 20_000;

/** Tables that have grown by half since the planner looked at them last, or that it never did. A few pages need no statistics. */
const grown = `
  select c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and pg_relation_size(c.oid) / current_setting('block_size')::int > c.relpages * 1.5 + 10`;

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
    const { rows } = await execute(grown);
    // One after the other, each a statement of its own: nobody waits for more than one of them.
    for (const { name } of rows as { name: string }[]) {
      await execute(`analyze "${name}"`).catch((err: unknown) => this.#note(err, name));
      if (kind === 'pglite') await execute(`vacuum "${name}"`).catch((err: unknown) => this.#note(err, name));
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
