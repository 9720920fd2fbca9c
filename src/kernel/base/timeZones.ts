const offsets = new Map<string, Intl.DateTimeFormat>();

/** How far a zone's clocks are ahead of UTC at an instant, in milliseconds. */
function offsetAt(zone: string, instant: number): number {
  const format = offsets.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  offsets.set(zone, format);
  const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? [];
  const ahead = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  return sign === '-' ? -ahead : ahead;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The last millisecond of a day (YYYY-MM-DD) in a time zone, whatever its clocks do at midnight. */
export function endOfDay(day: string, zone: string): Date {
  const next = Date.parse(`${day}T00:00:00Z`) + dayMs;
  const [before, after] = [next - offsetAt(zone, next - dayMs), next - offsetAt(zone, next + dayMs)];
  // Where midnight is skipped neither shows 00:00, and the day ends with the clocks that it had.
  const shows = (instant: number) => instant + offsetAt(zone, instant) === next;
  return new Date((shows(before) || !shows(after) ? before : after) - 1);
}

/** The day, YYYY-MM-DD, that it is in a time zone at an instant. */
export const today = (zone: string, now: Date): string =>
  new Date(now.getTime() + offsetAt(zone, now.getTime())).toISOString().slice(0, 10);

/** The day that comes so many days after a day. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);

/**
 * The instant so many days after another at the same local time. A local time that the clocks skip is told by the offset of
 * before, one that they show twice is the first.
 */
export function daysAfter(instant: Date, days: number, zone: string): Date {
  const local = instant.getTime() + offsetAt(zone, instant.getTime()) + days * dayMs;
  const [before, after] = [local - offsetAt(zone, local - dayMs), local - offsetAt(zone, local + dayMs)];
  const shows = (at: number) => at + offsetAt(zone, at) === local;
  return new Date(shows(before) || !shows(after) ? before : after);
}

/** A day (its beginning) or a date-time as an instant; one without an offset is told by the clocks of the time zone. */
export function instantOf(moment: string, zone: string): Date {
  if (/^\d{4}-\d{2}-\d{2}$/.test(moment)) return new Date(endOfDay(dayAfter(moment, -1), zone).getTime() + 1);
  const text = moment.toUpperCase().replace(' ', 'T');
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return new Date(text);
  const local = Date.parse(`${text}Z`);
  // The offset at the first guess may be that of the other side of a change of clocks.
  return new Date(local - offsetAt(zone, local - offsetAt(zone, local)));
}

/**
 * The instant of a date-time; one without an offset is told by the clocks of the time zone: undefined where they skip it, the first of
 * the two where they show it twice.
 */
export function instantAt(moment: string, zone: string): Date | undefined {
  const text = moment.toUpperCase().replace(' ', 'T');
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return new Date(text);
  const local = Date.parse(`${text}Z`);
  const candidates = [local - offsetAt(zone, local - dayMs), local - offsetAt(zone, local + dayMs)];
  const shown = candidates.find((instant) => instant + offsetAt(zone, instant) === local);
  return shown === undefined ? undefined : new Date(shown);
}

/** Whether it is the IANA name of a time zone that this runtime knows; an offset is none, since it has no summer time. */
export function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && Boolean(new Intl.DateTimeFormat('en-US', { timeZone: name }));
  } catch {
    return false;
  }
}

/** What the clocks of a zone show at an instant, as if they were those of UTC: milliseconds. */
export const localTime = (instant: Date, zone: string): number => instant.getTime() + offsetAt(zone, instant.getTime());

/**
 * The instant at which the clocks of a zone show a local time, which is given as `localTime` gives it. What they show twice is the
 * first time, and what they skip is the end of what is skipped.
 */
export function atLocal(local: number, zone: string): Date {
  const [before, after] = [local - offsetAt(zone, local - dayMs), local - offsetAt(zone, local + dayMs)];
  const shows = (at: number) => at + offsetAt(zone, at) === local;
  const shown = [Math.min(before, after), Math.max(before, after)].find(shows);
  return new Date(shown ?? changeBetween(local - 2 * dayMs, local + 2 * dayMs, local, zone));
}

/** The first instant at which the clocks show the local time or later. */
function changeBetween(from: number, to: number, local: number, zone: string): number {
  let [early, late] = [from, to];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (middle + offsetAt(zone, middle) >= local) late = middle;
    else early = middle;
  }
  return late;
}
