import DataLoader from 'dataloader';
import type { Context } from '../context/context.js';
import { type Loader, loaderOf, mostAtOnce } from '../context/loaders.js';
import { perContext } from '../context/perContext.js';

/** Answers for many keys at once, in the order of the keys. */
export type Batch<V> = (ctx: Context, keys: readonly string[]) => Promise<ArrayLike<V | Error>>;

/**
 * Declares a loader: `const contactLoader = loader(contactsById)` once, then `contactLoader(ctx).load(id)`. Keys asked for at one moment
 * are one call of `batch`; what was read stays until the context ends or the next mutation of the document begins.
 */
export const loader =
  <V>(batch: Batch<V>) =>
  (ctx: Context): Loader<V> =>
    loaderOf(ctx, batch, (keys) => batch(ctx, keys));

/** Declares a call that is batched and remembers nothing: for writes, locks, and what changes while it is read. */
export function batched<V>(batch: Batch<V>): (ctx: Context, key: string) => Promise<V> {
  const callsOf = perContext((ctx: Context) => {
    return new DataLoader<string, V>((keys) => batch(ctx, keys), { maxBatchSize: mostAtOnce, cache: false });
  });
  return (ctx, key) => callsOf(ctx).load(key);
}
