import { useMutation, useSubscription } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { AddAppointmentDocument, SetAppointmentDocument, WeekDocument, type WeekSubscription } from '../generated/client/pages.js';
import { Fault, hours, Link, More } from './parts.js';
import { nodesOf } from './Talk.js';
import { useTitle } from './Title.js';
import { useOnce } from './useOnce.js';

type Live = WeekSubscription['live'];
type Appointment = NonNullable<Live['appointments']['rows'][number]['node']>;
type Calendar = NonNullable<Live['calendars']['rows'][number]['node']>;

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });

/** The midnight so many days after the Monday of this week, by the clocks of the browser. */
function midnight(days: number): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - ((now.getDay() + 6) % 7) + days);
}

/** A week of all calendars, a column a day. */
export function Week() {
  const [week, go] = useState(0);
  useTitle('Calendar');
  const [from, to] = [midnight(7 * week), midnight(7 * week + 7)];
  return (
    <main className="calendar">
      <div className="top">
        <h1>{monthName.format(from)}</h1>
        <button type="button" className="step" aria-label="The week before" onClick={() => go(week - 1)}>
          ‹
        </button>
        <button type="button" className="step" onClick={() => go(0)} disabled={week === 0}>
          This week
        </button>
        <button type="button" className="step" aria-label="The week after" onClick={() => go(week + 1)}>
          ›
        </button>
      </div>
      <Days key={week} week={week} from={from.toISOString()} to={to.toISOString()} />
    </main>
  );
}

function Days({ week, from, to }: { week: number; from: string; to: string }) {
  const { data, error } = useSubscription(WeekDocument, { variables: { from, to }, fetchPolicy: 'no-cache' });
  const [chosen, choose] = useState<string>();
  if (error) return <Fault error={error} />;
  const calendars = nodesOf(data?.live.calendars.rows ?? []) as Calendar[];
  const all = (nodesOf(data?.live.appointments.rows ?? []) as Appointment[]).filter((one) => !chosen || one.calendar.id === chosen);
  const days = [0, 1, 2, 3, 4, 5, 6].map((day) => [midnight(7 * week + day), midnight(7 * week + day + 1)] as const);
  return (
    <>
      <div className="chips">
        {!data && <p className="muted">Loading</p>}
        {data && calendars.length === 0 && <p className="muted">There is no calendar yet.</p>}
        {calendars.map((one, nth) => (
          <button
            key={one.id}
            type="button"
            className="chip"
            data-nth={nth % 4}
            aria-pressed={chosen === one.id}
            onClick={() => choose(chosen === one.id ? undefined : one.id)}
          >
            {one.name}
          </button>
        ))}
      </div>
      <div className="week">
        {days.map(([day, next]) => (
          <Day
            key={day.toISOString()}
            day={day}
            calendars={calendars}
            appointments={all.filter(({ startTime, endTime }) => new Date(startTime) < next && new Date(endTime) > day)}
          />
        ))}
      </div>
      <More of={data?.live.appointments.totalCount} shown={data?.live.appointments.rows.length ?? 0} />
      {calendars.length > 0 && <Book calendars={calendars} chosen={chosen} />}
    </>
  );
}

/** A day with all that falls on it, what began before it or ends after it too. */
function Day({ day, calendars, appointments }: { day: Date; calendars: Calendar[]; appointments: Appointment[] }) {
  const isToday = day.toDateString() === new Date().toDateString();
  return (
    <section className="day" data-today={isToday} data-free={appointments.length === 0} aria-label={day.toDateString()}>
      <h2>
        {dayName.format(day)} <b>{day.getDate()}</b>
      </h2>
      <ul>
        {appointments.map((one) => (
          <Booked key={one.id} appointment={one} nth={calendars.findIndex(({ id }) => id === one.calendar.id) % 4} />
        ))}
      </ul>
    </section>
  );
}

function Booked({ appointment, nth }: { appointment: Appointment; nth: number }) {
  const [set, { error }] = useMutation(SetAppointmentDocument);
  const { id, title, startTime, endTime, status, contact, location } = appointment;
  const become = (next: 'cancelled' | 'completed') => () => set({ variables: { id, input: { status: next } } }).catch(() => {});
  return (
    <li className="booked" data-status={status} data-nth={nth} data-appointment={id}>
      <time dateTime={startTime}>{hours(startTime, endTime)}</time>
      <b>{title}</b>
      {contact && (
        <Link to={`/contacts/${contact.id}`} className="muted">
          {contact.name}
        </Link>
      )}
      {location && <small className="muted">{location}</small>}
      {status === 'scheduled' && (
        <span className="acts">
          <button type="button" className="plain" onClick={become('completed')}>
            Done
          </button>
          <button type="button" className="plain" onClick={become('cancelled')}>
            Cancel
          </button>
        </span>
      )}
      <Fault error={error} />
    </li>
  );
}

/** Books half an hour; a time that is taken is refused, and the server says so. */
function Book({ calendars, chosen }: { calendars: Calendar[]; chosen: string | undefined }) {
  const [add, { loading, error }] = useMutation(AddAppointmentDocument);
  const send = useOnce();
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // A second one would find the time taken, by the first.
    if (loading) return;
    const form = event.currentTarget;
    const [title, at, calendarId] = ['title', 'at', 'calendar'].map((name) => String(new FormData(form).get(name)));
    const begins = new Date(at!);
    const minutes = calendars.find(({ id }) => id === calendarId)!.slotMinutes;
    const input = { title: title!, startTime: begins.toISOString(), endTime: new Date(begins.getTime() + minutes * 60_000).toISOString() };
    const variables = { calendarId: calendarId!, input };
    if (await send(variables, (context) => add({ variables, context })).catch(() => undefined)) form.reset();
  }
  return (
    <form className="say book" onSubmit={submit}>
      <input name="title" required maxLength={200} aria-label="What is booked" placeholder="Book an appointment" autoComplete="off" />
      <input name="at" type="datetime-local" required aria-label="When it begins" />
      <select name="calendar" aria-label="Calendar" key={chosen} defaultValue={chosen}>
        {calendars.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">Book</button>
      <Fault error={error} />
    </form>
  );
}
