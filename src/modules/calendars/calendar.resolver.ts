import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Weighs } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import {
  Appointment,
  AppointmentConnection,
  AppointmentList,
  CreateAppointmentInput,
  UpdateAppointmentInput,
} from './appointment.model.js';
import * as appointments from './appointment.service.js';
import { Availability, AvailabilityInput } from './availability.model.js';
import { availabilityOf } from './availability.service.js';
import { feedOf, renewFeed } from './calendar.feed.js';
import { Calendar, CalendarConnection, CalendarFeed, CalendarList, CreateCalendarInput, UpdateCalendarInput } from './calendar.model.js';
import * as calendars from './calendar.service.js';
import { appointmentTable, calendarTable } from './calendar.table.js';

@Resolver(() => Calendar)
@Access({ scope: 'calendars' })
export class CalendarResolver {
  @Query(() => CalendarConnection, { description: 'Calendars, newest first unless sorted otherwise' })
  @Reads(calendarTable)
  calendars(@Ctx() ctx: Context, @Listing() args: CalendarList) {
    return calendars.listCalendars(ctx, args);
  }

  @Query(() => Calendar, { nullable: true, description: 'One calendar; the default one without an id' })
  @Reads(calendarTable)
  calendar(@Ctx() ctx: Context, @IdArg('id', { nullable: true }) id?: string | null) {
    return calendars.getCalendar(ctx, id);
  }

  @Query(() => Availability, { nullable: true, description: 'When a calendar can be booked: free slots within its working hours' })
  @Weighs(100)
  calendarAvailability(@Ctx() ctx: Context, @IdArg() id: string, @In() input: AvailabilityInput) {
    return availabilityOf(ctx, id, input);
  }

  @Query(() => CalendarFeed, { nullable: true, description: 'The address under which other programs subscribe to a calendar' })
  calendarFeed(@Ctx() ctx: Context, @IdArg() id: string) {
    return feedOf(ctx, id);
  }

  @Mutation(() => CalendarFeed, { description: 'Gives the feed of a calendar another address; the one of before leads nowhere then' })
  renewCalendarFeed(@Ctx() ctx: Context, @IdArg() id: string) {
    return renewFeed(ctx, id);
  }

  @Mutation(() => Calendar, { description: 'Makes a calendar' })
  createCalendar(@Ctx() ctx: Context, @In() input: CreateCalendarInput) {
    return calendars.createCalendar(ctx, input);
  }

  @Mutation(() => Calendar, { description: 'Changes a calendar' })
  updateCalendar(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateCalendarInput) {
    return calendars.updateCalendar(ctx, id, input);
  }
}

/** What makes sure of the calendar of an appointment. */
const OnCalendar = () => Arg('calendarId', () => ID, { nullable: true, description: 'The calendar that the appointment must be on' });

@Resolver(() => Appointment)
@Access({ scope: 'calendars' })
export class AppointmentResolver {
  @Query(() => AppointmentConnection, { description: 'Appointments of all calendars, the earliest first unless sorted otherwise' })
  @Reads(appointmentTable)
  appointments(@Ctx() ctx: Context, @Listing() args: AppointmentList) {
    return appointments.listAppointments(ctx, args);
  }

  @Query(() => Appointment, { nullable: true, description: 'One appointment' })
  @Reads(appointmentTable)
  appointment(@Ctx() ctx: Context, @IdArg() id: string) {
    return appointments.getAppointment(ctx, id);
  }

  @Query(() => AppointmentConnection, {
    nullable: true,
    description: 'Appointments of one calendar, the earliest first unless sorted otherwise',
  })
  calendarAppointments(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: AppointmentList) {
    return appointments.listOfCalendar(ctx, id, args);
  }

  @Query(() => Appointment, { nullable: true, description: 'One appointment of one calendar' })
  calendarAppointment(@Ctx() ctx: Context, @IdArg('calendarId') calendarId: string, @IdArg() id: string) {
    return appointments.getAppointment(ctx, id, calendarId);
  }

  @Mutation(() => Appointment, { description: 'Books a time on a calendar' })
  createAppointment(@Ctx() ctx: Context, @IdArg('calendarId') calendarId: string, @In() input: CreateAppointmentInput) {
    return appointments.createAppointment(ctx, calendarId, input);
  }

  @Mutation(() => Appointment, { description: 'Changes an appointment: moves it, hands it on, completes or cancels it' })
  updateAppointment(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateAppointmentInput, @OnCalendar() calendarId?: string) {
    return appointments.updateAppointment(ctx, id, input, calendarId);
  }

  @Mutation(() => Deleted, { description: 'Deletes an appointment; its time is free again' })
  deleteAppointment(@Ctx() ctx: Context, @IdArg() id: string, @OnCalendar() calendarId?: string) {
    return appointments.deleteAppointment(ctx, id, calendarId);
  }
}
