import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { text } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  field,
  Id,
  Input,
  Nested,
  OneOf,
  oneOf,
  Stamp,
  Text,
  TimeZone,
  Url,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

export const Weekday = oneOf(
  'Weekday',
  {
    monday: 'Monday',
    tuesday: 'Tuesday',
    wednesday: 'Wednesday',
    thursday: 'Thursday',
    friday: 'Friday',
    saturday: 'Saturday',
    sunday: 'Sunday',
  },
  'A day of the week',
);

const clock = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

/** A time of day, HH:MM. */
const ClockTime = (description: string) =>
  field(
    description,
    { required: true },
    {
      type: () => String,
      check: (value, at, report, scope) => {
        const time = text(5)(value, at, report, scope) as string | null;
        if (time !== null && !clock.test(time)) report(at, 'invalid_format', 'must be a time from 00:00 to 24:00, as HH:MM');
        return time;
      },
      schema: { pattern: clock.source },
    },
  );

/** When a calendar takes bookings on one day of the week. */
@ObjectType({ description: 'When a calendar is open on one day of the week' })
export class WorkingHours {
  @OneOf(Weekday, 'The day', { required: true }) day: keyof typeof Weekday;
  @ClockTime('From then on, HH:MM by the clocks of the calendar') opens: string;
  @ClockTime('Until then, HH:MM; 24:00 is the end of the day') closes: string;
}

@Input('When a calendar is open on one day of the week')
export class WorkingHoursInput extends Draft(WorkingHours) {}

/** Two a day and some more. */
const mostHours = 50;

/** Contract "Calendar and appointment": one line a field. */
@ObjectType()
export class CalendarFields {
  @Text(200, 'The name', { required: true }) name: string;
  @TimeZone("IANA time zone: its clocks tell working hours, and times that come without an offset; the workspace's by default", {
    optional: true,
  })
  timezone: string;
  @Text(5000, 'What it is for') description: string | null;
  @Count('Minutes that stay free after every appointment, on the calendar and of the person whom it is assigned to; 0 by default', {
    optional: true,
    min: 0,
    max: 1440,
  })
  bufferMinutes: number;
  @Count('How long a free slot is where nothing else is asked for, in minutes; 30 by default', { optional: true, min: 5, max: 1440 })
  slotMinutes: number;
  @Nested(
    () => WorkingHours,
    () => WorkingHoursInput,
    'When free slots are offered; Monday to Friday from 09:00 to 17:00 by default. Appointments may be at any time',
    { list: mostHours, optional: true },
  )
  workingHours: WorkingHours[];
}

@Entity('Where appointments are kept: of a person, a room, a service', { scope: 'calendars' })
export class Calendar extends CalendarFields {
  @Id() id: string;
  @Flag('Whether it is the one that is meant where none is named', { required: true }) isDefault: boolean;
  @Count('Which address its feed has: each renewal makes another', { required: true }) feedVersion: number;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A new calendar')
export class CreateCalendarInput extends New(CalendarFields) {
  @Flag('Makes it the default; the first calendar becomes it anyway') isDefault?: boolean | null;
}

@Input()
class CalendarChanges extends Draft(CalendarFields) {
  @Flag('true makes it the default instead of the one that is', { required: true }) isDefault: boolean;
}

@Input('Changes to a calendar: absent keeps, null clears; workingHours are replaced')
export class UpdateCalendarInput extends Edit(CalendarChanges) {}

@Entity('How other programs subscribe to a calendar', { scope: 'calendars' })
export class CalendarFeed {
  @Url(2000, 'The address of the calendar as iCalendar, for whoever has it: no other credentials are asked for', { required: true })
  url: string;
}

/** Contract GET /calendars. */
@Input('Which calendars')
export class CalendarFilter {
  @Text(200, 'Part of the name') search?: string | null;
  @Flag('Only the default one, or only the others') isDefault?: boolean | null;
}

export const CalendarSort = oneOf('CalendarSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of calendars');

@ArgsType()
export class CalendarList extends ListArgsOf(CalendarFilter, CalendarSort) {}

@ObjectType({ description: 'A page of calendars' })
export class CalendarConnection extends ConnectionOf(Calendar) {}

/** What is told of calendars. */
export const calendarEvents = eventsOf('calendar', 'Calendar', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    calendar: typeof calendarEvents;
  }
}
