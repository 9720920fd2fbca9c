import { useApolloClient, useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { ContactsDocument, type ContactsSubscription, MoreContactsDocument, type PersonFragment } from '../generated/client/pages.js';
import { Face, Fault, Link } from './parts.js';

/** One live list, which grows with scrolling. */
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
  const { people, total, error, end, again } = usePeople(search);
  if (error && people.length === 0) return <Fault error={error} />;
  if (total === undefined) return <p className="muted">Loading</p>;
  return (
    <>
      <p className="muted" role="status">
        {total} {total === 1 ? 'contact' : 'contacts'}
      </p>
      <ul className="people">
        {people.map((person) => (
          <Row key={person.id} person={person} />
        ))}
      </ul>
      <Fault error={error} />
      {Boolean(error) && (
        <button type="button" className="plain" onClick={again}>
          Try again
        </button>
      )}
      {people.length < total && !error && <div ref={end} className="end" />}
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

/** How many more come at the end of the list, and the most that a list of the server has at once. */
const step = 50;
const most = 200;

/** The people found, as far as somebody has scrolled: the first 200 are live, those behind them are read again when the live ones end elsewhere. */
function usePeople(search: string) {
  const [wanted, want] = useState(step);
  const variables = { search: search || null, first: Math.min(wanted, most) };
  const { data, error } = useSubscription(ContactsDocument, { variables, fetchPolicy: 'no-cache' });
  // A longer list begins anew: until it is there the shorter one stays.
  const [live, keep] = useState<ContactsSubscription['live']['contacts']>();
  useEffect(() => {
    if (data) keep(data.live.contacts);
  }, [data]);
  const behind = useBehind(search, wanted > most ? live?.pageInfo.endCursor : undefined, wanted - most);
  const first = (live?.rows ?? []).map(({ node }) => node as PersonFragment);
  const shown = new Set(first.map(({ id }) => id));
  const people = [...first, ...behind.people.filter(({ id }) => !shown.has(id))];
  const end = useEnd(people.length >= wanted, () => want(wanted + step));
  return { people, total: live?.totalCount, error: error ?? behind.error, end, again: behind.again };
}

/** So many people behind a place of the list. */
function useBehind(search: string, after: string | null | undefined, count: number) {
  const client = useApolloClient();
  const [people, setPeople] = useState<PersonFragment[]>([]);
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isLeft = false;
    async function ask() {
      const found: PersonFragment[] = [];
      for (let place = after; place && found.length < count; ) {
        const variables = { search: search || null, first: Math.min(count - found.length, most), after: place };
        const { data, error: fault } = await client.query({ query: MoreContactsDocument, variables, fetchPolicy: 'no-cache' });
        if (!data) throw fault;
        found.push(...data.contacts.nodes);
        place = data.contacts.pageInfo.hasNextPage ? data.contacts.pageInfo.endCursor : null;
      }
      return found;
    }
    setError(undefined);
    ask().then(
      (found) => !isLeft && setPeople(found),
      (fault: unknown) => !isLeft && setError(fault),
    );
    return () => {
      isLeft = true;
    };
  }, [client, search, after, count, attempt]);
  return { people, error, again: () => setAttempt(attempt + 1) };
}

/** A mark at the end of the list: more is wanted when it comes into sight and all that was wanted is there. */
function useEnd(isThere: boolean, wantMore: () => void) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!end.current || !isThere) return;
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      seen.disconnect();
      wantMore();
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  });
  return end;
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
