import { minuteMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, instant, integer, listOf, nullable, uuid } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { userTable } from '../users/user.table.js';
import type { AppointmentRow, CalendarRow } from './calendar.table.js';

type Times = Pick<AppointmentRow, 'startTime' | 'endTime'>;
type Buffered = Pick<CalendarRow, 'id' | 'bufferMinutes'>;

/** The last moment of the last year that has four digits: a buffer ends there, as no field of ours holds a later one. */
const lastMoment = '9999-12-31T23:59:59.999Z';

/** From when another may begin after an appointment that takes its time anew. */
export const busyUntil = ({ endTime }: Pick<Times, 'endTime'>, { bufferMinutes }: Pick<Buffered, 'bufferMinutes'>) =>
  new Date(Math.min(endTime.getTime() + bufferMinutes * minuteMs, Date.parse(lastMoment)));

/**
 * From when another may begin after an appointment that was changed. One that was scheduled, and ends when it did or earlier, takes no
 * more time than it had: its buffer may have been cut short by the next one.
 */
export function busyAfter(before: AppointmentRow, after: AppointmentRow, calendar: Buffered): Date {
  const whole = busyUntil(after, calendar);
  if (before.status !== 'scheduled' || after.endTime > before.endTime) return whole;
  const endsThen = after.endTime.getTime() === before.endTime.getTime();
  return endsThen || before.busyUntil < whole ? before.busyUntil : whole;
}

/**
 * Has the next write take the calendar as it was read, and the person whom the appointment is for: those who book there come one after
 * the other, since two under way that overlap would wait for each other until the database ends one of them.
 */
export function takePlace(ctx: Context, calendar: Buffered, person: string | null): void {
  const account = sql`account_id = ${ctx.caller.account.id}::uuid`;
  const asRead = sql`id = ${calendar.id}::uuid and buffer_minutes = ${calendar.bufferMinutes}::int`;
  // Locks are taken in the order of their names: both before the appointments that are changed, as whoever changes a buffer takes them.
  ctx.requireRow(
    `appointment 1 calendar ${calendar.id} ${calendar.bufferMinutes}`,
    sql`select 1 from calendars where ${account} and ${asRead} for no key update`,
  );
  if (!person) return;
  ctx.requireRow(
    `appointment 2 person ${person}`,
    sql`select 1 from memberships t where ${account} and user_id = ${person}::uuid and ${userTable.found} for no key update`,
  );
}

/** When the buffer of an appointment ends if nothing cuts it short: alias `a` is the appointment, `c` its calendar. */
const wholeBufferEnd = sql`least(a.end_time + c.buffer_minutes * interval '1 minute', ${rawSql(`timestamptz '${lastMoment}'`)})`;

// No appointment is moved, and no two come to overlap: a buffer ends where the next one begins, of the calendar or of the person.
const rebuffering = (account: Sql, which: Sql): Sql => sql`
  update appointments t set busy_until = b.until from (
    select a.id, greatest(a.end_time, least(${wholeBufferEnd}, (
        select min(n.start_time) from appointments n where n.account_id = a.account_id and n.calendar_id = a.calendar_id
          and n.start_time >= a.end_time and n.status = 'scheduled' and n.deleted_at is null), (
        select min(n.start_time) from appointments n where n.account_id = a.account_id and n.assigned_to = a.assigned_to
          and n.start_time >= a.end_time and n.status = 'scheduled' and n.deleted_at is null))) as until
    from appointments a join calendars c on c.account_id = a.account_id and c.id = a.calendar_id
    where a.account_id = ${account} and ${which} and a.status = 'scheduled' and a.deleted_at is null) b
  where t.account_id = ${account} and t.id = b.id and t.busy_until <> b.until`;

/** What is on a calendar and not over, alias `a`: what is over may have the old buffer still, or have the new one. */
const notOver = (calendar: Sql, now: Sql): Sql => sql`a.calendar_id = ${calendar} and greatest(a.busy_until, ${wholeBufferEnd}) > ${now}`;

const rebufferCalendar = statement({
  name: 'rebufferCalendar',
  takes: { calendar: uuid, now: instant },
  changes: true,
  text: ({ account, calendar, now }) => rebuffering(account, notOver(calendar, now)),
});

// Holds the persons whose appointments a changed buffer may change: a booking for one of them, on whatever calendar, is done by then or
// begins later. It is a statement of its own, so that the next one sees what was booked; its order is that of all who take persons.
const holdPeople = statement({
  name: 'holdPeopleOfCalendar',
  takes: { calendar: uuid, now: instant },
  row: { id: uuid },
  locks: true,
  text: ({ account, calendar, now }) => sql`
    select t.user_id as id from memberships t where t.account_id = ${account} and t.user_id in (
      select a.assigned_to from appointments a join calendars c on c.account_id = a.account_id and c.id = a.calendar_id
      where a.account_id = ${account} and ${notOver(calendar, now)} and a.status = 'scheduled' and a.deleted_at is null
        and a.busy_until <> ${wholeBufferEnd})
    order by t.user_id for no key update of t`,
});

/**
 * Has the buffer of a calendar, which was changed and is held, hold for what is booked on it, as far as the next appointments leave
 * room. From here on it holds the persons whose appointments it may change.
 */
export async function rebuffer(ctx: Context, calendar: string): Promise<void> {
  const params = { calendar, now: ctx.now() };
  await ctx.rows(holdPeople, params);
  await ctx.rows(rebufferCalendar, params);
}

/** An appointment whose buffer the next one cut short, and its place. */
interface CutShort {
  id: string;
  calendarId: string;
  bufferMinutes: number;
  assignedTo: string | null;
}

const before = (account: Sql, start: Sql, of: Sql): Sql => sql`(
  select a.id, a.calendar_id, a.assigned_to, a.end_time, a.busy_until from appointments a
  where a.account_id = ${account} and ${of} and a.start_time < ${start} and a.status = 'scheduled' and a.deleted_at is null
  order by a.start_time desc limit 1)`;

const place = { id: uuid, calendarId: uuid, bufferMinutes: integer, assignedTo: nullable(uuid) };

const justBefore = statement({
  name: 'appointmentsJustBefore',
  takes: { calendar: uuid, person: nullable(uuid), start: instant },
  row: { ...place, isShort: flag },
  text: ({ account, calendar, person, start }) => sql`
    select a.id, a.calendar_id as "calendarId", c.buffer_minutes as "bufferMinutes", a.assigned_to as "assignedTo",
      a.busy_until < ${wholeBufferEnd} as "isShort"
    from (${before(account, start, sql`a.calendar_id = ${calendar}`)} union ${before(account, start, sql`a.assigned_to = ${person}`)}) a
      join calendars c on c.account_id = ${account} and c.id = a.calendar_id`,
});

/**
 * Of what lies just before a scheduled appointment, on its calendar and for its person, what has less than its buffer. The next write,
 * which has the appointment leave its time, takes the places of all of it, also where the buffer is not cut short: a buffer that is changed
 * meanwhile would end where the appointment still is, and nobody would give it back.
 */
export async function cutShortBy(ctx: Context, { calendarId, assignedTo, startTime, status }: AppointmentRow): Promise<CutShort[]> {
  if (status !== 'scheduled') return [];
  const neighbours = await ctx.rows(justBefore, { calendar: calendarId, person: assignedTo, start: startTime });
  for (const { calendarId: id, bufferMinutes, assignedTo: person } of neighbours) takePlace(ctx, { id, bufferMinutes }, person);
  return neighbours.filter(({ isShort }) => isShort);
}

/** What a person has, alias `a`, that has less than the buffer of its calendar, alias `c`, and is not over with it. */
const isCutShort = (account: Sql, person: Sql, now: Sql): Sql => sql`a.account_id = ${account} and a.assigned_to = ${person}
  and a.status = 'scheduled' and a.deleted_at is null and ${wholeBufferEnd} > greatest(a.busy_until, ${now})`;

const cutShortNow = statement({
  name: 'appointmentsOfPersonCutShort',
  takes: { person: uuid, now: instant },
  row: place,
  beside: true,
  text: ({ account, person, now }) => sql`
    select a.id, a.calendar_id as "calendarId", c.buffer_minutes as "bufferMinutes", a.assigned_to as "assignedTo"
    from appointments a join calendars c on c.account_id = a.account_id and c.id = a.calendar_id
    where ${isCutShort(account, person, now)}`,
});

/** What a person has that has less than its buffer, and is not over with it. */
export const cutShortOf = (ctx: Context, person: string): Promise<CutShort[]> => ctx.rows(cutShortNow, { person, now: ctx.now() });

const holdCalendars = statement({
  name: 'holdCalendarsOfPerson',
  takes: { person: uuid, now: instant },
  row: { id: uuid },
  locks: true,
  text: ({ account, person, now }) => sql`
    select c.id from calendars c where c.account_id = ${account}
      and exists (select from appointments a where a.calendar_id = c.id and ${isCutShort(account, person, now)})
    order by c.id for no key update of c`,
});

/**
 * Holds the calendars on which a person who is about to be removed has buffers that are cut short: calendars are taken before persons, as
 * by whoever books or changes a buffer. Of a calendar that comes to be one of them only between this and the removal, as by a second change
 * of its buffer, the two may wait for each other: the database ends one, which is tried again.
 */
export async function holdCalendarsOf(ctx: Context, person: string): Promise<void> {
  await ctx.rows(holdCalendars, { person, now: ctx.now() });
}

const regrowing = statement({
  name: 'regrowBuffers',
  takes: { ids: listOf(uuid) },
  changes: true,
  text: ({ account, ids }) => rebuffering(account, sql`a.id = any(${ids})`),
});

/** Gives appointments the buffer of their calendars, as far as there is room by what was written before. */
export async function regrow(ctx: Context, appointments: readonly CutShort[]): Promise<void> {
  if (appointments.length === 0) return;
  // Nobody books there meanwhile: else a booking and this would wait for each other.
  for (const { calendarId: id, bufferMinutes, assignedTo } of appointments) takePlace(ctx, { id, bufferMinutes }, assignedTo);
  await ctx.rows(regrowing, { ids: appointments.map(({ id }) => id) });
}
