import type { Database } from './database/index.js';
import { columnName, emptySql, joinSql, rawSql, type Sql, sql } from './sql.js';
import type { Transaction } from './tenancy.js';

/** Rows of one table that name the same columns: they are written by one clause. */
interface Batch {
  kind: 'insert' | 'update';
  table: string;
  fields: string[];
  rows: Record<string, unknown>[];
  ids: Set<unknown>;
}

class Abandoned extends Error {}

/**
 * A unit of work: all or nothing. Its transaction begins when something is first read or changed; rows that are only
 * inserted wait, and are written in one statement before the next read or at the end. So a creation that needs nothing but
 * its rows is a single statement, atomic by itself, and the facts of every unit are its last statement.
 */
export class Unit {
  #batches: Batch[] = [];
  #facts: Batch[] = [];
  /** What the next write takes besides: locks by their names. */
  readonly #locks = new Map<string, Sql | null>();
  #transaction?: Promise<Transaction>;
  #finished?: Promise<void>;
  #settle?: { commit(): void; abandon(reason: Error): void };
  #writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Pick<Database, 'prisma' | 'text'>) {}

  /** Keeps a row for the next write. The columns are those of its defined members; the others take their defaults. */
  insert(table: string, row: Record<string, unknown>): void {
    keep(this.#batches, 'insert', table, row);
  }

  /** Keeps new values of a row, found by its account and id, for the next write. */
  update(table: string, row: Record<string, unknown> & { accountId: string; id: string }): void {
    keep(this.#batches, 'update', table, row);
  }

  /** Keeps a row that is written last of all. */
  insertLast(table: string, row: Record<string, unknown>): void {
    keep(this.#facts, 'insert', table, row);
  }

  /** Takes a lock with the next write, and keeps it to the end. */
  lock(name: string, taking: Sql): void {
    if (!this.#locks.has(name)) this.#locks.set(name, taking);
  }

  /** The transaction if there is anything in it or waits for it, for what needs none of its own. */
  begun(): Promise<Transaction> | undefined {
    return this.#batches.length > 0 ? this.connection() : this.#transaction;
  }

  /** The transaction, begun if it was not yet; what waits is in it. */
  async connection(): Promise<Transaction> {
    const tx = await this.#begin();
    this.#writing = this.#writing.then(() => this.#writeIn(tx, this.#batches.splice(0)));
    await this.#writing;
    return tx;
  }

  /** Makes everything final. */
  async commit(): Promise<void> {
    const rest = [...this.#batches.splice(0), ...this.#facts.splice(0)];
    // One statement is atomic by itself.
    const isAlone = !this.#transaction && statementsOf(rest).length < 2;
    if (isAlone) return this.#write((statement) => this.database.text(statement), rest);
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

  #writeIn(tx: Transaction, batches: Batch[]): Promise<void> {
    return this.#write((statement) => tx.$queryRaw(statement), batches);
  }

  async #write(send: (statement: Sql) => Promise<unknown>, batches: Batch[]): Promise<void> {
    for (const together of statementsOf(batches)) {
      const locks = [...this.#locks.values()].filter((lock) => lock !== null);
      for (const name of this.#locks.keys()) this.#locks.set(name, null);
      await send(statementOf(together, locks));
    }
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

function keep(batches: Batch[], kind: Batch['kind'], table: string, row: Record<string, unknown>) {
  const fields = Object.keys(row).filter((field) => row[field] !== undefined);
  const last = batches.filter((batch) => batch.table === table).at(-1);
  const fits = last?.kind === kind && last.fields.length === fields.length && last.fields.every((f, i) => f === fields[i]);
  // Two changes of one row must follow each other; a single clause would make only one of them.
  if (fits && (kind === 'insert' || !last.ids.has(row.id))) {
    last.rows.push(row);
    last.ids.add(row.id);
  } else batches.push({ kind, table, fields, rows: [row], ids: new Set([row.id]) });
}

/** One statement for all batches, but for a second batch of the same table, which comes after the first. */
function statementsOf(batches: Batch[]): Batch[][] {
  const statements: Batch[][] = [];
  let tables = new Set<string>();
  for (const batch of batches) {
    const isFirst = !tables.has(batch.table);
    if (statements.length === 0 || !isFirst) {
      statements.push([]);
      tables = new Set();
    }
    statements.at(-1)!.push(batch);
    tables.add(batch.table);
  }
  return statements;
}

/** Every batch as one clause of one statement: foreign keys between them are checked at its end. */
function statementOf(batches: Batch[], locks: Sql[]): Sql {
  const clauses = batches.map((batch, i) => sql`${rawSql(`w${i}`)} as (${batch.kind === 'insert' ? insertion(batch) : change(batch)})`);
  const taken = locks.map((lock) => sql`, (select ${lock})::text`);
  return sql`with ${joinSql(clauses, ', ')} select '' as written${joinSql([...taken, emptySql], '')}`;
}

// Written by hand: an object of forty members made only to be printed costs more than its text.
function asJson({ fields, rows }: Batch): string {
  const names = fields.map((field) => `"${columnName(field)}":`);
  const texts = rows.map((row) => `{${fields.map((field, i) => names[i] + (JSON.stringify(row[field]) ?? 'null')).join()}}`);
  return `[${texts.join()}]`;
}

function insertion(batch: Batch): Sql {
  const { table, fields } = batch;
  const columns = fields.map(columnName).join(', ');
  return sql`${rawSql(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json)`;
}

function change(batch: Batch): Sql {
  const { table, fields } = batch;
  const set = fields.filter((f) => f !== 'accountId' && f !== 'id').map((f) => `${columnName(f)} = v.${columnName(f)}`);
  return sql`${rawSql(`update ${table} t set ${set.join(', ')} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json) v
    where t.account_id = v.account_id and t.id = v.id`;
}
