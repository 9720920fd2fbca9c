import { useSyncExternalStore } from 'react';

const base = '/board';

/** Where the page is: '/', '/contacts', '/contacts/{id}'. */
export function usePath(): string {
  return useSyncExternalStore(
    (listener) => {
      addEventListener('popstate', listener);
      return () => removeEventListener('popstate', listener);
    },
    () => location.pathname.slice(base.length) || '/',
  );
}

export const hrefOf = (path: string) => (path === '/' ? base : base + path);

export function go(path: string): void {
  history.pushState(null, '', hrefOf(path));
  dispatchEvent(new PopStateEvent('popstate'));
}
