import DataLoader from 'dataloader';
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

/** Fresh loaders bound to one context, made when first asked for. */
export function loadersFor<C>(ctx: C, batches: ReadonlyMap<string, BatchOf<C>>): Loaders {
  const made = new Map<string, Loader<unknown>>();
  return new Proxy({} as Loaders, {
    get(_target, name: string) {
      const known = made.get(name);
      if (known) return known;
      const batch = batches.get(name);
      if (!batch) throw new Error(`No loader is called ${name}`);
      const loader = new Loader((keys) => batch(ctx, keys));
      made.set(name, loader);
      return loader;
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
