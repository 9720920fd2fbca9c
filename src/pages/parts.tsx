import type { MouseEvent, ReactNode } from 'react';
import { useSyncExternalStore } from 'react';
import { errorOf } from '../client/errors.js';
import type { AppointmentStatus } from '../generated/client/pages.js';
import { line } from './client.js';
import { go, hrefOf } from './route.js';
import { unkept } from './unkept.js';

interface LinkProps {
  to: string;
  className?: string;
  isHere?: boolean;
  /** Tab does not stop at it: what it stands in is gone to by another key. */
  isSkipped?: boolean;
  children: ReactNode;
}

/** A link within the pages; the browser's own ways to open one (a new tab) stay. */
export function Link({ to, className, isHere, isSkipped, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={hrefOf(to)}
      className={className}
      tabIndex={isSkipped ? -1 : undefined}
      aria-current={isHere ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

const hue = (name: string) => [...name].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 360, 7);

/** Somebody's initials on a colour that is always theirs. */
export function Face({ name }: { name: string | null | undefined }) {
  const shown = name ?? '?';
  const initials = shown
    .split(/\s+/)
    .map((word) => [...word][0])
    .slice(0, 2)
    .join('')
    .toUpperCase();
  return (
    <span className="face" aria-hidden="true" style={{ '--hue': hue(shown) } as object}>
      {initials}
    </span>
  );
}

/** A sum of values: without a currency where there are several. */
export const worth = (total: number, currency: string | null | undefined) =>
  currency ? money(total, currency) : `Σ ${new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 }).format(total)}`;

/** Cents where there are some. */
const centsOf = (value: number) => (Number.isInteger(value) ? { maximumFractionDigits: 0 } : {});

export const money = (value: number | null | undefined, currency: string) =>
  value === null || value === undefined
    ? ''
    : new Intl.NumberFormat(undefined, { style: 'currency', currency, ...centsOf(value) }).format(value);

const nearby = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
export const hours = (from: string, to: string) => hour.formatRange(new Date(from), new Date(to));
export const when = (stamp: string) => nearby.format(new Date(stamp));

const dayAlone = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
/** The time of what happened today, the day of what happened before. */
export const lately = (stamp: string) => {
  const at = new Date(stamp);
  return (at.toDateString() === new Date().toDateString() ? hour : dayAlone).format(at);
};

/** What went wrong, in words for people. */
export function wordsOf(error: unknown): string {
  const told = errorOf(error);
  if (told.code === 'rate_limited') return `Too many at once: try again in ${told.retryAfter} s.`;
  // `fetch` throws it where nothing was reached, in other words in each browser.
  if (told.code === 'no_answer' && told.cause instanceof TypeError) return 'The server cannot be reached: try again.';
  return told.message;
}

/** These words, where something went wrong. */
export function Fault({ error }: { error: unknown }) {
  if (!error) return null;
  return (
    <p role="alert" className="fault">
      {wordsOf(error)}
    </p>
  );
}

const standings = { scheduled: undefined, completed: 'Done', cancelled: 'Cancelled' } satisfies Record<AppointmentStatus, unknown>;

/** How an appointment stands, in a word where it is not to take place any more. */
export function Standing({ status }: { status: AppointmentStatus }) {
  const word = standings[status];
  return word && <small className="standing">{word}</small>;
}

/** How many of a list are not shown. */
export function More({ of, shown }: { of: number | undefined; shown: number }) {
  return of !== undefined && of > shown ? <p className="muted">{of - shown} more are not shown.</p> : null;
}

/** Whether changes arrive now. */
export function Line() {
  const isUp = useSyncExternalStore(line.subscribe, line.isUp);
  return (
    <span className="line" role="status" data-up={isUp}>
      {isUp ? 'Live' : 'Reconnecting'}
    </span>
  );
}

/** What was not kept though its page was left by then, each with the way back. */
export function NotKept() {
  const all = useSyncExternalStore(unkept.subscribe, unkept.all);
  if (all.length === 0) return null;
  return (
    <div className="unkept">
      {all.map((one) => (
        <p key={one.nth} role="alert" className="fault">
          <Link to={one.path}>{one.text}</Link>
          <button type="button" className="plain" onClick={() => unkept.remove(one)}>
            Hide
          </button>
        </p>
      ))}
    </div>
  );
}
