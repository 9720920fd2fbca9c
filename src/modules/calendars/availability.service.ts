import { dayMs, hourMs, minuteMs } from '../../kernel/base/durations.js';
import { check, invalidField } from '../../kernel/base/errors.js';
import { atLocal, dayAfter, shownInstant, today } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { instant, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { isDay } from '../../kernel/model/checks.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { type Availability, type AvailabilityInput, mostSlots, type Slot } from './availability.model.js';
import { Weekday } from './calendar.model.js';
import { getCalendar } from './calendar.service.js';
import type { CalendarRow } from './calendar.table.js';

/** The longest range that is asked for, in days. */
const longest = 62;
/** What a day, its slots and its buffers can still be told of with a year of four digits. */
const latest = Date.UTC(9999, 0);

/** From one instant to another, which is no part of it; in milliseconds. */
interface Span {
  from: number;
  to: number;
}

/** When the clocks of a zone show a time, HH:MM, of a day: the first time, or where they skip it the moment of the change. */
const firstInstantAt = (day: string, time: string, zone: string) => atLocal(Date.parse(`${day}T${time}Z`), zone);

/** One end of the range: a day is as long as the clocks of the calendar say. Throws 400 where they skip the time. */
function endOf(field: 'from' | 'to', moment: string, { timezone }: CalendarRow): number {
  const end = isDay(moment)
    ? firstInstantAt(field === 'to' ? dayAfter(moment, 1) : moment, '00:00', timezone)
    : shownInstant(moment, timezone);
  check(end, () => invalidField(field, 'out_of_range', `is skipped by the clocks of ${timezone} on that day`));
  return end.getTime();
}

/** The range that is asked for. Throws 400 where it ends before it begins, or is too long. */
function rangeOf(ctx: Context, { from, to }: AvailabilityInput, calendar: CalendarRow): Span {
  const now = ctx.now().getTime();
  const begins = from ? endOf('from', from, calendar) : now;
  const ends = to ? endOf('to', to, calendar) : Math.max(begins, now) + 7 * dayMs;
  check(ends < latest, () => invalidField(to ? 'to' : 'from', 'out_of_range', 'must be before the year 9999'));
  check(ends > begins, () => invalidField(to ? 'to' : 'from', 'conflicting', to ? 'must be after from' : 'must be before to'));
  // A day may have 25 hours. Without an end it is a week, however long ago it would begin.
  check(!to || ends - begins <= longest * dayMs + 2 * hourMs, () =>
    invalidField('to', 'out_of_range', `must be at most ${longest} days after from`),
  );
  return { from: Math.max(begins, now), to: ends };
}

const weekdays = Object.keys(Weekday);
/** Monday is the first. */
const weekdayOf = (day: string) => weekdays[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7];

/** When the calendar is open on a day: what overlaps is one. */
function openOn(day: string, { workingHours, timezone }: CalendarRow): Span[] {
  const weekday = weekdayOf(day);
  const at = (time: string) =>
    (time === '24:00' ? firstInstantAt(dayAfter(day, 1), '00:00', timezone) : firstInstantAt(day, time, timezone)).getTime();
  const spans = workingHours
    .filter((hours) => hours.day === weekday)
    .map(({ opens, closes }) => ({ from: at(opens), to: at(closes) }))
    .sort((a, b) => a.from - b.from);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && span.from < last.to) last.to = Math.max(last.to, span.to);
    else merged.push(span);
  }
  return merged;
}

const busyIn = statement({
  name: 'busyTimes',
  takes: { calendar: uuid, person: nullable(uuid), from: instant, to: instant },
  row: { startTime: instant, busyUntil: instant },
  text: ({ account, calendar, person, from, to }) => {
    // As the exclusion constraints spell it, whose indexes find them.
    const taken = sql`t.account_id = ${account} and tstzrange(t.start_time, t.busy_until) && tstzrange(${from}, ${to})
      and t.status = 'scheduled' and t.deleted_at is null`;
    return sql`
      select t.start_time as "startTime", t.busy_until as "busyUntil" from appointments t where ${taken} and t.calendar_id = ${calendar}
      union select t.start_time, t.busy_until from appointments t where ${taken} and t.assigned_to = ${person} and t.assigned_to is not null
      order by 1`;
  },
});

/** The free slots of a span in which the calendar is open: one after the other from when it opens. `taken` is sorted. */
function* slotsIn(open: Span, range: Span, taken: readonly Span[], slot: number, buffer: number): Generator<Slot> {
  let next = 0;
  for (let from = open.from; from + slot <= open.to && from + slot <= range.to; from += slot) {
    if (from < range.from) continue;
    while (next < taken.length && taken[next]!.to <= from) next++;
    if (next < taken.length && taken[next]!.from < from + slot + buffer) continue;
    yield { startTime: new Date(from), endTime: new Date(from + slot) };
  }
}

/** What is taken, without overlaps: appointments of a calendar and of a person may. */
function unitedSpans(rows: readonly { startTime: Date; busyUntil: Date }[]): Span[] {
  const united: Span[] = [];
  for (const { startTime, busyUntil } of rows) {
    const [last, from, to] = [united.at(-1), startTime.getTime(), busyUntil.getTime()];
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else united.push({ from, to });
  }
  return united;
}

/** Every free slot of a range, day by day of the calendar. */
function* freeSlots(calendar: CalendarRow, range: Span, taken: readonly Span[], slotMinutes: number): Generator<Slot> {
  const lastDay = today(calendar.timezone, new Date(range.to));
  for (let day = today(calendar.timezone, new Date(range.from)); day <= lastDay; day = dayAfter(day, 1)) {
    for (const open of openOn(day, calendar)) yield* slotsIn(open, range, taken, slotMinutes * minuteMs, calendar.bufferMinutes * minuteMs);
  }
}

/**
 * When a calendar can be booked: slots from the opening of its working hours on, one after the other by elapsed time, so that a day on
 * which the clocks change has as many as fit; those that an appointment and the buffers leave free. Throws 400 where the range is wrong.
 */
export async function availabilityOf(ctx: Context, id: string, input: AvailabilityInput): Promise<Availability> {
  const calendar = await getCalendar(ctx, id);
  const { slotMinutes = calendar.slotMinutes, assignedTo = null } = input;
  const range = rangeOf(ctx, input, calendar);
  await checkReferences(ctx, { assignedTo: 'user' }, { assignedTo });
  const slots: Slot[] = [];
  let nextFrom: Date | null = null;
  if (range.to > range.from) {
    const until = new Date(range.to + calendar.bufferMinutes * minuteMs);
    const busy = await ctx.rows(busyIn, { calendar: calendar.id, person: assignedTo, from: new Date(range.from), to: until });
    for (const slot of freeSlots(calendar, range, unitedSpans(busy), slotMinutes ?? calendar.slotMinutes)) {
      if (slots.length === mostSlots) {
        nextFrom = slot.startTime;
        break;
      }
      slots.push(slot);
    }
  }
  return { calendarId: calendar.id, timezone: calendar.timezone, slotMinutes: slotMinutes ?? calendar.slotMinutes, slots, nextFrom };
}
