import { useLayoutEffect, useRef } from 'react';

/** What was not kept, and was refused when the page that it was done in had been left: what it was and why, and where. */
export interface Unkept {
  nth: number;
  text: string;
  path: string;
}

/** How many of them are shown at most: those of before are old. */
const most = 3;
const listeners = new Set<() => void>();
let all: readonly Unkept[] = [];
let last = 0;
let sessions = 0;

function become(next: readonly Unkept[]): void {
  all = next.slice(-most);
  for (const listener of [...listeners]) listener();
}

/** A store for `useSyncExternalStore`, shown on every page. */
export const unkept = {
  all: () => all,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  add: (text: string, path: string) => become([...all, { nth: ++last, text, path }]),
  remove: (one: Unkept) => become(all.filter((other) => other !== one)),
  /** The session that writes are of: what is refused in the next one is of somebody else. */
  whose: () => sessions,
  /** For the next session. */
  clear() {
    sessions++;
    become([]);
  },
};

/** Tells whether the component is gone by now: what it would show then nobody sees. */
export function useGone(): () => boolean {
  const gone = useRef(false);
  useLayoutEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  return () => gone.current;
}
