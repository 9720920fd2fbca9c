import { useApolloClient, useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { ContactsDocument, MoreContactsDocument, type PersonFragment } from '../generated/client/pages.js';
import { Face, Fault, Link } from './parts.js';

/** The first page is live; what scrolling brings behind it is asked for once. */
export function Contacts() {
  const [text, setText] = useState('');
  const search = useSettled(text.trim());
  return (
    <main className="contacts">
      <input
        type="search"
        aria-label="Search contacts"
        placeholder="Search by name, e-mail or phone"
        value={text}
        ref={focusFirst}
        onChange={(event) => setText(event.target.value)}
      />
      <People key={search} search={search} />
    </main>
  );
}

function People({ search }: { search: string }) {
  const { data, error } = useSubscription(ContactsDocument, { variables: { search: search || null }, fetchPolicy: 'no-cache' });
  const { more, end, isAll } = useMore(search, data?.live.contacts.pageInfo);
  if (error) return <Fault error={error} />;
  if (!data) return <p className="muted">Loading</p>;
  const { rows, totalCount } = data.live.contacts;
  const first = rows.map(({ node }) => node as PersonFragment);
  const shown = new Set(first.map(({ id }) => id));
  return (
    <>
      <p className="muted" role="status">
        {totalCount} {totalCount === 1 ? 'contact' : 'contacts'}
      </p>
      <ul className="people">
        {[...first, ...more.filter(({ id }) => !shown.has(id))].map((person) => (
          <Row key={person.id} person={person} />
        ))}
      </ul>
      {!isAll && <div ref={end} className="end" />}
    </>
  );
}

function Row({ person }: { person: PersonFragment }) {
  return (
    <li>
      <Link to={`/contacts/${person.id}`}>
        <Face name={person.name} />
        <span className="who">
          <b>{person.name ?? 'Nobody'}</b>
          <small>{[person.jobTitle, person.company].filter(Boolean).join(', ')}</small>
        </span>
        <span className="muted wide">{person.email}</span>
        <span className="muted wide">{person.phone}</span>
      </Link>
    </li>
  );
}

interface Info {
  endCursor?: string | null;
  hasNextPage: boolean;
}

/** The pages behind the first one, each when the end of the list comes into sight. */
function useMore(search: string, first: Info | undefined) {
  const client = useApolloClient();
  const [more, setMore] = useState<PersonFragment[]>([]);
  const [last, setLast] = useState<Info>();
  const end = useRef<HTMLDivElement>(null);
  const info = last ?? first;
  useEffect(() => {
    if (!end.current || !info?.hasNextPage) return;
    let isAsked = false;
    const seen = new IntersectionObserver(async ([entry]) => {
      if (!entry?.isIntersecting || isAsked) return;
      isAsked = true;
      const variables = { search: search || null, after: info.endCursor };
      const { data } = await client.query({ query: MoreContactsDocument, variables, fetchPolicy: 'network-only' });
      if (!data) return;
      setMore((before) => [...before, ...data.contacts.nodes]);
      setLast(data.contacts.pageInfo);
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [client, info?.endCursor, info?.hasNextPage, search]);
  return { more, end, isAll: !info?.hasNextPage };
}

/** Whoever comes here by `/` wants to search. */
const focusFirst = (field: HTMLInputElement | null) => field?.focus();

/** A text once nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
