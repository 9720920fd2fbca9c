import DataLoader from 'dataloader';
import { type Owner, perContext } from './perContext.js';
import type { BatchOf } from './registry.js';

/** What `ctx.load` offers. Each module adds its loaders by declaration merging and lists their batches in its module file. */
// biome-ignore lint/suspicious/noEmptyInterface: modules merge their loaders into it
export interface Loaders {}

/** A loader of one request: `load` many times, one statement. */
export class Loader<V> {
  readonly #inner: DataLoader<string, V>;

  constructor(batch: (keys: readonly string[]) => Promise<ArrayLike<V | Error>>) {
    this.#inner = new DataLoader(batch, { maxBatchSize: 500 });
  }

  load(key: string): Promise<V> {
    return this.#inner.load(key);
  }

  /** The value, or null for a null key. */
  maybe(key: string | null | undefined): Promise<V | null> {
    return key ? this.#inner.load(key) : Promise.resolve(null);
  }

  /** Keeps a value that another statement brought along. */
  prime(key: string, value: V): void {
    this.#inner.clear(key).prime(key, value);
  }

  clear(key: string): void {
    this.#inner.clear(key);
  }

  /** The value as it is now, in one statement with what is asked for at the same moment: for what changes as it is read. */
  fresh(key: string): Promise<V> {
    return this.#inner.clear(key).load(key);
  }
}

const loadersIn = perContext(() => new Map<string, Loader<unknown>>());

/** The loader of a context by a name that says all that it depends on, made when first asked for. */
export function loaderOf<V>(ctx: Owner, name: string, batch: (keys: readonly string[]) => Promise<ArrayLike<V>>): Loader<V> {
  const known = loadersIn(ctx);
  const loader = known.get(name) ?? new Loader<unknown>(batch);
  known.set(name, loader);
  return loader as Loader<V>;
}

/** Forgets what the loaders of a context have read: what comes now may have been changed since. */
export const readAnew = (ctx: Owner): void => loadersIn(ctx).clear();

/** The loaders of the modules, bound to one context. */
export function loadersFor<C extends Owner>(ctx: C, batches: ReadonlyMap<string, BatchOf<C>>): Loaders {
  return new Proxy({} as Loaders, {
    get(_target, name: string) {
      const batch = batches.get(name);
      if (!batch) throw new Error(`No loader is called ${name}`);
      return loaderOf(ctx, name, (keys) => batch(ctx, keys));
    },
  });
}

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
