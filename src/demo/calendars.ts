import { dayAfter, today } from '../kernel/base/timeZones.js';
import type { Context } from '../kernel/context/context.js';
import { createAppointment } from '../modules/calendars/appointment.service.js';
import { createCalendar } from '../modules/calendars/calendar.service.js';

/** What is booked: what it is, how many days from now, from when to when by the clocks of the calendar, and how it stands. */
const booked = [
  ['Discovery call', -9, '10:00', '10:30', 'completed'],
  ['Product demo', -4, '14:00', '15:00', 'cancelled'],
  ['Product demo', -2, '14:00', '15:00', 'completed'],
  ['Contract review', 1, '09:30', '10:00', 'scheduled'],
  ['Product demo', 1, '11:00', '12:00', 'scheduled'],
  ['Discovery call', 2, '15:30', '16:00', 'scheduled'],
  ['Renewal', 5, '10:00', '11:00', 'scheduled'],
] as const;

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;

/** The calendars of the team, with what was booked on them and what is to come. */
export async function addCalendars(ctx: Context, contacts: string[], assignees: string[]): Promise<void> {
  const open = { timezone: ctx.caller.account.timezone, workingHours: weekdays.map((day) => ({ day, opens: '09:00', closes: '18:00' })) };
  const sales = await createCalendar(ctx, { ...open, name: 'Sales', description: 'Calls and demos', bufferMinutes: 15, slotMinutes: 30 });
  const room = await createCalendar(ctx, { ...open, name: 'Meeting room', bufferMinutes: 0, slotMinutes: 60 });
  const day = today(sales.timezone, ctx.now());
  for (const [i, [title, days, opens, closes, status]] of booked.entries()) {
    const at = (time: string) => `${dayAfter(day, days)}T${time}`;
    const about = { contactId: contacts[i * 4]!, assignedTo: assignees[i % assignees.length]! };
    await createAppointment(ctx, i % 3 === 2 ? room.id : sales.id, {
      title,
      startTime: at(opens),
      endTime: at(closes),
      status,
      ...about,
      location: i % 3 === 2 ? 'Room 2' : 'Video call',
    });
  }
}
