import DataLoader from 'dataloader';
import { type Owner, perContext } from './perContext.js';

/** More keys than these are asked for in several calls. */
export const mostAtOnce = 500;

/** A loader of one request: `load` many times, one statement. */
export class Loader<V> {
  readonly #inner: DataLoader<string, V>;

  constructor(batch: (keys: readonly string[]) => Promise<ArrayLike<V | Error>>) {
    this.#inner = new DataLoader(batch, { maxBatchSize: mostAtOnce });
  }

  load(key: string): Promise<V> {
    return this.#inner.load(key);
  }

  /** The value, or null for a null key. */
  maybe(key: string | null | undefined): Promise<V | null> {
    return key ? this.#inner.load(key) : Promise.resolve(null);
  }

  clear(key: string): void {
    this.#inner.clear(key);
  }

  /** The value as it is now, in one statement with what is asked for at the same moment: for what changes as it is read. */
  fresh(key: string): Promise<V> {
    return this.#inner.clear(key).load(key);
  }
}

const loadersIn = perContext(() => new Map<unknown, Loader<unknown>>());

/** The loader of a context by what it is known by, such as a name that says all that it depends on; made when first asked for. */
export function loaderOf<V>(ctx: Owner, key: unknown, batch: (keys: readonly string[]) => Promise<ArrayLike<V | Error>>): Loader<V> {
  const known = loadersIn(ctx);
  const loader = known.get(key) ?? new Loader<unknown>(batch);
  known.set(key, loader);
  return loader as Loader<V>;
}

/** Forgets what the loaders of a context have read: what comes now may have been changed since. */
export const readAnew = (ctx: Owner): void => loadersIn(ctx).clear();

/** The rows in the order of the keys; null where there is none. */
export function inOrder<R>(keys: readonly string[], rows: R[], keyOf: (row: R) => string): (R | null)[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.map((key) => byKey.get(key) ?? null);
}

/** The rows of each key, in the order in which they came. */
export function grouped<R>(keys: readonly string[], rows: R[], keyOf: (row: R) => string): R[][] {
  const groups = new Map<string, R[]>(keys.map((key) => [key, []]));
  for (const row of rows) groups.get(keyOf(row))?.push(row);
  return keys.map((key) => groups.get(key) ?? []);
}
