/**
 * Live queries on the side of the client: what a page is after each message of `subscription { live { deals { … } } }`, and what
 * to send as `after` so that only the difference comes. Works in every runtime and depends on nothing.
 */

/** A row of a message, as the server sends it; its node is null where the record only moved. */
export type LiveEdge<T> = { recordId: string; index: number; change: 'added' | 'changed' | 'moved'; version: string; node?: T | null };

/** What a message says of one list. */
export type LiveChanges<T> = { isWhole: boolean; rows: readonly LiveEdge<T>[]; removed: readonly string[] };

/** A record of a page. */
export type LiveRow<T> = { id: string; version: string; node: T };

/** What the server is told that the client has of a list: an element of the argument `after`. */
export type LiveHave = { list: string; rows: string[] };

/** The rows of a page after a message. Rows that did not change stay the same objects. */
export function applyLive<T>(before: readonly LiveRow<T>[], { isWhole, rows, removed }: LiveChanges<T>): LiveRow<T>[] {
  const old = new Map(isWhole ? [] : before.map((row) => [row.id, row]));
  const gone = new Set([...removed, ...rows.map(({ recordId }) => recordId)]);
  const after = isWhole ? [] : before.filter(({ id }) => !gone.has(id));
  for (const { recordId: id, index, change, version, node } of rows) {
    after.splice(index, 0, (change === 'moved' && old.get(id)) || { id, version, node: node as T });
  }
  return after;
}

/** What to send as `after` of lists by the names under which they answer. */
export const haveOf = (lists: Readonly<Record<string, readonly LiveRow<unknown>[]>>): LiveHave[] =>
  Object.entries(lists).map(([list, rows]) => ({ list, rows: rows.map(({ id, version }) => `${id} ${version}`) }));
