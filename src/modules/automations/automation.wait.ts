import { dayMs, hourMs, minuteMs, secondMs } from '../../kernel/base/durations.js';
import { withoutNulls } from '../../kernel/base/objects.js';
import { atLocal, daysAfter, isZone, localTime } from '../../kernel/base/timeZones.js';
import { isInYears, moment } from '../../kernel/model/checks.js';

const units = { seconds: secondMs, minutes: minuteMs, hours: hourMs, days: dayMs, weeks: 7 * dayMs };
type Unit = keyof typeof units;
const unitNames = Object.keys(units) as Unit[];

/** The longest wait, and the longest patience with an event. */
const longestMs = 10 * 366 * units.days;

/** So long: days keep the local time, whatever the clocks do in between. */
interface Span {
  days: number;
  ms: number;
}

/** What a wait waits for. */
export type Wait =
  | { for: Span }
  | { until: { hour: number; minute: number; weekdays: number[]; zone: string | null } }
  | { at: Date }
  | { event: string; conditions: unknown; patience: Span | null };

/** Whether a wait is for an instant, which comes once: whoever comes round to it again goes on at once. All others begin anew. */
export const isOnce = (wait: Wait | undefined): boolean => wait !== undefined && 'at' in wait;

const isPart = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** `{days: 1, hours: 12}`, or `{duration: 5, unit: 'minutes'}`; undefined for what is none, or nothing at all. Null is absent. */
function spanOf(given: Record<string, unknown>): Span | undefined {
  const config = withoutNulls(given);
  const { duration, unit } = config;
  const named = typeof unit === 'string' ? unitNames.find((name) => name === unit || name === `${unit}s`) : undefined;
  const parts = duration === undefined ? config : named && { [named]: duration };
  if (!parts) return undefined;
  if (unitNames.some((name) => parts[name] !== undefined && !isPart(parts[name]))) return undefined;
  const of = (name: Unit) => (parts[name] as number | undefined) ?? 0;
  const whole = of('days') + 7 * of('weeks');
  const days = Math.floor(whole);
  const ms = of('seconds') * units.seconds + of('minutes') * units.minutes + of('hours') * units.hours + (whole - days) * units.days;
  const length = ms + days * units.days;
  return length >= secondMs && length <= longestMs ? { days, ms: Math.round(ms) } : undefined;
}

function untilOf({ until, weekdays = [], timezone = null }: Record<string, unknown>): Wait | undefined {
  if (typeof until !== 'string') return undefined;
  const clock = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(until);
  if (!clock) return momentOf(until);
  const days = weekdays as unknown[];
  if (!Array.isArray(days) || !days.every((day) => Number.isInteger(day) && (day as number) >= 0 && (day as number) <= 6)) return undefined;
  if (timezone !== null && !(typeof timezone === 'string' && isZone(timezone))) return undefined;
  return { until: { hour: Number(clock[1]), minute: Number(clock[2]), weekdays: days as number[], zone: timezone } };
}

function momentOf(given: string): Wait | undefined {
  const text = given.trim().toUpperCase().replace(' ', 'T');
  if (!/^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:?\d{2})$/.test(text)) return undefined;
  const at = new Date(text);
  return isInYears(at) ? { at } : undefined;
}

/**
 * What the config of a wait says: a span (`days`, `hours` …, or `duration` and `unit`), `until` a local time (HH:MM, on `weekdays`,
 * 0 is Sunday, by the clock of `timezone`) or an instant, or an `event`, with `conditions` and a `timeout`. A member that is null is
 * absent. Undefined for what is none of them.
 */
export function waitOf(given: Record<string, unknown>): Wait | undefined {
  const config = withoutNulls(given);
  if (config.until !== undefined) return untilOf(config);
  if (config.event === undefined) {
    const span = spanOf(config);
    return span && { for: span };
  }
  if (typeof config.event !== 'string') return undefined;
  const patience = config.timeout === undefined ? null : spanOf(Object(config.timeout) as Record<string, unknown>);
  return patience === undefined ? undefined : { event: config.event, conditions: config.conditions ?? null, patience };
}

/**
 * Whether the instant of a wait is written as one of the calendar, as everywhere: JavaScript reads February 30 as a day in March. Versions
 * that were published while it could be go on.
 */
export function isOfCalendar({ until }: Record<string, unknown>): boolean {
  let isGood = true;
  moment(until, 'until', () => {
    isGood = false;
  });
  return isGood;
}

/** Whether a config names both an event and a time: which of them a wait is for is not said. */
export const namesEventAndTime = (config: Record<string, unknown>): boolean =>
  (config.event ?? null) !== null && [...unitNames, 'duration', 'until'].some((name) => (config[name] ?? null) !== null);

const after = ({ days, ms }: Span, now: Date, zone: string): Date => new Date((days > 0 ? daysAfter(now, days, zone) : now).getTime() + ms);

/** When a wait that begins now ends by itself; null where only an event ends it. `zone` is the workspace's. */
export function endOfWait(wait: Wait, now: Date, zone: string): Date | null {
  if ('for' in wait) return after(wait.for, now, zone);
  if ('at' in wait) return wait.at;
  if ('event' in wait) return wait.patience && after(wait.patience, now, zone);
  return nextTime(wait.until, now, wait.until.zone ?? zone);
}

/** The next moment at which the clocks of a zone show a time, on one of some weekdays or on any. */
function nextTime({ hour, minute, weekdays }: { hour: number; minute: number; weekdays: number[] }, now: Date, zone: string): Date {
  const midnight = Math.floor(localTime(now, zone) / units.days) * units.days;
  for (let days = 0; ; days++) {
    const local = midnight + days * units.days + hour * units.hours + minute * units.minutes;
    const at = atLocal(local, zone);
    const isWanted = weekdays.length === 0 || weekdays.includes(new Date(local).getUTCDay());
    if (isWanted && at > now) return at;
  }
}
