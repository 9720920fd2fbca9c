import { ApolloProvider, useMutation, useQuery, useSubscription } from '@apollo/client/react';
import { Fragment, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { errorOf } from '../client/errors.js';
import { LogoutDocument, UnreadDocument, ViewerDocument } from '../generated/client/pages.js';
import { Board } from './Board.js';
import { Calls } from './Calls.js';
import { ContactPage } from './ContactPage.js';
import { Contacts } from './Contacts.js';
import { client, enter } from './client.js';
import { Enrolment } from './Enrolment.js';
import { Inbox } from './Inbox.js';
import { Login } from './Login.js';
import { Fault, Line, Link, NotKept } from './parts.js';
import { go, usePath } from './route.js';
import { useArrival } from './useArrival.js';
import { isShortcut } from './useKeys.js';
import { Week } from './Week.js';
import './style.css';
import './board.css';
import './people.css';
import './forms.css';
import './day.css';
import './phone.css';

function Page() {
  const path = usePath();
  useArrival(path);
  const { data, error } = useQuery(ViewerDocument);
  useEffect(() => {
    const search = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      // A dialog that is open is answered first.
      if (event.key !== '/' || isTyping || isShortcut(event) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>('input[type=search]');
      if (field) field.focus();
      else go('/contacts');
    };
    addEventListener('keydown', search);
    return () => removeEventListener('keydown', search);
  }, []);
  if (error && errorOf(error).code === 'unauthenticated') return <Login />;
  if (error) return <Fault error={error} />;
  if (!data) return null;
  if (data.me.mfaSetupRequired) return <Enrolment />;
  const [, section, id] = path.split('/');
  return (
    // What was open for somebody else is not gone on with.
    <Fragment key={`${data.me.user.id} ${data.me.workspace.id}`}>
      <Head name={data.me.user.name} workspace={data.me.workspace.name} path={path} />
      {pageOf(section, id)}
    </Fragment>
  );
}

function pageOf(section: string | undefined, id: string | undefined) {
  if (section === 'contacts') return id ? <ContactPage key={id} id={id} /> : <Contacts />;
  if (section === 'inbox') return <Inbox contactId={id} />;
  if (section === 'calendar') return <Week />;
  if (section === 'calls') return <Calls />;
  return <Board />;
}

const sections = [
  ['/', 'Deals'],
  ['/contacts', 'Contacts'],
  ['/inbox', 'Inbox'],
  ['/calendar', 'Calendar'],
  ['/calls', 'Calls'],
] as const;

function Head({ name, workspace, path }: { name: string; workspace: string; path: string }) {
  const [logout, { error }] = useMutation(LogoutDocument);
  async function leave() {
    const done = await logout().catch(() => undefined);
    if (done) await enter();
  }
  const { data } = useSubscription(UnreadDocument, { fetchPolicy: 'no-cache' });
  const unread = data?.live.conversations.totalCount;
  const isHere = (to: string) => (to === '/' ? path === to : path.startsWith(to));
  return (
    <header>
      <strong>{workspace}</strong>
      <nav>
        {sections.map(([to, title]) => (
          <Link key={to} to={to} isHere={isHere(to)}>
            {title}
            {to === '/inbox' && Boolean(unread) && <i className="count">{unread! > 99 ? '99+' : unread}</i>}
          </Link>
        ))}
      </nav>
      <Line />
      <button type="button" className="plain" onClick={leave} title={`Logged in as ${name}`}>
        Log out
      </button>
      <Fault error={error} />
      <NotKept />
    </header>
  );
}

createRoot(document.getElementById('root')!).render(
  <ApolloProvider client={client}>
    <Page />
  </ApolloProvider>,
);
