import { nextTurn } from '../base/eventLoop.js';
import type { Context } from '../context/context.js';

/** Rows that one statement changes, few enough for it not to take long. */
const few = 1000;

/** Characters of what is told that should not wait in memory until all of it is. */
const muchWaiting = 8_000_000;

interface All<Row> {
  /** Reads the ids of the rows under locks. */
  find(): Promise<{ id: string }[]>;
  /** Changes those of some ids, which come after `before` others. */
  change(ids: string[], before: number): Promise<Row[]>;
  tell(row: Row): Promise<void>;
  /** How many one statement changes, where they are large. */
  atOnce?: number;
}

/** Changes all rows that are found, however many, within one unit of work, and tells of each. Its operation is marked `@TakesLong()`. */
export async function changeAll<Row>(ctx: Context, { find, change, tell, atOnce = few }: All<Row>): Promise<void> {
  // Its transaction may have begun before this is reached, so that its time cannot be asked for here.
  if (ctx.unit && !ctx.unit.mayTakeLong) throw new Error('What changes records without a limit to their number is marked @TakesLong()');
  const ids = (await find()).map(({ id }) => id);
  ctx.unit?.changeMany(ids.length);
  for (let before = 0; before < ids.length; before += atOnce) {
    // What is told of hundreds of thousands does not fit into memory.
    const isMuch = before % few === 0 || (ctx.unit?.waitingSize ?? 0) > muchWaiting;
    if (before > 0 && isMuch) await ctx.spillFacts();
    const changed = await change(ids.slice(before, before + atOnce), before);
    // Many at once, so that what others do about it is done for all of them together.
    await Promise.all(changed.map(tell));
    await nextTurn();
  }
}
