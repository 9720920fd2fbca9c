import type { Transaction } from '../database/accountScope.js';
import { sql } from '../database/sql.js';
import { insertionOf, jsonOf, type RowBatch, type RowLayout } from './rowBatches.js';

/**
 * Batches of rows that are inserted last of all, and are too many to wait in memory until then: their transaction keeps them in a table
 * of its own meanwhile, as text. Nobody else sees anything of them, and nothing that others wait for is taken for them: no number of an
 * event, no counter.
 */
export class SpilledRows {
  readonly #kept: RowLayout[] = [];

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  async put(tx: Transaction, batches: readonly RowBatch[]): Promise<void> {
    if (this.isEmpty && batches.length > 0) await this.#begin(tx);
    for (const batch of batches) {
      await tx.$executeRaw(sql`insert into spilled_rows (nth, rows) values (${this.#kept.length}::int, ${jsonOf(batch)})`);
      this.#kept.push(batch.layout);
    }
  }

  /** Inserts what was spilled, in the order in which it was; the rows of one table after all others. */
  async insert(tx: Transaction, last: string): Promise<void> {
    const rest = this.#kept.splice(0).map((layout, nth) => ({ layout, nth }));
    const isLast = ({ layout }: { layout: RowLayout }) => layout.table === last;
    for (const { layout, nth } of [...rest.filter((one) => !isLast(one)), ...rest.filter(isLast)])
      await tx.$executeRaw(insertionOf(layout, sql`(select rows from spilled_rows where nth = ${nth}::int)`));
  }

  // Of the connection alone, and gone with the transaction. Compressing what is read once takes longer than reading it.
  async #begin(tx: Transaction): Promise<void> {
    await tx.$executeRaw(sql`create temp table spilled_rows (nth integer primary key, rows text not null) on commit drop`);
    await tx.$executeRaw(sql`alter table spilled_rows alter column rows set storage external`);
  }
}
