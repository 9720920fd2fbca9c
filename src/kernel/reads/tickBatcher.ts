import { joinSql, type Sql, sql } from '../database/sql.js';

interface Glance {
  rows: Sql;
  answered(rows: unknown[]): void;
  failed(error: unknown): void;
}

/** Selects that are asked for at the same moment, answered by one statement. */
export class TickBatcher {
  #waiting: Glance[] = [];

  constructor(
    /** Runs a statement that answers one text. */
    private readonly ask: (query: Sql) => Promise<string>,
  ) {}

  /** The rows of a select. */
  at(rows: Sql): Promise<unknown[]> {
    return new Promise((answered, failed) => {
      if (this.#waiting.length === 0) queueMicrotask(() => this.#look(this.#waiting.splice(0)));
      this.#waiting.push({ rows, answered, failed });
    });
  }

  async #look(glances: Glance[]): Promise<void> {
    try {
      const lists = glances.map(({ rows }) => sql`(select coalesce(json_agg(r), '[]') from (${rows}) r)`);
      const answers = JSON.parse(await this.ask(sql`select json_build_array(${joinSql(lists, ', ')})::text`)) as unknown[][];
      for (const [i, { answered }] of glances.entries()) answered(answers[i]!);
    } catch (error) {
      for (const { failed } of glances) failed(error);
    }
  }
}
