import { useEffect } from 'react';

/** What the window is called. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** The name of a page whose place is told by the navigation: for the window, and for those who do not see it. */
export function Title({ children }: { children: string }) {
  useTitle(children);
  return <h1 className="unseen">{children}</h1>;
}
