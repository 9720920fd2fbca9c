import { LRUCache } from 'lru-cache';
import { dayMs } from './durations.js';

/** Each takes tens of kilobytes, and a name may be written in any case: so it is known in one, and few are. */
const offsets = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });

function formatOf(zone: string): Intl.DateTimeFormat {
  const name = zone.toLowerCase();
  const known = offsets.get(name);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  offsets.set(name, made);
  return made;
}

/** What the clocks of a zone are ahead of UTC where a day of UTC begins: days are found by these, neighbours by the same ones. */
const atMidnights = new LRUCache<string, number>({ max: 20_000 });

/** How far a zone's clocks are ahead of UTC at an instant, in milliseconds. */
function offsetAt(zone: string, instant: number): number {
  if (instant % dayMs !== 0) return askOffset(zone, instant);
  const key = `${zone} ${instant}`;
  const known = atMidnights.get(key);
  if (known !== undefined) return known;
  const asked = askOffset(zone, instant);
  atMidnights.set(key, asked);
  return asked;
}

function askOffset(zone: string, instant: number): number {
  const format = formatOf(zone);
  const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? [];
  const ahead = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  return sign === '-' ? -ahead : ahead;
}

/** The instants that a local time may be: by the offset of the day before, and by that of the day after. */
const candidatesOf = (local: number, zone: string): [number, number] => [
  local - offsetAt(zone, local - dayMs),
  local - offsetAt(zone, local + dayMs),
];

/** Whether the clocks show a local time at an instant. */
const isShown = (local: number, zone: string) => (instant: number) => instant + offsetAt(zone, instant) === local;

/** The instant of a local time, the first of two: one that the clocks skip is told by the offset of before. */
function firstInstant(local: number, zone: string): number {
  const [before, after] = candidatesOf(local, zone);
  if (before === after) return before;
  const shows = isShown(local, zone);
  return shows(before) || !shows(after) ? before : after;
}

/**
 * The first instant of the day that comes so many days after a day (YYYY-MM-DD) in a time zone, whatever its clocks do at midnight: the
 * first of two midnights, and where it is skipped the day begins with the clocks of the day before.
 */
export const beginOfDay = (day: string, zone: string, days = 0): Date =>
  new Date(firstInstant(Date.parse(`${day}T00:00:00Z`) + days * dayMs, zone));

/** The last millisecond of a day (YYYY-MM-DD) in a time zone. */
export const endOfDay = (day: string, zone: string): Date => new Date(beginOfDay(day, zone, 1).getTime() - 1);

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
  return new Date(firstInstant(local, zone));
}

/**
 * A day (its beginning) or a date-time as an instant; one without an offset is told by the clocks of the time zone. It always comes to
 * one: where the clocks skip the local time it is told by the offset of before, where they show it twice it is the second.
 */
export function nearestInstant(moment: string, zone: string): Date {
  if (/^\d{4}-\d{2}-\d{2}$/.test(moment)) return beginOfDay(moment, zone);
  const text = moment.toUpperCase().replace(' ', 'T');
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return new Date(text);
  const local = Date.parse(`${text}Z`);
  const [before, after] = candidatesOf(local, zone);
  return new Date(isShown(local, zone)(after) ? after : before);
}

/**
 * The instant at which the clocks of the time zone show a date-time, or the one that its offset says. Undefined where they skip the
 * local time, the first of the two where they show it twice.
 */
export function shownInstant(moment: string, zone: string): Date | undefined {
  const text = moment.toUpperCase().replace(' ', 'T');
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return new Date(text);
  const local = Date.parse(`${text}Z`);
  const shown = candidatesOf(local, zone).find(isShown(local, zone));
  return shown === undefined ? undefined : new Date(shown);
}

/**
 * The IANA names that are one word. Runtimes know more, as abbreviations of a zone that may not be the one that was meant: BST is that of
 * Dhaka.
 */
const words = new Map(
  `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan
  Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu`
    .split(/\s+/)
    .map((name) => [name.toLowerCase(), name]),
);

/**
 * The zones that IANA links these names to. PostgreSQL looks for abbreviations first, and takes them for clocks that are never changed:
 * all others of our words it knows as zones, or as UTC.
 */
const behindAbbreviations = new Map(
  Object.entries({
    ...{ cet: 'Europe/Brussels', met: 'Europe/Brussels', eet: 'Europe/Athens', wet: 'Europe/Lisbon' },
    ...{ est: 'America/Panama', mst: 'America/Phoenix', hst: 'Pacific/Honolulu' },
  }),
);

/** A name of the zone that PostgreSQL takes for the same clocks as this runtime does. */
export const zoneInSql = (zone: string): string => behindAbbreviations.get(zone.toLowerCase()) ?? zone;

/** More characters than the name of any zone has. */
const longestZone = 64;

/** What Intl knows of a name. */
interface KnownZone {
  isZone: boolean;
  /** How IANA spells it; undefined where the runtime tells another name of the zone. */
  name?: string;
}

/** By names in small letters: asking Intl is slow, and a call flow may name thousands of zones, or one in thousands of spellings. */
const knownZones = new LRUCache<string, KnownZone>({ max: 1000 });

/**
 * The IANA name of a time zone that this runtime knows, spelled as IANA spells it where it is given in small letters or in capitals;
 * undefined for what is none. An offset is none, since it has no summer time.
 */
export function zoneName(given: string): string | undefined {
  // In small letters the sign of kelvins would be a k.
  if (given.length > longestZone || !/^[\w/+-]+$/.test(given)) return undefined;
  const lower = given.toLowerCase();
  let known = knownZones.get(lower);
  if (!known) {
    known = lookUpZone(lower);
    knownZones.set(lower, known);
  }
  return known.isZone ? (known.name ?? inCase(given)) : undefined;
}

function lookUpZone(lower: string): KnownZone {
  const word = words.get(lower);
  if (!word && (!lower.includes('/') || lower.startsWith('systemv/') || !/^[a-z]/.test(lower))) return { isZone: false };
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: lower }).resolvedOptions();
    // Another name of the same zone stays what it is: this runtime would have Asia/Calcutta for Asia/Kolkata.
    return { isZone: true, name: word ?? (timeZone.toLowerCase() === lower ? timeZone : undefined) };
  } catch {
    return { isZone: false };
  }
}

/** Parts of names that are no words with a capital. */
const parts = new Map([...words, ...['of', 'au', 'es'].map((word) => [word, word] as const), ['us', 'US']]);

/** A name that is written in small letters or in capitals alone, with the capitals of names: asia/kolkata is Asia/Kolkata. */
function inCase(name: string): string {
  const lower = name.toLowerCase();
  if (name !== lower && name !== name.toUpperCase()) return name;
  return lower.replace(/[a-z]+/g, (word) => parts.get(word) ?? word[0]!.toUpperCase() + word.slice(1));
}

/** Whether it is the IANA name of a time zone that this runtime knows. */
export const isZone = (name: string): boolean => zoneName(name) !== undefined;

/** What the clocks of a zone show at an instant, as if they were those of UTC: milliseconds. */
export const localTime = (instant: Date, zone: string): number => instant.getTime() + offsetAt(zone, instant.getTime());

/**
 * The instant at which the clocks of a zone show a local time, which is given as `localTime` gives it. What they show twice is the
 * first time, and what they skip is the end of what is skipped.
 */
export function atLocal(local: number, zone: string): Date {
  const [before, after] = candidatesOf(local, zone);
  const shown = [Math.min(before, after), Math.max(before, after)].find(isShown(local, zone));
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
