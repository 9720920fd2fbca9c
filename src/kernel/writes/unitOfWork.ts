import type { Transaction } from '../database/accountScope.js';
import type { Database } from '../database/index.js';
import type { Sql } from '../database/sql.js';
import type { CommitBatcher } from './commitBatcher.js';
import { addRow, type Batch, statementOf, statementsOf } from './rowBatches.js';

class Abandoned extends Error {}

/**
 * A unit of work: all or nothing. Its transaction begins when something is first read or changed; rows that are only
 * inserted wait, and are written in one statement before the next read or at the end. So a creation that needs nothing but
 * its rows is a single statement, atomic by itself, and the facts of every unit are its last statement.
 */
export class UnitOfWork {
  /** Whether it writes events, which wait for their places once it is committed. */
  tells = false;
  /** The queues in which something is due by then. */
  readonly wakes = new Set<string>();
  #batches: Batch[] = [];
  #facts: Batch[] = [];
  /** The ids that clients chose for new records. */
  readonly #chosen = new Set<string>();
  /** What the next write takes besides: locks by their names. */
  readonly #locks = new Map<string, Sql | null>();
  #transaction?: Promise<Transaction>;
  #finished?: Promise<void>;
  #settle?: { commit(): void; abandon(reason: Error): void };
  #writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Pick<Database, 'prisma'>,
    private readonly commits: CommitBatcher,
    /** Whether rows that are to be changed are only looked at, since it is tried again when another writer came between. */
    public isOptimistic = false,
  ) {}

  /** Keeps a row for the next write. The columns are those of its defined members; the others take their defaults. */
  insert(table: string, row: Record<string, unknown>): void {
    addRow(this.#batches, 'insert', table, row);
  }

  /** Keeps new values of a row, found by its account and id, for the next write. */
  update(table: string, row: Record<string, unknown> & { accountId: string; id: string }): void {
    addRow(this.#batches, 'update', table, row);
  }

  /** Keeps a row that is written last of all. */
  insertLast(table: string, row: Record<string, unknown>): void {
    addRow(this.#facts, 'insert', table, row);
  }

  /** Takes a lock with the next write, and keeps it to the end. */
  lock(name: string, taking: Sql): void {
    if (!this.#locks.has(name)) this.#locks.set(name, taking);
  }

  /** Notes an id that a client chose; false where it was chosen before. */
  choose(id: string): boolean {
    const isNew = !this.#chosen.has(id);
    this.#chosen.add(id);
    return isNew;
  }

  /** Whether there is anything in the transaction, or waits for it. */
  get hasBegun(): boolean {
    return this.#transaction !== undefined || this.#batches.length > 0;
  }

  /** Whether its transaction has begun: what only waits to be written needs none yet. */
  get isOpen(): boolean {
    return this.#transaction !== undefined;
  }

  /** The transaction if there is anything in it or waits for it, for what needs none of its own. */
  begun(): Promise<Transaction> | undefined {
    return this.hasBegun ? this.connection() : undefined;
  }

  /** The transaction, begun if it was not yet; what waits is in it, and its locks are taken. */
  async connection(): Promise<Transaction> {
    const tx = await this.#begin();
    this.#writing = this.#writing.then(async () => {
      await this.#writeIn(tx, this.#batches.splice(0));
      // Before what comes next, which may change the very rows.
      const locks = this.#takeLocks();
      if (locks.size > 0) await tx.$queryRaw(statementOf([], [...locks.values()]));
    });
    await this.#writing;
    return tx;
  }

  /** Makes everything final. */
  async commit(): Promise<void> {
    const rest = [...this.#batches.splice(0), ...this.#facts.splice(0)];
    // One statement is atomic by itself.
    const isAlone = !this.#transaction && statementsOf(rest).length < 2;
    if (isAlone) return this.commits.write({ batches: rest, locks: this.#takeLocks() });
    await this.#writeIn(await this.#begin(), rest);
    this.#settle?.commit();
    await this.#finished;
  }

  /** Takes everything back. */
  async abandon(): Promise<void> {
    await this.#transaction?.catch(() => undefined);
    this.#settle?.abandon(new Abandoned());
    await this.#finished?.catch(() => undefined);
  }

  async #writeIn(tx: Transaction, batches: Batch[]): Promise<void> {
    for (const together of statementsOf(batches)) await tx.$queryRaw(statementOf(together, [...this.#takeLocks().values()]));
  }

  /** The locks that no write has taken yet. */
  #takeLocks(): Map<string, Sql> {
    const locks = new Map<string, Sql>();
    for (const [name, lock] of this.#locks) if (lock) locks.set(name, lock);
    for (const name of locks.keys()) this.#locks.set(name, null);
    return locks;
  }

  #begin(): Promise<Transaction> {
    this.#transaction ??= new Promise((begun, refused) => {
      this.#finished = this.database.prisma.$transaction(
        (tx) =>
          new Promise<void>((commit, abandon) => {
            this.#settle = { commit, abandon };
            begun(tx);
          }),
      );
      this.#finished.catch(refused);
    });
    return this.#transaction;
  }
}
