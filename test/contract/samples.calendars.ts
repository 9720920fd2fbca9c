import type { Account } from '../support/index.js';
import type { MakeSample } from './samples.js';

const aCalendar = async (account: Account, n: number) => (await account.calendar({ name: `Room ${n}` })).id as string;

const onCalendar: MakeSample = async (account, n) => ({ params: { id: await aCalendar(account, n) } });

const anAppointment = async (account: Account, n: number) =>
  account.appointment({ title: `Talk ${n}`, contactId: (await account.contact()).id });

const onAppointment: MakeSample = async (account, n) => {
  const { calendarId: id, id: appointmentId } = await anAppointment(account, n);
  return { params: { id, appointmentId } };
};

/** Samples of calendars and appointments. */
export const calendarSamples: Record<string, MakeSample> = {
  'GET /calendars': async (account, n) => {
    await aCalendar(account, n);
    return { query: `search=Room ${n}&sort=name&order=asc` };
  },
  'POST /calendars': (_account, n) => ({
    body: {
      ...{ name: `Desk ${n}`, timezone: 'Europe/Berlin', description: 'Walk-ins', isDefault: true, bufferMinutes: 10, slotMinutes: 20 },
      workingHours: [{ day: 'monday', opens: '10:00', closes: '12:30' }],
    },
  }),
  'GET /calendars/{id}': onCalendar,
  'PATCH /calendars/{id}': async (account, n) => ({
    ...(await onCalendar(account, n)),
    body: { name: `Renamed ${n}`, timezone: 'UTC', bufferMinutes: 5, isDefault: true },
  }),
  'GET /calendars/{id}/availability': async (account, n) => ({
    ...(await onCalendar(account, n)),
    query: `from=2030-05-06&to=2030-05-07&slot_minutes=60&assigned_to=${account.ownerId}`,
  }),
  'GET /calendars/{id}/feed': onCalendar,
  'POST /calendars/{id}/feed': onCalendar,
  'GET /calendars/{id}/appointments': async (account, n) => {
    const { calendarId: id } = await anAppointment(account, n);
    return { params: { id }, query: 'start_after=2030-05-06&start_before=2030-05-31&status=scheduled&sort=startTime&order=desc' };
  },
  'POST /calendars/{id}/appointments': async (account, n) => ({
    ...(await onCalendar(account, n)),
    body: {
      ...{ title: 'Demo', startTime: '2030-06-01T10:00:00+02:00', endTime: '2030-06-01T11:00:00+02:00', status: 'completed' },
      ...{ contactId: (await account.contact()).id, assignedTo: account.ownerId, description: 'The new plan', location: 'Room 1' },
      ...{ notes: 'Bring the quote', metadata: { source: 'website' } },
    },
  }),
  'GET /calendars/{id}/appointments/{appointmentId}': onAppointment,
  'PATCH /calendars/{id}/appointments/{appointmentId}': async (account, n) => ({
    ...(await onAppointment(account, n)),
    body: { title: 'Moved', startTime: '2030-06-01T10:00:00+02:00', endTime: '2030-06-01T11:00:00+02:00', status: 'completed' },
  }),
  'DELETE /calendars/{id}/appointments/{appointmentId}': onAppointment,
};
