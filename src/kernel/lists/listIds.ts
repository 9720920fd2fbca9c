import type { Context } from '../context/context.js';
import type { Sql } from '../database/sql.js';
import type { AnyTable } from '../tables/table.js';
import { idsSql } from './pageSql.js';
import { type AnyListArgs, windowOf } from './window.js';

const bytesOfId = 16;

/** Ids in the order of a list, so compact that those of a whole table can wait in memory. */
export class Ids {
  constructor(private readonly bytes: Buffer) {}

  get length(): number {
    return this.bytes.length / bytesOfId;
  }

  /** Those from one place to another, or to the end; the one at `end` is not among them. */
  slice(begin: number, end: number): string[] {
    const portion = this.bytes.subarray(begin * bytesOfId, end * bytesOfId);
    return Array.from({ length: portion.length / bytesOfId }, (_, i) => {
      const hex = portion.toString('hex', i * bytesOfId, (i + 1) * bytesOfId);
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    });
  }
}

/**
 * The ids of all rows of a list in its order, all of one moment: for who reads the rows in portions, in an order that their changes change.
 * A long read. Paging is not looked at; no order of a board. `more` are conditions besides those of the filter.
 */
export async function listIds(ctx: Context, table: AnyTable, args: AnyListArgs, more?: readonly Sql[]): Promise<Ids> {
  const window = await windowOf(ctx, table, args, { withTotal: false, more });
  const text = await ctx.longRead(() => ctx.text(idsSql(table, window)));
  return new Ids(Buffer.from(text, 'base64'));
}
