import { check, found, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { flag, instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import { rebuffer } from './appointment.buffers.js';
import type { CalendarList, CreateCalendarInput, UpdateCalendarInput, WorkingHours } from './calendar.model.js';
import { type CalendarRow, calendarTable } from './calendar.table.js';

const { shape: row, columns } = calendarTable;

/** Contract GET /calendars. */
export const listCalendars = (ctx: Context, args: CalendarList) => listRows<CalendarRow>(ctx, calendarTable, args);

/** One calendar, null where there is none: for the feed of its events. */
export const findCalendar = (ctx: Context, id: string) => findRow<CalendarRow>(ctx, calendarTable, id);

const byDefault = statement({
  name: 'defaultCalendar',
  row: { id: uuid },
  text: ({ account }) => sql`select id from calendars where account_id = ${account} and is_default`,
});

/** One calendar; without an id the default one, or 404 where there is none. */
export async function getCalendar(ctx: Context, asked?: string | null): Promise<CalendarRow> {
  const id = asked ?? found((await ctx.rows(byDefault))[0], 'Calendar').id;
  return found(await findCalendar(ctx, id), 'Calendar');
}

export const calendarRows = rowsToChange(calendarTable);

/** One at a time: of two that want to be the default, one comes first. */
const oneAtATime = (ctx: Context) => ctx.lockName('calendars');

const hasDefault = statement({
  name: 'hasDefaultCalendar',
  row: { is: flag },
  text: ({ account }) => sql`select exists (select 1 from calendars where account_id = ${account} and is_default) as is`,
});

const unsetDefault = statement({
  name: 'unsetDefaultCalendar',
  takes: { now: instant },
  row,
  changes: true,
  text: ({ account, now }) =>
    sql`update calendars t set is_default = false, updated_at = ${now} where t.account_id = ${account} and t.is_default returning ${columns}`,
});

const holdBoth = statement({
  name: 'holdDefaultCalendars',
  takes: { id: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, id }) =>
    sql`select c.id from calendars c where c.account_id = ${account} and (c.id = ${id} or c.is_default) order by c.id for update`,
});

/** Holds the calendar that becomes the default and the one that is it, in the order of all who take several, as bookings do. */
async function holdDefaults(ctx: Context, id: string): Promise<void> {
  await oneAtATime(ctx);
  await ctx.rows(holdBoth, { id: validId(id, 'Calendar') });
}

/** Takes the mark of the default off the calendar that has it. */
async function dropDefault(ctx: Context): Promise<void> {
  const [before] = await ctx.rows(unsetDefault, { now: ctx.now() });
  if (before) await emitCalendar(ctx, before, { isDefault: { from: true, to: false } });
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const officeHours = (): WorkingHours[] => weekdays.map((day) => ({ day, opens: '09:00', closes: '17:00' }));

/** Throws 422 where a calendar closes before it opens. */
function checkHours(hours: readonly WorkingHours[] | null | undefined): void {
  for (const [i, { opens, closes }] of (hours ?? []).entries()) {
    check(opens < closes, () => unprocessable(`workingHours.${i}.closes`, 'conflicting', 'must be after opens'));
  }
}

/** Contract POST /calendars. The first one becomes the default. */
export async function createCalendar(ctx: Context, { isDefault, ...input }: CreateCalendarInput): Promise<CalendarRow> {
  checkTrial(ctx);
  checkHours(input.workingHours);
  await oneAtATime(ctx);
  const [known] = await ctx.rows(hasDefault);
  if (isDefault && known?.is) await dropDefault(ctx);
  const defaults = { timezone: ctx.caller.account.timezone, description: null, bufferMinutes: 0, slotMinutes: 30, feedVersion: 1 };
  const calendar: CalendarRow = ctx.insert('Calendar', {
    ...defaults,
    ...defined(input),
    workingHours: input.workingHours ?? officeHours(),
    isDefault: Boolean(isDefault) || !known?.is,
  });
  await ctx.emit({ name: 'calendar.created', record: calendar });
  return calendar;
}

/**
 * Contract PATCH /calendars/{id}. Another buffer holds for what is booked already as well, as far as the next appointments leave room
 * for it.
 */
export async function updateCalendar(ctx: Context, id: string, input: UpdateCalendarInput): Promise<CalendarRow> {
  ctx.lockRows();
  if (input.isDefault) await holdDefaults(ctx, id);
  const before = await ctx.forChange(calendarRows, id);
  checkHours(input.workingHours);
  check(!(before.isDefault && input.isDefault === false), () =>
    unprocessable('isDefault', 'not_allowed', 'cannot be cleared: make another one the default instead'),
  );
  const given = defined(input);
  const changes = changesBetween(before, { ...before, ...given }, Object.keys(given));
  if (isNothing(changes)) return before;
  if (changes.isDefault) await dropDefault(ctx);
  const saved: CalendarRow = ctx.update('Calendar', before, given);
  if (changes.bufferMinutes) await rebuffer(ctx, saved.id);
  await emitCalendar(ctx, saved, changes);
  return saved;
}

/** Tells of a change of a calendar. */
export const emitCalendar = (ctx: Context, calendar: CalendarRow, changes: Changes) =>
  ctx.emit({ name: 'calendar.updated', record: calendar, changes });
