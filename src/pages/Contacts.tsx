import { useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { ContactsDocument, type PersonFragment } from '../generated/client/pages.js';
import { type Came, Endless } from './Endless.js';
import { NewContact } from './NewContact.js';
import { Face, Fault, Link } from './parts.js';
import { nodesOf } from './Talk.js';
import { Title } from './Title.js';

/** A live list, which grows by a page where it is scrolled to its end. */
export function Contacts() {
  const [text, setText] = useState('');
  const search = useSettled(text.trim());
  return (
    <main className="contacts">
      <Title>Contacts</Title>
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
  const head = (total: number | undefined) => (
    <p className="muted" role="status">
      {total === undefined ? 'Loading' : `${total} ${total === 1 ? 'contact' : 'contacts'}`}
    </p>
  );
  return <Endless className="people" head={head} page={(page, came) => <Page key={page} search={search} page={page} came={came} />} />;
}

function Page({ search, page, came }: { search: string; page: number; came: Came }) {
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
