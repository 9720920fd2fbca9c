import { LRUCache } from 'lru-cache';

/** How many texts get a name unless told otherwise. */
export const mostNames = 300;
/** Longer texts are composed of a client's conditions: they get no name, and are not kept. */
const longestNamed = 20_000;
/** How much text is kept of statements that have a name, and of those that were met once. */
const mostKept = 2_000_000;

/**
 * Names for prepared statements: a text gets one on its second use, and no more than a fixed number get one, since
 * every connection keeps every name for ever.
 */
export function statementNames(max = mostNames, prefix = 's'): (query: { sql: string }) => string | undefined {
  const names = new Map<string, string>();
  const seenOnce = new LRUCache<string, true>({ max: 1000, maxSize: mostKept, sizeCalculation: (_, text) => text.length });
  let room = mostKept;
  return ({ sql }) => {
    if (sql.length > longestNamed) return undefined;
    const known = names.get(sql);
    if (known || names.size >= max || sql.length > room || !/^\s*(select|with|insert|update|delete)\b/i.test(sql)) return known;
    if (!seenOnce.delete(sql)) {
      seenOnce.set(sql, true);
      return undefined;
    }
    const name = `${prefix}${names.size}`;
    names.set(sql, name);
    room -= sql.length;
    return name;
  };
}
