import { useMutation, useSubscription } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { AddAppointmentDocument, SetAppointmentDocument, WeekDocument, type WeekSubscription } from '../generated/client/pages.js';
import { Fault, hours, Link, More, Standing } from './parts.js';
import { nodesOf } from './Talk.js';
import { useTitle } from './Title.js';
import { useOnce } from './useOnce.js';
import { useToday } from './useToday.js';
import { quoted, useTold } from './useTold.js';

type Live = WeekSubscription['live'];
type Appointment = NonNullable<Live['appointments']['rows'][number]['node']>;
type Calendar = NonNullable<Live['calendars']['rows'][number]['node']>;

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });

/** The midnight so many days after the Monday of the week in which a moment is, by the clocks of the browser. */
function midnight(moment: number, days: number): Date {
  const at = new Date(moment);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() - ((at.getDay() + 6) % 7) + days);
}

/** A week of all calendars, a column a day. */
export function Week() {
  const today = useToday();
  // The Monday of another week; without one it is this week, whichever that is by now.
  const [monday, setMonday] = useState<number>();
  // Kept from week to week, as is what is being written: whether it is free there one looks up before booking.
  const [known, know] = useState<Calendar[]>([]);
  const [chosen, choose] = useState<string>();
  useTitle('Calendar');
  const midnights = [0, 1, 2, 3, 4, 5, 6, 7].map((day) => midnight(monday ?? today, day));
  const from = midnights[0]!;
  const current = midnight(today, 0).getTime();
  const go = (days: number) => {
    const next = midnight(from.getTime(), days).getTime();
    setMonday(next === current ? undefined : next);
  };
  return (
    <main className="calendar">
      <div className="top">
        <h1>{monthName.format(from)}</h1>
        <button type="button" className="step" aria-label="The week before" onClick={() => go(-7)}>
          ‹
        </button>
        <button type="button" className="step" onClick={() => setMonday(undefined)} disabled={from.getTime() === current}>
          This week
        </button>
        <button type="button" className="step" aria-label="The week after" onClick={() => go(7)}>
          ›
        </button>
      </div>
      <Days key={from.toISOString()} {...{ midnights, today, known, know, chosen, choose }} />
      {known.length > 0 && <Book calendars={known} chosen={chosen} />}
    </main>
  );
}

interface DaysProps {
  midnights: Date[];
  today: number;
  /** The calendars that came last, and what takes those that come. */
  known: Calendar[];
  know(calendars: Calendar[]): void;
  /** The one whose appointments alone are shown. */
  chosen: string | undefined;
  choose(calendarId: string | undefined): void;
}

const calendarsOf = (live: Live) => nodesOf(live.calendars.rows) as Calendar[];

/** The days between these midnights. */
function Days({ midnights, today, known, know, chosen, choose }: DaysProps) {
  const [from, to] = [midnights[0]!.toISOString(), midnights.at(-1)!.toISOString()];
  const { data, error } = useSubscription(WeekDocument, {
    ...{ variables: { from, to }, fetchPolicy: 'no-cache' },
    onData: (message) => know(calendarsOf(message.data.data!.live)),
  });
  if (error) return <Fault error={error} />;
  const calendars = data ? calendarsOf(data.live) : known;
  const all = (nodesOf(data?.live.appointments.rows ?? []) as Appointment[]).filter((one) => !chosen || one.calendar.id === chosen);
  const days = midnights.slice(1).map((next, nth) => [midnights[nth]!, next] as const);
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
            isToday={day.getTime() === today}
            calendars={calendars}
            appointments={all.filter(({ startTime, endTime }) => new Date(startTime) < next && new Date(endTime) > day)}
          />
        ))}
      </div>
      <More of={data?.live.appointments.totalCount} shown={data?.live.appointments.rows.length ?? 0} />
    </>
  );
}

interface DayProps {
  day: Date;
  isToday: boolean;
  calendars: Calendar[];
  appointments: Appointment[];
}

/** A day with all that falls on it, what began before it or ends after it too. */
function Day({ day, isToday, calendars, appointments }: DayProps) {
  return (
    <section className="day" data-today={isToday} data-free={appointments.length === 0} aria-label={day.toDateString()}>
      <h2>
        {dayName.format(day)} <b>{day.getDate()}</b>
      </h2>
      <ul>
        {appointments.map((one) => (
          <Booked key={one.id} appointment={one} calendars={calendars} />
        ))}
      </ul>
    </section>
  );
}

function Booked({ appointment, calendars }: { appointment: Appointment; calendars: Calendar[] }) {
  const [set, { error }] = useMutation(SetAppointmentDocument);
  const { id, title, startTime, endTime, status, contact, location } = appointment;
  const nth = calendars.findIndex((one) => one.id === appointment.calendar.id);
  const told = useTold();
  const become = (next: 'cancelled' | 'completed') => () =>
    void told(`Appointment ${quoted(title)} as ${next}`, () => set({ variables: { id, input: { status: next } } })).catch(() => {});
  return (
    <li className="booked" data-status={status} data-nth={nth % 4} data-appointment={id}>
      <time dateTime={startTime}>{hours(startTime, endTime)}</time>
      <b>{title}</b>
      {contact && (
        <Link to={`/contacts/${contact.id}`} className="muted">
          {contact.name}
        </Link>
      )}
      {location && <small className="muted">{location}</small>}
      {calendars.length > 1 && <small className="muted">{calendars[nth]?.name}</small>}
      <Standing status={status} />
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
    const attempt = send(variables, (context) => add({ variables, context }), `Appointment ${quoted(title!)}`);
    if (await attempt.catch(() => undefined)) form.reset();
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
