import type { Transaction } from '../database/accountScope.js';
import type { ConnectionShares } from '../database/connectionShares.js';
import type { Database } from '../database/index.js';
import { type RowOf, readerOf, type Shape } from '../database/kinds.js';
import type { Sql } from '../database/sql.js';
import { type Bound, listedSql, type Statement } from '../database/statement.js';
import type { LookupBatcher } from '../reads/lookupBatcher.js';
import { TickBatcher } from '../reads/tickBatcher.js';
import type { UnitOfWork } from '../writes/unitOfWork.js';

interface Sources {
  database: Database;
  reads: LookupBatcher;
  shares: ConnectionShares;
}

/**
 * How a context reads: every row comes as JSON text, which costs a fraction of rows that Prisma takes in hand, and is made
 * what its type says by its statement. What needs no transaction begins none, and sees what the unit of work has written.
 */
export class Reader {
  readonly #tick = new TickBatcher((query, { counts }) => (counts ? this.planned(query) : this.lookup(query)));
  /** Reads what is committed, beside the unit of work. */
  #outside?: Reader;

  constructor(
    private readonly app: Sources,
    private readonly unit?: UnitOfWork,
    /** Told of the text of every statement that is read. */
    private readonly noted?: (text: string) => void,
    /** Whose connections they are counted as. */
    private readonly account?: string,
  ) {}

  /** For what is read through Prisma: of it nothing is noted but that something is read. */
  connect() {
    this.noted?.('any');
    return this.unit?.connection() ?? this.app.database.prisma;
  }

  async rows<Row extends object, P>(statement: Statement<Row, P>, account: string, params: P): Promise<Row[]> {
    const rows = await this.#rowsOf(statement, account, params);
    for (const row of rows) statement.read(row);
    return rows as Row[];
  }

  async #rowsOf<P>(statement: Statement<object, P>, account: string, params: P): Promise<object[]> {
    if (statement.beside && this.unit?.isWaiting) {
      this.#outside ??= new Reader(this.app, undefined, this.noted, this.account);
      return this.#outside.#rowsOf(statement, account, params);
    }
    if (statement.changes && (this.unit || !statement.listed)) {
      const client = (await this.unit?.connection()) ?? this.app.database.prisma;
      return client.$queryRaw<object[]>(statement.bind(account, params) as Sql);
    }
    if (statement.locks) {
      if (!this.unit) throw new Error(`${statement.name} takes locks outside a unit of work`);
      return JSON.parse(await textIn(await this.unit.connection(), statement.bindListed(account, params))) as object[];
    }
    if (statement.shared) {
      const { counts } = statement;
      return this.#tick.rows({ counts, listed: () => statement.bindListed(account, params), part: () => statement.part(account, params) });
    }
    const query = statement.bindListed(account, params);
    return JSON.parse(await (statement.planned ? this.planned(query) : this.text(query))) as object[];
  }

  /** The rows of a select that was composed. */
  async select<S extends Shape>(row: S, rows: Sql): Promise<RowOf<S>[]> {
    const found = JSON.parse(await this.text(listedSql(rows))) as object[];
    return found.map(readerOf<RowOf<S>>(row));
  }

  /** Runs a composed SELECT that returns one text column, and answers its one text. */
  text(query: Bound): Promise<string> {
    return this.#text(query, (asked) => this.#inTurn('reads', () => this.app.database.text(asked)));
  }

  /** As `text`, with a prepared plan: for index look-ups of few rows. */
  planned(query: Bound): Promise<string> {
    return this.#text(query, async (asked) => (await this.#inTurn('planned', () => this.app.database.planned(asked)))[0]!);
  }

  /** As `text`, for look-ups of few rows by their keys: outside a transaction, those of one text may be sent as one. */
  lookup(query: Bound): Promise<string> {
    return this.#text(query, (asked) => this.app.reads.text(asked, this.account));
  }

  /** An account waits for its own reads. Where nobody calls, as at a login, few are asked. */
  #inTurn<T>(share: keyof ConnectionShares, read: () => Promise<T>): Promise<T> {
    return this.account === undefined ? read() : this.app.shares[share].run(this.account, read);
  }

  async #text(query: Bound, outside: (query: Bound) => Promise<string>): Promise<string> {
    this.noted?.(query.text);
    const tx = this.unit?.mustRead(query.text) && (await this.unit.connection());
    return tx ? textIn(tx, query) : outside(query);
  }
}

async function textIn(tx: Transaction, query: Bound): Promise<string> {
  const [row] = await tx.$queryRaw<Record<string, string>[]>(query as Sql);
  return Object.values(row!)[0]!;
}
