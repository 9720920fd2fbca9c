import { localTime } from '../../kernel/base/timeZones.js';
import type { Hours } from './callFlow.graph.js';

/** The minute of the day that HH:MM stands for; undefined for what is no time of day. */
export function minuteOf(time: unknown): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(typeof time === 'string' ? time : '') ?? [];
  return hour === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

/**
 * Whether it is within opening hours, the start included and the end not, by the clocks of the zone. Hours that end before they
 * start go on after midnight; those that end when they start are the whole day.
 */
export function isOpen(hours: readonly Hours[], zone: string, now: Date): boolean {
  const local = new Date(localTime(now, zone));
  const [weekday, minute] = [local.getUTCDay(), local.getUTCHours() * 60 + local.getUTCMinutes()];
  return hours.some(({ day, start, end }) => {
    const [from, to] = [minuteOf(start)!, minuteOf(end)!];
    const isFirstDay = day === weekday;
    if (from < to) return isFirstDay && minute >= from && minute < to;
    return (isFirstDay && minute >= from) || ((day + 1) % 7 === weekday && minute < to);
  });
}
