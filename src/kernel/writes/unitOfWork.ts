import type { Transaction } from '../database/accountScope.js';
import type { Database } from '../database/index.js';
import { type Sql, tableName } from '../database/sql.js';
import type { GroupCommit } from './groupCommit.js';
import { type LockMode, type LockRequest, Locks, type RowLock } from './locks.js';
import { ReadBound } from './readBound.js';
import { addRow, changeWaiting, insertedInto, type RowBatch, statementOf, statementsOf, takeChange } from './rowBatches.js';
import { showsIn } from './shownIn.js';
import { SpilledRows } from './spilledRows.js';

export type { LockMode } from './locks.js';

/** Milliseconds that a transaction may take which changes very many records; each of its statements is held to the limit of all. */
const longestMs = 120_000;

/** Rows that a unit of work changes before it needs a turn: what is no more than this is over soon. */
const mostWithoutTurn = 1000;

class Abandoned extends Error {}

/** It turned out to be much: all of it is to be taken back, and done again when its account has the turn. */
export class NeedsTurn extends Error {
  constructor() {
    super('What changes very many records waits for its turn');
  }
}

/** A refusal that rests on what was read before and may have changed: the work is done again with fresh reads. */
export class StaleReads extends Error {
  constructor(override readonly cause: unknown) {
    super('Refused because of data that may have changed');
  }
}

export interface UnitKind {
  /** Whether rows that are to be changed are only looked at, since it is tried again when another writer came between. */
  isOptimistic?: boolean;
  /** Whether what it writes at its end may wait some milliseconds for what others write: nobody waits for it. */
  mayWait?: boolean;
  /** Whether its transaction may take two minutes, since it changes records without a limit to their number. */
  mayTakeLong?: boolean;
  /** Whether its account has the turn to do so; without it, it ends where it turns out to be much. */
  hasTurn?: boolean;
  /** Characters of the rows that it may read to change them, as JSON: with more it ends (`TooLargeTogether`). No limit by default. */
  mostRead?: number;
}

/** Begins a transaction when it is the account's turn, and answers once that is over. */
export type Begin = <T>(transaction: () => Promise<T>) => Promise<T>;

/** New values of a row, which its account and id name. */
export type Changed = Record<string, unknown> & { accountId: string; id: string };

/**
 * A unit of work: all or nothing. Rows that are inserted or changed wait, and are written in one statement before the next read in
 * which they may show, or at the end; its transaction begins then, or when something is locked. So an operation that needs nothing
 * but its rows is a single statement, atomic by itself, and the event rows of every unit are its last statement.
 */
export class UnitOfWork {
  isOptimistic: boolean;
  /** Whether it goes by what it did not look at. Its write makes sure of that; what is refused before may be refused for no reason. */
  readsMayBeStale = false;
  /** Whether it writes events, which wait for their places once it is committed. */
  hasEvents = false;
  /** Rows that were looked at, by how they are read and their ids: whoever may look at one has it here. */
  readonly seen = new Map<string, object>();
  /** Weighs what it reads to change it. */
  readonly reads: ReadBound;
  /** What is done once it is committed, each by its name once. */
  readonly afterwards = new Map<string, () => void>();
  #batches: RowBatch[] = [];
  /** Figures of rows that nobody has read, by the tables and the ids. */
  readonly #touched = new Map<string, Map<string, Changed>>();
  readonly #eventRows: RowBatch[] = [];
  readonly #spilled = new SpilledRows();
  /** The ids that clients chose for new records. */
  readonly #chosen = new Set<string>();
  readonly #own = new Set<string>();
  /** What the next write takes besides. */
  readonly #locks = new Locks();
  #transaction?: Promise<Transaction>;
  #finished?: Promise<void>;
  #settle?: { commit(): void; abandon(reason: Error): void };
  #writing: Promise<unknown> = Promise.resolve();
  /** How many rows it is about to change that nobody has counted before. */
  #many = 0;

  constructor(
    private readonly app: { database: Pick<Database, 'prisma' | 'text'>; commits: GroupCommit },
    private readonly inTurn: Begin,
    private readonly kind: UnitKind = {},
  ) {
    this.isOptimistic = kind.isOptimistic ?? false;
    this.reads = new ReadBound(kind.mostRead);
  }

  get mayTakeLong(): boolean {
    return this.kind.mayTakeLong ?? false;
  }

  /** How many rows it may lock to change them: with one more than it may change it ends, and has the turn then; null for any number. */
  get mostToLock(): number | null {
    return this.mayTakeLong && !this.kind.hasTurn ? Math.max(mostWithoutTurn - this.#many, 0) + 1 : null;
  }

  /** Counts rows that are about to be changed, of which there may be any number. Throws `NeedsTurn` where they are too many without it. */
  changeMany(rows: number): void {
    this.#many += rows;
    if (this.mayTakeLong && !this.kind.hasTurn && this.#many > mostWithoutTurn) throw new NeedsTurn();
  }

  /** Keeps a row for the next write. The columns are those of its defined members; the others take their defaults. */
  insert(table: string, row: Record<string, unknown>): void {
    addRow(this.#batches, 'insert', table, row);
  }

  /** Keeps new values of a row, found by its account and id, for the next write. A row that waits is written with them. */
  update(table: string, row: Changed): void {
    const before = takeChange(this.#batches, table, row.id);
    const whole = { ...before, ...this.#takeFigures(table, row.id), ...row };
    if (!changeWaiting(this.#batches, table, whole)) addRow(this.#batches, 'update', table, whole);
  }

  /** Sets columns of a row that nobody has to read first (times, counters); written with the next statement. */
  touch(table: string, row: Changed): void {
    const rows = this.#touched.get(table) ?? new Map<string, Changed>();
    rows.set(row.id, { ...rows.get(row.id), ...row });
    this.#touched.set(table, rows);
  }

  /** The figures of a row that wait to be written. */
  figuresOf(table: string, id: string): Changed | undefined {
    return this.#touched.get(table)?.get(id);
  }

  /** The rows of a table that wait to be inserted. */
  waiting(table: string): Record<string, unknown>[] {
    return insertedInto(this.#batches, table);
  }

  /** Keeps a row that is written last of all. */
  insertLast(table: string, row: Record<string, unknown>): void {
    addRow(this.#eventRows, 'insert', table, row, { refersToNone: true });
  }

  /** Takes a lock with the next write, and keeps it to the end. */
  lock(name: string, own: Sql, mode: LockMode = 'serialized'): void {
    this.#locks.add(name, own, mode);
  }

  /** Locks a row with the next write, and keeps it to the end. It must have this version still; where none is given, it must be alive. */
  lockRow(lock: RowLock, account: string, id: string, version: string | null = null): void {
    this.#locks.addRow(lock, account, id, version);
  }

  /** Notes an id that a client chose; false where it was chosen before. */
  choose(id: string): boolean {
    const isNew = !this.#chosen.has(id);
    this.#chosen.add(id);
    return isNew;
  }

  /** Notes an id that the server made for a row of this unit of work. */
  own(id: string): string {
    this.#own.add(id);
    return id;
  }

  /** Whether the server made an id: nobody has it. */
  isOwn(id: string): boolean {
    return this.#own.has(id);
  }

  /** Whether its transaction has begun: what only waits to be written needs none yet. */
  get isOpen(): boolean {
    return this.#transaction !== undefined;
  }

  /** Whether something waits to be written, and has no transaction yet. */
  get isWaiting(): boolean {
    return !this.isOpen && (this.#batches.length > 0 || this.#touched.size > 0);
  }

  /** About how many characters wait to be written, event rows included. */
  get waitingSize(): number {
    return [...this.#batches, ...this.#eventRows].reduce((size, batch) => size + batch.size, 0);
  }

  /** Whether a read of this text belongs into the transaction: it has begun, or what waits to be written would show in the answer. */
  mustRead(text: string): boolean {
    return this.isOpen || this.#wouldShow(text) || [...this.#touched.keys()].some((table) => showsIn(table, text));
  }

  /**
   * Whether rows that this unit of work depends on can be read by this text without a lock, since its write checks them.
   * Figures that wait do not matter: whoever reads a row to change it lays them over it.
   */
  canReadUnlocked(text: string): boolean {
    return this.isOptimistic && !this.isOpen && !this.#wouldShow(text);
  }

  #wouldShow(text: string): boolean {
    return this.#batches.some(({ layout: { table } }) => showsIn(table, text));
  }

  /** The transaction, begun if it was not yet; what waits is in it, and its locks are taken. */
  async connection(): Promise<Transaction> {
    const tx = await this.#begin();
    this.#writing = this.#writing.then(async () => {
      await this.#writeIn(tx, this.#takeRows());
      // Before what comes next, which may change the very rows.
      const locks = this.#locks.take(() => false);
      if (locks.length > 0) await tx.$queryRaw(statementOf([], locks));
    });
    await this.#writing;
    return tx;
  }

  /** Has the database keep the rows that are written last of all: they are too many to wait in memory. */
  async spill(): Promise<void> {
    this.changeMany(Number.POSITIVE_INFINITY);
    const tx = await this.connection();
    const rows = this.#eventRows.splice(0);
    this.#writing = this.#writing.then(() => this.#spilled.put(tx, rows));
    await this.#writing;
  }

  /** Makes everything final. */
  async commit(): Promise<void> {
    const rows = this.#takeRows();
    const eventRows = this.#eventRows.splice(0);
    const rest = [...rows, ...eventRows];
    // Nothing to write, but what it answers depends on what it went by.
    if (rest.length === 0 && this.readsMayBeStale && !this.#transaction)
      return void (await this.inTurn(() => this.app.database.text(statementOf([], this.#takeLocks([])))));
    // One statement is atomic by itself.
    const isAlone = !this.#transaction && statementsOf(rest).length < 2;
    const { mayWait } = this.kind;
    if (isAlone) return this.app.commits.write({ batches: rest, locks: this.#takeLocks(rest), exclusive: this.#locks.exclusive, mayWait });
    const tx = await this.#begin();
    if (this.#spilled.isEmpty) await this.#writeIn(tx, rest);
    else {
      await this.#writeIn(tx, rows);
      // Whoever has a number of an event holds up the feeds of all accounts until he is done.
      await this.#spilled.insert(tx, tableName('OutboxEvent'));
      await this.#writeIn(tx, eventRows);
    }
    this.#settle?.commit();
    await this.#finished;
  }

  /** Takes everything back. What reads late, as beside a field that failed, begins no transaction: nobody would end it. */
  async abandon(): Promise<void> {
    this.#transaction ??= Promise.reject(new Abandoned());
    await this.#transaction.catch(() => undefined);
    this.#settle?.abandon(new Abandoned());
    await this.#finished?.catch(() => undefined);
  }

  async #writeIn(tx: Transaction, batches: RowBatch[]): Promise<void> {
    for (const together of statementsOf(batches)) await tx.$queryRaw(statementOf(together, this.#takeLocks(batches)));
  }

  /** All that waits, but for event rows. */
  #takeRows(): RowBatch[] {
    for (const [table, rows] of this.#touched) for (const id of rows.keys()) this.update(table, { ...rows.get(id)! });
    this.#touched.clear();
    return this.#batches.splice(0);
  }

  #takeFigures(table: string, id: string): Changed | undefined {
    const row = this.figuresOf(table, id);
    this.#touched.get(table)?.delete(id);
    return row;
  }

  /** A row that is only changed stays, so that others may refer to it meanwhile; who deletes it has it alone. */
  #takeLocks(batches: readonly RowBatch[]): LockRequest[] {
    return this.#locks.take((table, id) =>
      batches.some(
        ({ kind, layout, ids, rows }) =>
          kind === 'update' && layout.table === table && ids.has(id) && rows.every((row) => !row.deletedAt && !row.archivedAt),
      ),
    );
  }

  #begin(): Promise<Transaction> {
    this.#transaction ??= new Promise((begun, refused) => {
      const work = (tx: Transaction) =>
        new Promise<void>((commit, abandon) => {
          this.#settle = { commit, abandon };
          begun(tx);
        });
      this.#finished = this.inTurn(() => this.app.database.prisma.$transaction(work, this.mayTakeLong ? { timeout: longestMs } : {}));
      this.#finished.catch(refused);
    });
    return this.#transaction;
  }
}
