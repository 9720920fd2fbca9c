import { LRUCache } from 'lru-cache';
import type { App } from '../../kernel/context/context.js';
import { tryToNote } from '../../kernel/context/unavailableLog.js';

/** Milliseconds in which a use that could not be noted is not tried again: where somebody holds its row, a try takes two seconds. */
const restMs = 5000;
/** The ids of sessions and keys that are left alone for so long. */
const restingByApp = new WeakMap<App, LRUCache<string, true>>();

function restingOf(app: App) {
  const known = restingByApp.get(app);
  if (known) return known;
  const made = new LRUCache<string, true>({ max: 10_000, ttl: restMs });
  restingByApp.set(app, made);
  return made;
}

/**
 * Notes that the session or key of an id was used; false where that is not noted. Whoever calls is served in any case, and a look after
 * some seconds tries again.
 */
export async function tryToNoteUse(app: App, id: string, note: () => Promise<unknown>): Promise<boolean> {
  const resting = restingOf(app);
  if (resting.has(id)) return false;
  const isNoted = await tryToNote(app, note, 'the use of a session or key could not be noted');
  if (!isNoted) resting.set(id, true);
  return isNoted;
}
