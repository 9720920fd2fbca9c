import { dayMs } from '../../kernel/base/durations.js';
import { check, invalidField } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { shownInstant } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { checkParent } from '../../kernel/context/rows.js';
import { emptyRow } from '../../kernel/database/kinds.js';
import { type Changes, changesBetween, type DomainEvent, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { checkInstant } from '../../kernel/model/checks.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { changedReferences, checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { relinks } from '../../kernel/operations/relink.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { checkTrial } from '../plans/plan.limits.js';
import { busyAfter, busyUntil, cutShortBy, cutShortOf, regrow, takePlace } from './appointment.buffers.js';
import { AppointmentFields, type AppointmentList, type CreateAppointmentInput, type UpdateAppointmentInput } from './appointment.model.js';
import { getCalendar } from './calendar.service.js';
import { type AppointmentRow, appointmentTable, type CalendarRow } from './calendar.table.js';

const { shape: row } = appointmentTable;

/** Appointments of all calendars, the earliest first. */
export const listAppointments = (ctx: Context, args: AppointmentList) => listRows<AppointmentRow>(ctx, appointmentTable, args);

/** Contract GET /calendars/{id}/appointments: the earliest first. */
export async function listOfCalendar(ctx: Context, calendarId: string, args: AppointmentList) {
  const { id } = await getCalendar(ctx, calendarId);
  return listRowsOf<AppointmentRow>(ctx, appointmentTable, args, { calendarId: id });
}

/** One appointment, null where there is none: for the feed of its events. */
export const findAppointment = (ctx: Context, id: string) => findRow<AppointmentRow>(ctx, appointmentTable, id);

/** One appointment; of this calendar where one is named. Throws 404 where it is deleted. */
export async function getAppointment(ctx: Context, id: string, calendarId?: string | null): Promise<AppointmentRow> {
  const appointment = await getRow<AppointmentRow>(ctx, appointmentTable, id);
  checkParent(appointmentTable.what, appointment.calendarId, calendarId);
  return appointment;
}

const appointmentRows = rowsToChange(appointmentTable);

interface Times {
  startTime: Date;
  endTime: Date;
}

/** A time as the calendar's clocks tell it. Throws 400 where they skip it, or no year has it. */
function timeOf(field: keyof Times, given: string, { timezone }: CalendarRow): Date {
  const instant = shownInstant(given, timezone);
  check(instant, () => invalidField(field, 'out_of_range', `is skipped by the clocks of ${timezone} on that day`));
  return checkInstant(field, instant);
}

const longest = 366;

/** The given times of an appointment, the rest as `before`. Throws 400 where it would not end after it begins, or last too long. */
function timesOf(given: { startTime?: string; endTime?: string }, calendar: CalendarRow, before?: Times): Times {
  const startTime = given.startTime === undefined ? before!.startTime : timeOf('startTime', given.startTime, calendar);
  const endTime = given.endTime === undefined ? before!.endTime : timeOf('endTime', given.endTime, calendar);
  const [blamed, says] = given.endTime === undefined ? ['startTime', 'must be before endTime'] : ['endTime', 'must be after startTime'];
  check(endTime > startTime, () => invalidField(blamed!, 'conflicting', says!));
  const days = (endTime.getTime() - startTime.getTime()) / dayMs;
  check(days <= longest, () => invalidField(blamed!, 'out_of_range', `must leave it at most ${longest} days long`));
  return { startTime, endTime };
}

const blank = { ...emptyRow(row), status: 'scheduled' } as const;
const links: ReferenceKinds<'assignedTo' | 'contactId'> = { assignedTo: 'user', contactId: 'contact' };

/**
 * Contract POST /calendars/{id}/appointments. Throws 409 where a scheduled one overlaps another scheduled one of the calendar or of the
 * user who has it.
 */
export async function createAppointment(
  ctx: Context,
  calendarId: string,
  { startTime, endTime, ...input }: CreateAppointmentInput,
): Promise<AppointmentRow> {
  const calendar = await getCalendar(ctx, calendarId);
  const times = timesOf({ startTime, endTime }, calendar);
  await checkReferences(ctx, links, input);
  checkTrial(ctx);
  const appointment: AppointmentRow = ctx.insert('Appointment', {
    ...blank,
    ...defined(input),
    ...times,
    calendarId: calendar.id,
    busyUntil: busyUntil(times, calendar),
  });
  if (appointment.status === 'scheduled') takePlace(ctx, calendar, appointment.assignedTo);
  await emitAppointment(ctx, 'created', appointment);
  return appointment;
}

const tracked = [...namesOf(AppointmentFields), 'startTime', 'endTime'];
/** What an appointment that is scheduled takes its place with. */
const placing = ['startTime', 'endTime', 'status', 'assignedTo'];

/**
 * Contract PATCH: any status follows any other. Throws 409 as a booking does; what ends when it did or earlier keeps the buffer that it
 * has. What the appointment made room for, where it was, gets its buffer; so does the appointment itself where it is somebody else's.
 */
export async function updateAppointment(
  ctx: Context,
  id: string,
  { startTime, endTime, ...input }: UpdateAppointmentInput,
  calendarId?: string | null,
): Promise<AppointmentRow> {
  const before = await ctx.forChange(appointmentRows, id);
  checkParent(appointmentTable.what, before.calendarId, calendarId);
  const calendar = await getCalendar(ctx, before.calendarId);
  const given = { ...defined(input), ...timesOf({ startTime, endTime }, calendar, before) };
  const changes = changesBetween(before, { ...before, ...given }, tracked);
  if (isNothing(changes)) return before;
  await checkReferences(ctx, links, changedReferences(links, before, given));
  const after = { ...before, ...given };
  const isPlaced = placing.some((field) => changes[field]);
  if (isPlaced && after.status === 'scheduled') takePlace(ctx, calendar, after.assignedTo);
  const makesRoom = changes.startTime || changes.status || changes.assignedTo;
  const cutShort = makesRoom ? await cutShortBy(ctx, before) : [];
  const saved: AppointmentRow = ctx.update('Appointment', before, {
    ...given,
    ...(isPlaced && { busyUntil: busyAfter(before, after, calendar) }),
  });
  const isShort = changes.assignedTo && saved.status === 'scheduled' && saved.busyUntil < busyUntil(saved, calendar);
  await regrow(ctx, isShort ? [...cutShort, { ...saved, bufferMinutes: calendar.bufferMinutes }] : cutShort);
  await emitAppointment(ctx, 'updated', saved, changes);
  return saved;
}

/** Deletes an appointment softly; its time is free again. */
export async function deleteAppointment(ctx: Context, id: string, calendarId?: string | null) {
  const appointment = await ctx.forChange(appointmentRows, id);
  checkParent(appointmentTable.what, appointment.calendarId, calendarId);
  const cutShort = await cutShortBy(ctx, appointment);
  ctx.update('Appointment', appointment, { deletedAt: ctx.now() });
  await regrow(ctx, cutShort);
  await emitAppointment(ctx, 'deleted', appointment);
  return deleted('Appointment', appointment.id);
}

const linked = {
  of: appointmentTable,
  tell: (ctx: Context, appointment: AppointmentRow, changes: Changes) => emitAppointment(ctx, 'updated', appointment, changes),
};
const leaveUser = relinks(linked, 'assignedTo');

/**
 * Contract DELETE /users/{id}: the appointments of a removed user are assigned to nobody. Their buffers no longer end where another
 * appointment of that user began.
 */
export async function onUserRemoved(ctx: Context, { record }: DomainEvent): Promise<void> {
  const cutShort = await cutShortOf(ctx, record.id);
  await leaveUser(ctx, record.id);
  await regrow(
    ctx,
    cutShort.map((appointment) => ({ ...appointment, assignedTo: null })),
  );
}

/** Contract POST /contacts/merge: the appointments are with the contact that is kept. */
export const onContactDeleted = followsContact(linked);

const emitAppointment = (ctx: Context, event: 'created' | 'updated' | 'deleted', appointment: AppointmentRow, changes?: Changes) =>
  ctx.emit({ name: `appointment.${event}`, record: appointment, changes, contactId: appointment.contactId });
