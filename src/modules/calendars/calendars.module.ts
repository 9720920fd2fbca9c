import { conflict } from '../../kernel/base/errors.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { holdCalendarsOf } from './appointment.buffers.js';
import { Appointment, appointmentEvents } from './appointment.model.js';
import { findAppointment, onContactDeleted, onUserRemoved } from './appointment.service.js';
import { showFeed } from './calendar.feed.js';
import { Calendar, calendarEvents } from './calendar.model.js';
import { calendarRelations } from './calendar.relations.js';
import { AppointmentResolver, CalendarResolver } from './calendar.resolver.js';
import { findCalendar } from './calendar.service.js';
import { appointmentTable, calendarTable } from './calendar.table.js';

const access = { scope: 'calendars' };

const onCalendar = { id: 'calendarId' };
const ofAppointment = { id: 'calendarId', appointmentId: 'id' };

export default defineModule({
  name: 'calendars',
  about: 'Calendars, their appointments and free times',
  tables: [calendarTable, appointmentTable],
  constraints: {
    appointments_calendar_overlap: () =>
      conflict('startTime', 'overlaps another appointment of the calendar, or is closer to one than its bufferMinutes'),
    appointments_assignee_overlap: () =>
      conflict('startTime', 'overlaps another appointment of the assignee, or is closer to one than the bufferMinutes of its calendar'),
  },
  relations: calendarRelations,
  resolvers: [CalendarResolver, AppointmentResolver],
  references: { calendar: { of: calendarTable } },
  locksBefore: { user: holdCalendarsOf },
  events: [
    recordFeed(calendarEvents, { record: () => Calendar, find: findCalendar, access }),
    recordFeed(appointmentEvents, {
      record: () => Appointment,
      find: findAppointment,
      by: {
        calendarId: 'Only appointments on this calendar',
        contactId: 'Only appointments with this contact',
        assignedTo: 'Only appointments that this user has, gets or hands on',
      },
      access,
    }),
  ],
  on: { 'user.removed': onUserRemoved, 'contact.deleted': onContactDeleted },
  callbacks: [{ method: 'GET', path: '/calendars/{token}', handler: showFeed }],
  routes: [
    list('GET /calendars', 'calendars', { as: 'page' }),
    make('POST /calendars', 'createCalendar', { also: [402, 422] }),
    read('GET /calendars/{id}', 'calendar'),
    edit('PATCH /calendars/{id}', 'updateCalendar', { also: [422] }),
    read('GET /calendars/{id}/availability', 'calendarAvailability', { inputByQuery: true }),
    read('GET /calendars/{id}/feed', 'calendarFeed'),
    act('POST /calendars/{id}/feed', 'renewCalendarFeed'),
    list('GET /calendars/{id}/appointments', 'calendarAppointments', { as: 'page' }),
    make('POST /calendars/{id}/appointments', 'createAppointment', { pathArgs: onCalendar, also: [402, 409] }),
    read('GET /calendars/{id}/appointments/{appointmentId}', 'calendarAppointment', { pathArgs: ofAppointment }),
    edit('PATCH /calendars/{id}/appointments/{appointmentId}', 'updateAppointment', { pathArgs: ofAppointment, also: [409] }),
    drop('DELETE /calendars/{id}/appointments/{appointmentId}', 'deleteAppointment', { pathArgs: ofAppointment }),
  ],
});
