import { joinSql, type Sql, sql } from '../database/sql.js';
import type { Bound } from '../database/statement.js';

/** A select whose rows are asked for as one JSON list: by itself, or as a part of a larger statement. */
export interface BatchedSelect {
  listed(): Bound;
  part(): Sql;
  /** Whether it counts records: then it is no look-up, nor is what it is a part of. */
  counts: boolean;
}

interface Waiting {
  asked: BatchedSelect;
  answered(rows: object[]): void;
  failed(error: unknown): void;
}

/** Selects that one context asks for at the same moment, answered by one statement. */
export class TickBatcher {
  #waiting: Waiting[] = [];

  constructor(
    /** Runs a statement that answers one text. */
    private readonly ask: (query: Bound, options: { counts: boolean }) => Promise<string>,
  ) {}

  /** The rows of a select. */
  rows(asked: BatchedSelect): Promise<object[]> {
    return new Promise((answered, failed) => {
      if (this.#waiting.length === 0) queueMicrotask(() => this.#send(this.#waiting.splice(0)));
      this.#waiting.push({ asked, answered, failed });
    });
  }

  async #send(waiting: Waiting[]): Promise<void> {
    try {
      const [first] = waiting;
      const options = { counts: waiting.some(({ asked }) => asked.counts) };
      if (waiting.length === 1) return first!.answered(JSON.parse(await this.ask(first!.asked.listed(), options)) as object[]);
      const lists = waiting.map(({ asked }) => sql`(select coalesce(json_agg(r), '[]') from (${asked.part()}) r)`);
      const answers = JSON.parse(await this.ask(sql`select json_build_array(${joinSql(lists, ', ')})::text`, options)) as object[][];
      for (const [i, { answered }] of waiting.entries()) answered(answers[i]!);
    } catch (error) {
      for (const { failed } of waiting) failed(error);
    }
  }
}
