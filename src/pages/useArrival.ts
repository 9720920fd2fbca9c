import { useEffect, useRef } from 'react';

/** Gives the focus to the heading of the page, unless something has it. Answers whether nothing is left to do. */
function arrive(): boolean {
  if (document.activeElement && document.activeElement !== document.body) return true;
  const heading = document.querySelector<HTMLElement>('main h1');
  if (!heading) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return true;
}

/**
 * Whoever went to another page from an element that is gone there has the focus on its heading, once it has one: Tab goes on from
 * there, and a screen reader says it.
 */
export function useArrival(path: string): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return undefined;
    before.current = path;
    if (arrive()) return undefined;
    const seen = new MutationObserver(() => arrive() && seen.disconnect());
    seen.observe(document.body, { childList: true, subtree: true });
    return () => seen.disconnect();
  }, [path]);
}
