import type { Database } from './database/index.js';
import { Lines } from './lines.js';
import type { Sql } from './sql.js';

interface Asking {
  statement: Sql;
  answered(text: string): void;
  failed(error: unknown): void;
}

/**
 * Statements outside of a transaction, answered once to all who ask the same while two of them are under way. Each answer is
 * of a moment after its question.
 */
export class SharedReads {
  readonly #lines = new Lines<Asking>(
    (waiting) => waiting.splice(0),
    async (party) => {
      try {
        const text = await this.database.text(party[0]!.statement);
        for (const { answered } of party) answered(text);
      } catch (error) {
        for (const { failed } of party) failed(error);
      }
    },
  );

  constructor(private readonly database: Pick<Database, 'text'>) {}

  /** The one text that the statement answers. */
  text(statement: Sql): Promise<string> {
    return new Promise((answered, failed) => {
      this.#lines.join(`${statement.text}\n${JSON.stringify(statement.values)}`, { statement, answered, failed });
    });
  }
}
