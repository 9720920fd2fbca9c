import { useSubscription } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ContactsDocument, type PersonFragment } from '../generated/client/pages.js';
import { NewContact } from './NewContact.js';
import { Face, Fault, Link, More } from './parts.js';
import { nodesOf } from './Talk.js';

/** How many people a page has, as in the document, and how many pages are watched at most: whoever seeks somebody behind them searches. */
const size = 50;
const most = 40;

/** A live list, which grows by a page where it is scrolled to its end. */
export function Contacts() {
  const [text, setText] = useState('');
  const search = useSettled(text.trim());
  return (
    <main className="contacts">
      <div className="find">
        <input
          type="search"
          aria-label="Search contacts"
          placeholder="Search by name, e-mail or phone"
          value={text}
          ref={focusFirst}
          onChange={(event) => setText(event.target.value)}
        />
        <NewContact />
      </div>
      <People key={search} search={search} />
    </main>
  );
}

function People({ search }: { search: string }) {
  const [pages, want] = useState(1);
  const [{ page, total }, note] = useState<{ page: number; total?: number }>({ page: 0 });
  const came = useCallback((now: number, all: number) => note((last) => ({ page: Math.max(last.page, now), total: all })), []);
  return (
    <>
      <p className="muted" role="status">
        {total === undefined ? 'Loading' : `${total} ${total === 1 ? 'contact' : 'contacts'}`}
      </p>
      <ul className="people">
        {Array.from({ length: pages }, (_, n) => (
          <Page key={n} search={search} page={n + 1} came={came} />
        ))}
      </ul>
      {page === pages && pages < most && total! > pages * size && <End key={pages} reach={() => want(pages + 1)} />}
      {pages === most && <More of={total} shown={most * size} />}
    </>
  );
}

/** A page of the list, live by itself: it goes on showing these places of it, whatever comes and goes before. */
function Page({ search, page, came }: { search: string; page: number; came(page: number, total: number): void }) {
  const { data, error } = useSubscription(ContactsDocument, {
    ...{ variables: { search: search || null, page }, fetchPolicy: 'no-cache' },
    onData: ({ data: now }) => came(page, now.data!.live.contacts.totalCount),
  });
  if (error)
    return (
      <li>
        <Fault error={error} />
      </li>
    );
  const people = nodesOf(data?.live.contacts.rows ?? []) as PersonFragment[];
  return people.map((person) => <Row key={person.id} person={person} />);
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

/** A mark at the end of the list: more is wanted when it comes into sight. */
function End({ reach }: { reach(): void }) {
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && reach());
    seen.observe(mark.current!);
    return () => seen.disconnect();
  });
  return <div ref={mark} className="end" />;
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
