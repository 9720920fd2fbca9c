import { useSyncExternalStore } from 'react';

const base = '/board';

/** Where the page is: '/', '/contacts', '/contacts/{id}'. */
export const here = () => location.pathname.slice(base.length) || '/';

/** The same, followed. */
export function usePath(): string {
  return useSyncExternalStore((listener) => {
    addEventListener('popstate', listener);
    return () => removeEventListener('popstate', listener);
  }, here);
}

export const hrefOf = (path: string) => (path === '/' ? base : base + path);

export function go(path: string): void {
  history.pushState(null, '', hrefOf(path));
  dispatchEvent(new PopStateEvent('popstate'));
}
