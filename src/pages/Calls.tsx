import { useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { CallsDocument, type CallsSubscription } from '../generated/client/pages.js';
import { Face, Fault, Link, More, when } from './parts.js';
import { nodesOf } from './Talk.js';

type Live = CallsSubscription['live'];
type LiveCall = NonNullable<Live['liveCalls']['rows'][number]['node']>;
type Call = NonNullable<Live['calls']['rows'][number]['node']>;

/** The calls that last now, and those that ended. */
export function Calls() {
  const { data, error } = useSubscription(CallsDocument, { fetchPolicy: 'no-cache' });
  if (error) return <Fault error={error} />;
  if (!data) return <main className="muted">Loading</main>;
  const now = nodesOf(data.live.liveCalls.rows) as LiveCall[];
  const ended = nodesOf(data.live.calls.rows) as Call[];
  return (
    <main className="calls">
      <h2>Now</h2>
      <ul className="people" data-live-calls>
        {now.map((call) => (
          <Now key={call.id} call={call} />
        ))}
        {now.length === 0 && <li className="muted empty">Nobody is on the line.</li>}
      </ul>
      <More of={data.live.liveCalls.totalCount} shown={now.length} />
      <h2>Earlier</h2>
      <ul className="people">
        {ended.map((call) => (
          <Ended key={call.id} call={call} />
        ))}
        {ended.length === 0 && <li className="muted empty">There was no call yet.</li>}
      </ul>
      <More of={data.live.calls.totalCount} shown={ended.length} />
    </main>
  );
}

const words: Record<string, string> = {
  ...{ ringing: 'Rings', in_progress: 'In conversation', completed: 'Completed', missed: 'Missed' },
  ...{ no_answer: 'No answer', voicemail: 'Voicemail' },
};

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/** The time, each second. */
function useNow(): number {
  const [now, tell] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => tell(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Now({ call }: { call: LiveCall }) {
  const now = useNow();
  const since = Date.parse(call.answeredAt ?? call.startedAt);
  return (
    <li className="call" data-status={call.status}>
      <Face name={call.contact?.name ?? call.fromNumber} />
      <Who contact={call.contact} name={call.fromNumber} text={[call.callFlow.name, call.user?.name].filter(Boolean).join(', ')} />
      <span className="state">{words[call.status]}</span>
      <time className="muted">{clock(Math.max(0, now - since) / 1000)}</time>
    </li>
  );
}

function Ended({ call }: { call: Call }) {
  const number = (call.direction === 'inbound' ? call.fromNumber : call.toNumber) ?? 'No number';
  const text = [call.disposition ?? call.notes, call.user?.name].filter(Boolean).join(', ');
  return (
    <li className="call" data-status={call.status}>
      <Face name={call.contact?.name ?? number} />
      <Who contact={call.contact} name={number} text={text} />
      <span className="state">
        {call.direction === 'inbound' ? '↙' : '↗'} {words[call.status]}
        {call.duration ? ` ${clock(call.duration)}` : ''}
      </span>
      <time className="muted" dateTime={call.startedAt}>
        {when(call.startedAt)}
      </time>
    </li>
  );
}

function Who({ contact, name, text }: { contact: Call['contact']; name: string; text: string }) {
  return (
    <span className="who">
      <b>{contact ? <Link to={`/contacts/${contact.id}`}>{contact.name ?? name}</Link> : name}</b>
      <small>{text}</small>
    </span>
  );
}
