import { useCallback, useEffect, useRef, useState } from 'react';

/** What a change is to become, and whether it is kept by now. */
interface Entry<V> {
  value: V;
  isKept: boolean;
}

/** Sends a change; answers whether it is kept. What `isNewest` says may change while it is on its way. */
type Send = (isNewest: () => boolean) => Promise<boolean>;

/**
 * Changes that are shown before they are kept, each under a key. Those of one key are sent one after the other, and of those that
 * wait only the newest is: sent at once, the last to be done would win, whichever it is. What arrived (`isThere`) is no longer pending.
 */
export function usePending<V>(isThere: (key: string, value: V) => boolean) {
  const [pending, setPending] = useState<ReadonlyMap<string, Entry<V>>>(new Map());
  const newest = useRef(new Map<string, Entry<V>>());
  const last = useRef(new Map<string, Promise<unknown>>());
  const forget = useCallback((key: string, entry: Entry<V>) => {
    setPending((all) => (all.get(key) === entry ? new Map([...all].filter(([other]) => other !== key)) : all));
  }, []);
  // One that is not sent yet may look as if it were there: put back before what it takes back has arrived.
  useEffect(() => {
    for (const [key, entry] of pending) if (entry.isKept && isThere(key, entry.value)) forget(key, entry);
  });
  /** Whether nothing under this key waits, is on its way or was refused: what was put there last is kept. */
  const isKept = (key: string) => newest.current.get(key)?.isKept ?? true;
  /**
   * Whether it is kept, or another under its key has taken its place. What it was refused by is thrown, unless one has. What was put
   * before under the key `behind` is done first, too: only what is earlier is waited for, so that no two wait for each other.
   */
  async function put(key: string, value: V, send: Send, behind?: string | null): Promise<boolean> {
    const entry: Entry<V> = { value, isKept: false };
    newest.current.set(key, entry);
    setPending((all) => new Map(all).set(key, entry));
    const isNewest = () => newest.current.get(key) === entry;
    const earlier = Promise.all([last.current.get(key), last.current.get(behind ?? key)]);
    const sent = earlier.then(() => !isNewest() || send(isNewest));
    last.current.set(
      key,
      sent.catch(() => {}),
    );
    const told = await sent.catch((refusal: unknown) => ({ refusal }));
    if (!isNewest()) return true;
    if (told === true) {
      entry.isKept = true;
      // The effect looks at it again.
      setPending((all) => new Map(all));
      // The server may keep it in another form, or somebody else have changed it meanwhile: what is live is right.
      setTimeout(() => forget(key, entry), 2000);
      return true;
    }
    forget(key, entry);
    if (told === false) return false;
    throw told.refusal;
  }
  return { pending, put, isKept };
}
