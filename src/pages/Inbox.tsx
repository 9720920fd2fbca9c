import { useMutation, useSubscription } from '@apollo/client/react';
import { useEffect } from 'react';
import {
  CloseConversationDocument,
  InboxDocument,
  type InboxSubscription,
  MarkReadDocument,
  type SaidFragment,
  ThreadDocument,
  type ThreadSubscription,
} from '../generated/client/pages.js';
import { Face, Fault, Link, lately, More } from './parts.js';
import { nodesOf, plain, Talk } from './Talk.js';

type Conversation = NonNullable<InboxSubscription['live']['conversations']['rows'][number]['node']>;
type Person = NonNullable<ThreadSubscription['live']['contacts']['rows'][number]['node']>;

const states: Record<string, string> = { awaiting_reply: 'Waits for an answer', replied: 'Answered', closed: 'Closed', idle: '' };

/** All conversations, those with the newest messages first, and the one that is looked at beside them. */
export function Inbox({ contactId }: { contactId: string | undefined }) {
  const { data, error } = useSubscription(InboxDocument, { fetchPolicy: 'no-cache' });
  if (error) return <Fault error={error} />;
  if (!data) return <main className="muted">Loading</main>;
  const all = nodesOf(data.live.conversations.rows) as Conversation[];
  const open = all.find((one) => one.contactId === contactId);
  return (
    <main className="inbox" data-open={Boolean(contactId)}>
      <ul className="people threads">
        {all.map((one) => (
          <Row key={one.contactId} conversation={one} isOpen={one === open} />
        ))}
        {all.length === 0 && <li className="muted empty">Nobody wrote yet.</li>}
        {data.live.conversations.totalCount > all.length && (
          <li className="empty">
            <More of={data.live.conversations.totalCount} shown={all.length} />
          </li>
        )}
      </ul>
      {contactId ? (
        <Thread key={contactId} contactId={contactId} conversation={open} />
      ) : (
        <p className="muted empty">Choose a conversation.</p>
      )}
    </main>
  );
}

function Row({ conversation, isOpen }: { conversation: Conversation; isOpen: boolean }) {
  const { contact, contactId, lastMessage, lastMessageAt, unreadCount } = conversation;
  return (
    <li data-unread={unreadCount > 0} data-conversation={contactId}>
      <Link to={`/inbox/${contactId}`} className={isOpen ? 'here' : undefined}>
        <Face name={contact?.name} />
        <span className="who">
          <b>{contact?.name ?? 'Nobody'}</b>
          <small>{lastMessage && plain(lastMessage.body)}</small>
        </span>
        <span className="at">
          <small className="muted">{lastMessageAt && lately(lastMessageAt)}</small>
          {unreadCount > 0 && <i className="count">{unreadCount}</i>}
        </span>
      </Link>
    </li>
  );
}

function Thread({ contactId, conversation }: { contactId: string; conversation: Conversation | undefined }) {
  const { data, error } = useSubscription(ThreadDocument, { variables: { contactId }, fetchPolicy: 'no-cache' });
  const [markRead] = useMutation(MarkReadDocument);
  const unread = conversation?.unreadCount ?? 0;
  // What is on the screen has been read.
  useEffect(() => {
    if (unread > 0) markRead({ variables: { contactId } }).catch(() => {});
  }, [contactId, markRead, unread]);
  if (error) return <Fault error={error} />;
  if (!data) return <p className="muted empty">Loading</p>;
  const person = data.live.contacts.rows[0]?.node as Person | undefined;
  const messages = nodesOf(data.live.messages.rows).reverse() as SaidFragment[];
  return (
    <section className="card-box talk">
      <Top contactId={contactId} person={person} state={conversation?.conversationState} />
      <Talk person={person} messages={messages} total={data.live.messages.totalCount} />
    </section>
  );
}

function Top({ contactId, person, state }: { contactId: string; person: Person | undefined; state: string | undefined }) {
  const [close, { error }] = useMutation(CloseConversationDocument);
  return (
    <div className="top">
      <Link to="/inbox" className="back">
        Inbox
      </Link>
      <h1>
        <Link to={`/contacts/${contactId}`}>{person?.name ?? 'Nobody'}</Link>
      </h1>
      <small className="muted">{state && states[state]}</small>
      {state && state !== 'closed' && (
        <button type="button" className="plain" onClick={() => close({ variables: { contactId } }).catch(() => {})}>
          Close
        </button>
      )}
      <Fault error={error} />
    </div>
  );
}
