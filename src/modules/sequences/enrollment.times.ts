import { dayMs } from '../../kernel/base/durations.js';
import { atLocal, localTime } from '../../kernel/base/timeZones.js';
import type { EnrollmentRow } from './enrollment.table.js';

/** What its steps are counted from, and when the next one comes. */
export type Times = Pick<EnrollmentRow, 'countsFrom' | 'nextEmailAt'>;

/**
 * The times of an enrollment of which all that is left is later by what passed between two moments, by the clocks on the wall: a day of 23
 * hours would leave all that follows an hour early.
 */
function laterBy({ countsFrom, nextEmailAt }: Times, [from, to]: [from: Date, to: Date], zone: string): Times {
  const passed = Math.max(localTime(to, zone) - localTime(from, zone), 0);
  const later = (at: Date) => {
    const local = localTime(at, zone) + passed;
    const elapsed = new Date(at.getTime() + to.getTime() - from.getTime());
    // Of a time that the clocks show twice it may be the second.
    return localTime(elapsed, zone) === local ? elapsed : atLocal(local, zone);
  };
  return { countsFrom: later(countsFrom), nextEmailAt: nextEmailAt && later(nextEmailAt) };
}

/** The times of an enrollment that was held and goes on now. */
export const heldTimes = ({ heldAt, ...times }: Times & Pick<EnrollmentRow, 'heldAt'>, zone: string, now: Date): Times =>
  laterBy(times, [heldAt ?? now, now], zone);

/**
 * The times of an enrollment, later by what its step was put off by: a day or more, as while the workspace is suspended. The worker of due
 * rows puts off `dueAt` alone; all others move it together with `nextEmailAt`.
 */
export function putOffTimes({ dueAt, ...times }: Times & Pick<EnrollmentRow, 'dueAt'>, zone: string): Times {
  const { countsFrom, nextEmailAt } = times;
  if (!dueAt || !nextEmailAt || dueAt.getTime() - nextEmailAt.getTime() < dayMs) return { countsFrom, nextEmailAt };
  return laterBy(times, [nextEmailAt, dueAt], zone);
}
