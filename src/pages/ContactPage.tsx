import { useMutation, useSubscription } from '@apollo/client/react';
import { useId, useState } from 'react';
import {
  AddNoteDocument,
  AddTaskDocument,
  ContactPageDocument,
  type ContactPageSubscription,
  type SaidFragment,
  SetTaskDocument,
} from '../generated/client/pages.js';
import { Say } from './fields.js';
import { Fault, hours, More, Standing, when } from './parts.js';
import { nodesOf, Talk } from './Talk.js';
import { useTitle } from './Title.js';
import { useFewer } from './useFewer.js';
import { useOnce } from './useOnce.js';
import { quoted, useTold } from './useTold.js';
import { Who } from './Who.js';

type Live = ContactPageSubscription['live'];
type Of<K extends keyof Live> = Live[K] extends { rows: (infer R)[] } ? (R extends { node: infer N } ? NonNullable<N> : never) : never;

/** A contact with everything that goes on with them: one live query for the whole page. */
export function ContactPage({ id }: { id: string }) {
  const [first, onError] = useFewer(30);
  // Of the day on which it was opened: another one would have it asked for anew, and what is being written in it would go.
  const [today] = useState(() => new Date(new Date().setHours(0, 0, 0, 0)).toISOString());
  const variables = { id, first, today };
  const { data, error } = useSubscription(ContactPageDocument, { variables, fetchPolicy: 'no-cache', onError });
  useTitle(data?.live.contacts.rows[0]?.node?.name ?? 'Contact');
  if (error) return <Fault error={error} />;
  if (!data) return <main className="muted">Loading</main>;
  const { contacts, messages, tasks, notes, coming, over } = data.live;
  const appointments = [...nodesOf(over.rows).reverse(), ...nodesOf(coming.rows)] as Of<'coming'>[];
  const person = contacts.rows[0]?.node;
  if (!person) return <main className="muted">There is no such contact any more.</main>;
  return (
    <main className="person">
      <Who person={person} />
      <section className="card-box talk">
        <h2>Conversation</h2>
        <Talk person={person} messages={nodesOf(messages.rows).reverse() as SaidFragment[]} total={messages.totalCount} />
      </section>
      <div className="side">
        <Tasks id={id} tasks={nodesOf(tasks.rows) as Of<'tasks'>[]} total={tasks.totalCount} />
        <Calendar appointments={appointments} total={over.totalCount + coming.totalCount} />
        <Notes id={id} notes={nodesOf(notes.rows) as Of<'notes'>[]} total={notes.totalCount} />
      </div>
    </main>
  );
}

function Tasks({ id, tasks, total }: { id: string; tasks: Of<'tasks'>[]; total: number }) {
  const [addTask, { error }] = useMutation(AddTaskDocument);
  const [setTask, { error: refusal }] = useMutation(SetTaskDocument);
  const send = useOnce();
  const box = useId();
  const add = (title: string) => {
    const variables = { input: { contactId: id, title } };
    return send(variables, (context) => addTask({ variables, context }), `Task ${quoted(title)}`).catch(() => undefined);
  };
  const told = useTold();
  const tick = ({ id: taskId, title }: Of<'tasks'>, isDone: boolean) => {
    const variables = { id: taskId, input: { status: isDone ? ('done' as const) : ('todo' as const) } };
    told(`Task ${quoted(title)} as ${isDone ? 'done' : 'to do'}`, () => setTask({ variables })).catch(() => {});
  };
  return (
    <section className="card-box">
      <h2>Tasks</h2>
      <ul className="small-list">
        {tasks.map((task) => (
          <li key={task.id}>
            <input
              type="checkbox"
              id={`${box}${task.id}`}
              checked={task.status === 'done'}
              onChange={(event) => tick(task, event.target.checked)}
            />
            <label htmlFor={`${box}${task.id}`}>{task.title}</label>
            {task.dueDate && <span className="muted">{when(task.dueDate)}</span>}
          </li>
        ))}
      </ul>
      <More of={total} shown={tasks.length} />
      <Fault error={refusal} />
      <Fault error={error} />
      <Say label="Add a task" button="Add" send={add} />
    </section>
  );
}

function Notes({ id, notes, total }: { id: string; notes: Of<'notes'>[]; total: number }) {
  const [addNote, { error }] = useMutation(AddNoteDocument);
  const send = useOnce();
  const add = (body: string) => {
    const variables = { input: { contactId: id, body } };
    return send(variables, (context) => addNote({ variables, context }), `Note ${quoted(body)}`).catch(() => undefined);
  };
  return (
    <section className="card-box">
      <h2>Notes</h2>
      <Say label="Add a note" button="Add" send={add} />
      <Fault error={error} />
      <ul className="notes">
        {notes.map((note) => (
          <li key={note.id} data-pinned={note.isPinned}>
            <p>{note.body}</p>
            <small className="muted">
              {note.author?.name} {when(note.createdAt)}
            </small>
          </li>
        ))}
      </ul>
      <More of={total} shown={notes.length} />
    </section>
  );
}

const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });

function Calendar({ appointments, total }: { appointments: Of<'coming'>[]; total: number }) {
  if (appointments.length === 0) return null;
  return (
    <section className="card-box">
      <h2>Calendar</h2>
      <ul className="small-list days">
        {appointments.map((one) => (
          <li key={one.id} data-status={one.status}>
            <time dateTime={one.startTime}>{day.format(new Date(one.startTime))}</time>
            <span>{one.title}</span>
            <span className="muted">
              {hours(one.startTime, one.endTime)} <Standing status={one.status} />
            </span>
          </li>
        ))}
      </ul>
      <More of={total} shown={appointments.length} />
    </section>
  );
}
