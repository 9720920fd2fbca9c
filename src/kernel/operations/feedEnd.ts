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
