import { BatchQueue } from '../base/batchQueue.js';
import { wasRefused } from '../database/errors.js';
import type { Database } from '../database/index.js';
import { joinSql, type Sql, sql } from '../database/sql.js';

interface Asking {
  statement: Sql;
  answered(text: string): void;
  failed(error: unknown): void;
}

/** Powers of two, so that a kind of lookup has a handful of prepared statements. */
const mostTogether = 8;

/**
 * Lookups outside of a transaction, asked together: while two statements of a kind are under way, those that come wait, and
 * then go as one. Each answer is of a moment after its question. For what finds few rows by their keys, whoever asks: a
 * lookup waits for those beside it.
 */
export class LookupBatcher {
  readonly #lines: BatchQueue<Asking>;

  constructor(
    private readonly database: Pick<Database, 'planned'>,
    mostUnderWay?: number,
  ) {
    this.#lines = new BatchQueue(party, (asking) => this.#ask(asking), mostUnderWay);
  }

  /** The one text that the statement answers. */
  text(statement: Sql): Promise<string> {
    return new Promise((answered, failed) => this.#lines.join(statement.text, { statement, answered, failed }));
  }

  async #ask(party: Asking[]): Promise<void> {
    try {
      const texts = await this.database.planned(together(party.map(({ statement }) => statement)));
      for (const [i, { answered }] of party.entries()) answered(texts[i]!);
    } catch (error) {
      if (party.length > 1 && wasRefused(error)) await Promise.all(party.map((one) => this.#ask([one])));
      else for (const { failed } of party) failed(error);
    }
  }
}

/** As many as a prepared statement is for. */
const party = (waiting: Asking[]): Asking[] => waiting.splice(0, 2 ** Math.floor(Math.log2(Math.min(waiting.length, mostTogether))));

/** A column for each statement. */
function together(statements: Sql[]): Sql {
  const columns = statements.map((statement) => sql`(${statement})`);
  return statements.length === 1 ? statements[0]! : sql`select ${joinSql(columns, ', ')}`;
}
