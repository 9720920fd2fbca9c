import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { isDay, moment } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Edit, Entity, field, Id, Input, Instant, JsonObject, Moment, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { DateOrDateTime } from '../../kernel/model/scalars.js';

export const AppointmentStatus = oneOf(
  'AppointmentStatus',
  { scheduled: 'It is to take place, and keeps its time free of others', completed: 'It took place', cancelled: 'It does not take place' },
  'How an appointment stands: only scheduled ones keep their time free of others',
);

/** A date-time; one without an offset is told by the clocks of the calendar, which the service knows. */
const CalendarTime = (description: string) =>
  field(
    `${description}: an ISO 8601 date-time; one without an offset is by the clocks of the calendar`,
    { required: true },
    {
      type: () => DateOrDateTime,
      check: (value, at, report) => {
        const given = moment(value, at, report);
        if (given !== null && isDay(given)) report(at, 'invalid_format', 'must be a date-time, not a day');
        return given;
      },
      schema: { description: 'ISO 8601 date-time' },
    },
  );

/** Contract "Calendar and appointment", appointment fields but the times. */
@ObjectType()
export class AppointmentFields {
  @Text(500, 'What it is', { required: true }) title: string;
  @Ref('The contact whom it is with') contactId: string | null;
  @Ref('The user who has it: nobody has two at the same time') assignedTo: string | null;
  @OneOf(AppointmentStatus, 'How it stands; scheduled by default', { optional: true }) status: keyof typeof AppointmentStatus;
  @Text(5000, 'What it is about') description: string | null;
  @Text(500, 'Where it is: a place, a number, an address of a call') location: string | null;
  @Text(5000, 'What was noted about it') notes: string | null;
  @JsonObject(64, 'Anything else') metadata: object | null;
}

@Entity('A time that is booked on a calendar', { scope: 'calendars' })
export class Appointment extends AppointmentFields {
  @Id() id: string;
  @Ref('The calendar', { required: true }) calendarId: string;
  @Instant('When it begins', { required: true }) startTime: Date;
  @Instant('When it ends; another may begin then', { required: true }) endTime: Date;
  @Stamp('When it was booked') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@ObjectType()
class Booked extends AppointmentFields {
  @CalendarTime('When it begins') startTime: string;
  @CalendarTime('When it ends, after it begins and at most 366 days later') endTime: string;
}

@Input('A new appointment')
export class CreateAppointmentInput extends New(Booked) {}

@Input('Changes to an appointment: absent keeps, null clears')
export class UpdateAppointmentInput extends Edit(CreateAppointmentInput) {}

/** Contract GET /calendars/{id}/appointments; its query parameters come in snake_case and camelCase. */
@Input('Which appointments')
export class AppointmentFilter {
  @OneOf(AppointmentStatus, 'How they stand') status?: keyof typeof AppointmentStatus | null;
  @Ref('Calendar') calendarId?: string | null;
  @Ref('Assigned user') assignedTo?: string | null;
  @Ref('Contact') contactId?: string | null;
  @Moment('Beginning at or after; a time without an offset is in the time zone of the workspace') startAfter?: string | null;
  @Moment('Beginning at or before; a day ends with itself') startBefore?: string | null;
}

export const AppointmentSort = oneOf('AppointmentSort', ['startTime', 'createdAt', 'updatedAt'], 'Sort keys of appointments');

@ArgsType()
export class AppointmentList extends ListArgsOf(AppointmentFilter, AppointmentSort) {}

@ObjectType({ description: 'A page of appointments' })
export class AppointmentConnection extends ConnectionOf(Appointment) {}

/** What is told of appointments. */
export const appointmentEvents = eventsOf('appointment', 'Appointment', everyChange);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    appointment: typeof appointmentEvents;
  }
}
