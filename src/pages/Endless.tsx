import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { More } from './parts.js';

/** How many records a page of a list has, as in the documents, and how many pages are watched at most. */
const size = 50;
const most = 40;

/** Takes what a page came with: its number, and how many records the list has in all. */
export type Came = (page: number, total: number) => void;

interface EndlessProps {
  className: string;
  /** A page, by its number from 1: rows of a list, live by itself. */
  page(page: number, came: Came): ReactNode;
  /** What stands above the list; without a number until it is known. */
  head?(total: number | undefined): ReactNode;
  /** What the list says where there is nothing. */
  empty?: string;
}

/** A live list, which grows by a page where it is scrolled to its end. Each page goes on showing its places, whatever comes before. */
export function Endless({ className, page: pageOf, head, empty }: EndlessProps) {
  const [pages, want] = useState(1);
  const [{ page, total }, note] = useState<{ page: number; total?: number }>({ page: 0 });
  const came = useCallback<Came>((now, all) => note((last) => ({ page: Math.max(last.page, now), total: all })), []);
  return (
    <>
      {head?.(total)}
      <ul className={className}>
        {Array.from({ length: pages }, (_, n) => pageOf(n + 1, came))}
        {empty && total === 0 && <li className="muted empty">{empty}</li>}
      </ul>
      {page === pages && pages < most && total! > pages * size && <End key={pages} reach={() => want(pages + 1)} />}
      {pages === most && <More of={total} shown={most * size} />}
    </>
  );
}

/** A mark at the end of the list: more is wanted when it comes into sight. */
function End({ reach }: { reach(): void }) {
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A busy browser tells of several looks at once, of which the last one holds.
    const seen = new IntersectionObserver((looks) => looks.at(-1)!.isIntersecting && reach());
    seen.observe(mark.current!);
    return () => seen.disconnect();
  });
  return <div ref={mark} className="end" />;
}
