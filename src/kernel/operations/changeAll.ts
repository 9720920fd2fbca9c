import { nextTurn } from '../base/eventLoop.js';
import type { Context } from '../context/context.js';
import { type Sql, sql } from '../database/sql.js';

/** Rows that one statement changes, few enough for it not to take long. */
const atOnce = 1000;

/** Bytes of rows that one statement answers, and that what is told of them has in memory. */
const bytesAtOnce = 8_000_000;

interface Found {
  id: string;
  bytes?: number;
}

interface All<Row> {
  /** Reads the ids of the rows under locks (`lockedUpTo`), and the bytes of those that may be large; `most` of them, null for all. */
  find(most: number | null): Promise<Found[]>;
  /** Changes those of some ids, which come after `before` others. */
  change(ids: string[], before: number): Promise<Row[]>;
  tell(row: Row): Promise<void>;
}

/**
 * The end of a statement that finds the rows `t`: it locks `most` of them, null for all, in the order of all who lock several, so that
 * they wait for each other instead of for ever. Ids as texts have the same order, which no index keeps: to begin with the first of an
 * index the planner would look through all rows of the account, whatever few of them are found.
 */
export const lockedUpTo = (most: Sql): Sql => sql`order by t.id::text collate "C" limit ${most} for update of t`;

/** The ids of rows that are changed by one statement each time. */
function portionsOf(found: readonly Found[]): string[][] {
  const portions: string[][] = [];
  let left = 0;
  for (const { id, bytes = 0 } of found) {
    const last = portions.at(-1);
    left -= bytes;
    if (last && last.length < atOnce && left >= 0) last.push(id);
    else {
      portions.push([id]);
      left = bytesAtOnce - bytes;
    }
  }
  return portions;
}

/** Changes all rows that are found, however many, within one unit of work, and tells of each. Its operation is marked `@TakesLong()`. */
export async function changeAll<Row>(ctx: Context, { find, change, tell }: All<Row>): Promise<void> {
  // Its transaction may have begun before this is reached, so that its time cannot be asked for here.
  if (ctx.unit && !ctx.unit.mayTakeLong) throw new Error('What changes records without a limit to their number is marked @TakesLong()');
  const found = await find(ctx.unit?.mostToLock ?? null);
  ctx.unit?.changeMany(found.length);
  let before = 0;
  for (const ids of portionsOf(found)) {
    // What is told of hundreds of thousands does not fit into memory.
    if (before > 0) await ctx.spillEvents();
    const changed = await change(ids, before);
    before += ids.length;
    // Many at once, so that what others do about it is done for all of them together.
    await Promise.all(changed.map(tell));
    await nextTurn();
  }
}
