import { useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { CallsDocument, type CallsSubscription, LiveCallsDocument, type LiveCallsSubscription } from '../generated/client/pages.js';
import { type Came, Endless } from './Endless.js';
import { Face, Fault, Link, More, when } from './parts.js';
import { nodesOf } from './Talk.js';
import { Title } from './Title.js';

type LiveCall = NonNullable<LiveCallsSubscription['live']['liveCalls']['rows'][number]['node']>;
type Call = NonNullable<CallsSubscription['live']['calls']['rows'][number]['node']>;

/** The calls that last now, and those that ended. */
export function Calls() {
  return (
    <main className="calls">
      <Title>Calls</Title>
      <h2>Now</h2>
      <Lasting />
      <h2>Earlier</h2>
      <Endless
        className="people"
        empty="There was no call yet."
        head={(total) => total === undefined && <p className="muted">Loading</p>}
        page={(page, came) => <Page key={page} page={page} came={came} />}
      />
    </main>
  );
}

function Lasting() {
  const { data, error } = useSubscription(LiveCallsDocument, { fetchPolicy: 'no-cache' });
  if (error) return <Fault error={error} />;
  if (!data) return <p className="muted">Loading</p>;
  const { rows, totalCount } = data.live.liveCalls;
  const now = nodesOf(rows) as LiveCall[];
  return (
    <>
      <ul className="people" data-live-calls>
        {now.map((call) => (
          <Now key={call.id} call={call} />
        ))}
        {now.length === 0 && <li className="muted empty">Nobody is on the line.</li>}
      </ul>
      <More of={totalCount} shown={now.length} />
    </>
  );
}

function Page({ page, came }: { page: number; came: Came }) {
  const { data, error } = useSubscription(CallsDocument, {
    ...{ variables: { page }, fetchPolicy: 'no-cache' },
    onData: ({ data: now }) => came(page, now.data!.live.calls.totalCount),
  });
  if (error)
    return (
      <li>
        <Fault error={error} />
      </li>
    );
  const ended = nodesOf(data?.live.calls.rows ?? []) as Call[];
  return ended.map((call) => <Ended key={call.id} call={call} />);
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
