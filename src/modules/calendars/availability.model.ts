import { ObjectType } from 'type-graphql';
import { Count, Entity, Input, Instant, Moment, Nested, Ref, Text } from '../../kernel/model/fields.js';

/** The most slots of one answer. */
export const mostSlots = 500;

@Input('Which free slots')
export class AvailabilityInput {
  @Moment('From then on: a day, or a date-time, which without an offset is by the clocks of the calendar; now by default, and never before')
  from?: string | null;
  @Moment('Until then, a day with itself; a week later by default, and at most 62 days') to?: string | null;
  @Count("How long a slot is, in minutes; the calendar's by default", { min: 5, max: 1440 }) slotMinutes?: number | null;
  @Ref('Whose other appointments are in the way as well') assignedTo?: string | null;
}

@ObjectType({ description: 'A time that can be booked' })
export class Slot {
  @Instant('When it begins', { required: true }) startTime: Date;
  @Instant('When it ends', { required: true }) endTime: Date;
}

@Entity('When a calendar can be booked', { scope: 'calendars' })
export class Availability {
  @Ref('The calendar', { required: true }) calendarId: string;
  @Text(64, 'The time zone of its clocks', { required: true }) timezone: string;
  @Count('How long a slot is, in minutes', { required: true }) slotMinutes: number;
  @Nested(
    () => Slot,
    () => Slot,
    `Free slots within the working hours, in their order, at most ${mostSlots}: each may be booked, though two at once only where they do not overlap`,
    { list: mostSlots, required: true },
  )
  slots: Slot[];
  @Instant('Where there are more: what to ask for next as `from`') nextFrom: Date | null;
}
