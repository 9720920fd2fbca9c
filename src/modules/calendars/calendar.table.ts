import { instant, nullable, type RowOf } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { withTotal } from '../../kernel/tables/rowCondition.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { Appointment, AppointmentConnection, AppointmentList } from './appointment.model.js';
import { Calendar, CalendarConnection, CalendarList } from './calendar.model.js';

export const calendarTable = table({
  row: modelRow('Calendar', Calendar),
  list: CalendarList,
  page: CalendarConnection,
  counted: false,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  unnamed: sql`t.is_default`,
  conditions: {
    search: (text) => contains('t.name', text),
    isDefault: (isDefault) => sql`t.is_default = ${isDefault}`,
  },
});
export type CalendarRow = RowOf<typeof calendarTable.shape>;

/** Appointments, each with the moment from which another may begin. */
export const appointmentTable = table({
  row: modelRow('Appointment', Appointment, { busyUntil: instant, deletedAt: nullable(instant) }),
  list: AppointmentList,
  page: AppointmentConnection,
  sorts: { startTime: byTime('start_time'), createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['startTime', 'asc'],
  conditions: {
    status: (status) => sql`t.status = ${status}`,
    calendarId: (id) => withTotal(sql`t.calendar_id = ${id}::uuid`, { table: 'appointments', of: [id.toLowerCase()] }),
    assignedTo: (id) => sql`t.assigned_to = ${id}::uuid`,
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    startAfter: (moment, ctx) => since('t.start_time', moment, ctx),
    startBefore: (moment, ctx) => until('t.start_time', moment, ctx),
  },
});
export type AppointmentRow = RowOf<typeof appointmentTable.shape>;
