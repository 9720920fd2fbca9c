import type { Context } from '../context/context.js';
import { endOfFeed, type FeedEnd } from '../events/readers.js';

/** Where the feed of the caller's account ends for some names, but for those in `except`: what comes later is behind it (`isBehind`). */
export async function feedEnd(
  ctx: Context,
  names: readonly string[],
  except: readonly string[] = [],
): Promise<FeedEnd & { unplaced: string[] }> {
  const [end] = await ctx.rows(endOfFeed, { names, except });
  return { after: end!.after, unplaced: [...end!.unplaced] };
}

type Begins<P extends string> = Record<`${P}After`, string> & Record<`${P}Unplaced`, string[]>;

/** Behind what a reader begins that reads events of some names from now on, as the two columns of its row that begin with `prefix`. */
export async function beginsBehind<P extends string>(ctx: Context, names: readonly string[], prefix: P): Promise<Begins<P>> {
  const { after, unplaced } = await feedEnd(ctx, names);
  return { [`${prefix}After`]: after, [`${prefix}Unplaced`]: unplaced } as Begins<P>;
}
