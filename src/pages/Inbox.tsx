import { useMutation, useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { errorOf } from '../client/errors.js';
import {
  CloseConversationDocument,
  InboxDocument,
  type InboxSubscription,
  MarkReadDocument,
  type SaidFragment,
  ThreadDocument,
  type ThreadSubscription,
} from '../generated/client/pages.js';
import { type Came, Endless } from './Endless.js';
import { Face, Fault, Link, lately } from './parts.js';
import { nodesOf, plain, Talk } from './Talk.js';
import { Title, useTitle } from './Title.js';
import { useFewer } from './useFewer.js';
import { useTold } from './useTold.js';
import { useVisible } from './useVisible.js';

type Conversation = NonNullable<InboxSubscription['live']['conversations']['rows'][number]['node']>;
type Live = ThreadSubscription['live'];
type Person = NonNullable<Live['contacts']['rows'][number]['node']>;
type State = NonNullable<Live['conversations']['rows'][number]['node']>;

const states: Record<string, string> = { awaiting_reply: 'Waits for an answer', replied: 'Answered', closed: 'Closed', idle: '' };

/** All conversations, those with the newest messages first, and the one that is looked at beside them. */
export function Inbox({ contactId }: { contactId: string | undefined }) {
  return (
    <main className="inbox" data-open={Boolean(contactId)}>
      <div className="all">
        {!contactId && <Title>Inbox</Title>}
        <Endless
          className="people threads"
          empty="Nobody wrote yet."
          head={(total) => total === undefined && <p className="muted">Loading</p>}
          page={(page, came) => <Page key={page} page={page} came={came} openId={contactId} />}
        />
      </div>
      {contactId ? <Thread key={contactId} contactId={contactId} /> : <p className="muted empty">Choose a conversation.</p>}
    </main>
  );
}

function Page({ page, came, openId }: { page: number; came: Came; openId: string | undefined }) {
  const { data, error } = useSubscription(InboxDocument, {
    ...{ variables: { page }, fetchPolicy: 'no-cache' },
    onData: ({ data: now }) => came(page, now.data!.live.conversations.totalCount),
  });
  if (error)
    return (
      <li>
        <Fault error={error} />
      </li>
    );
  const all = nodesOf(data?.live.conversations.rows ?? []) as Conversation[];
  return all.map((one) => <Row key={one.contactId} conversation={one} isOpen={one.contactId === openId} />);
}

/** What a message says; its subject where the part of a mail that is read here has only its styles. */
const lineOf = (message: NonNullable<Conversation['lastMessage']>) => plain(message) || message.subject;

function Row({ conversation, isOpen }: { conversation: Conversation; isOpen: boolean }) {
  const { contact, contactId, lastMessage, lastMessageAt, unreadCount } = conversation;
  return (
    <li data-unread={unreadCount > 0} data-conversation={contactId}>
      <Link to={`/inbox/${contactId}`} className={isOpen ? 'here' : undefined}>
        <Face name={contact?.name} />
        <span className="who">
          <b>{contact?.name ?? 'Nobody'}</b>
          <small>{lastMessage && lineOf(lastMessage)}</small>
        </span>
        <span className="at">
          <small className="muted">{lastMessageAt && lately(lastMessageAt)}</small>
          {unreadCount > 0 && <i className="count">{unreadCount}</i>}
        </span>
      </Link>
    </li>
  );
}

/** Milliseconds until what could not be marked as read is marked again, at the earliest. */
const againMs = 2000;

/** Milliseconds until a mark is tried again that may succeed then; undefined where it is refused for good. */
function pauseAfter(error: unknown): number | undefined {
  const fault = errorOf(error);
  if (fault.code === 'no_answer') return againMs;
  return 'retryAfter' in fault ? Math.max(againMs, fault.retryAfter * 1000) : undefined;
}

/** What is on the screen has been read. As many as before may be unread: by the newest one it shows that they are others. */
function useRead(contactId: string, unread: number, newest: string | undefined): void {
  const [markRead] = useMutation(MarkReadDocument);
  const [tries, setTries] = useState(0);
  const isVisible = useVisible();
  useEffect(() => {
    if (unread === 0 || !isVisible) return undefined;
    let isOver = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    markRead({ variables: { contactId } }).catch((error: unknown) => {
      const pause = pauseAfter(error);
      if (!isOver && pause !== undefined) again = setTimeout(() => setTries((before) => before + 1), pause);
    });
    return () => {
      isOver = true;
      clearTimeout(again);
    };
  }, [contactId, isVisible, markRead, newest, tries, unread]);
}

function Thread({ contactId }: { contactId: string }) {
  const [first, onError] = useFewer(50);
  const { data, error } = useSubscription(ThreadDocument, { variables: { contactId, first }, fetchPolicy: 'no-cache', onError });
  const person = data?.live.contacts.rows[0]?.node as Person | undefined;
  const state = data?.live.conversations.rows[0]?.node as State | undefined;
  useTitle(person?.name ?? 'Inbox');
  useRead(contactId, state?.unreadCount ?? 0, data?.live.messages.rows[0]?.recordId);
  if (error) return <Fault error={error} />;
  if (!data) return <p className="muted empty">Loading</p>;
  const messages = nodesOf(data.live.messages.rows).reverse() as SaidFragment[];
  return (
    <section className="card-box talk">
      <Top contactId={contactId} person={person} state={state?.conversationState} />
      <Talk person={person} messages={messages} total={data.live.messages.totalCount} />
    </section>
  );
}

function Top({ contactId, person, state }: { contactId: string; person: Person | undefined; state: string | undefined }) {
  const [close, { error }] = useMutation(CloseConversationDocument);
  const told = useTold();
  const name = person?.name ?? 'Nobody';
  const end = () => void told(`Closing the conversation with ${name}`, () => close({ variables: { contactId } })).catch(() => {});
  return (
    <div className="top">
      <Link to="/inbox" className="back">
        Inbox
      </Link>
      <h1>
        <Link to={`/contacts/${contactId}`}>{name}</Link>
      </h1>
      <small className="muted">{state && states[state]}</small>
      {state && state !== 'closed' && (
        <button type="button" className="plain" onClick={end}>
          Close
        </button>
      )}
      <Fault error={error} />
    </div>
  );
}
