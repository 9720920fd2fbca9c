import { useMutation } from '@apollo/client/react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { type ContactPageSubscription, SetContactDocument, type UpdateContactInput } from '../generated/client/pages.js';
import { Field, toldOf } from './fields.js';
import { Face, Fault, Link, More, money } from './parts.js';
import { useGone } from './unkept.js';
import { usePending } from './usePending.js';
import { teller } from './useTold.js';

type Person = NonNullable<ContactPageSubscription['live']['contacts']['rows'][number]['node']>;

const lines = [
  { name: 'firstName', label: 'First name' },
  { name: 'lastName', label: 'Last name' },
  { name: 'jobTitle', label: 'Job title' },
  { name: 'company', label: 'Company' },
  { name: 'email', label: 'E-mail', type: 'email' },
  { name: 'phone', label: 'Phone', type: 'tel' },
] as const;
type Name = (typeof lines)[number]['name'];
type Keep = (name: Name, value: string | null) => Promise<void>;

/** Who somebody is, as it is kept, and as it will be once what was written here is. */
export function Who({ person }: { person: Person }) {
  const { shown, keep } = useEdits(person);
  const names = [shown.firstName, shown.lastName].filter(Boolean).join(' ');
  const name = names || shown.company || shown.email || shown.phone;
  return (
    <section className="card-box who-box">
      <Link to="/contacts" className="back">
        Contacts
      </Link>
      <Face name={name} />
      <h1>{name}</h1>
      <p className="muted">{[shown.jobTitle, shown.company].filter(Boolean).join(', ')}</p>
      <div className="lines">
        {lines.map((line) => (
          <Line key={line.name} path={`/contacts/${person.id}`} line={line} kept={shown[line.name] ?? ''} keep={keep} />
        ))}
      </div>
      <p className="muted score">Score {person.leadScore}</p>
      <Deals deals={person.deals} />
    </section>
  );
}

function Deals({ deals: { nodes, totalCount } }: Pick<Person, 'deals'>) {
  return (
    <>
      <h2>Deals</h2>
      <ul className="small-list">
        {nodes.map((deal) => (
          <li key={deal.id}>
            <i className="dot" style={{ background: deal.stage.color }} />
            <span>
              {deal.title} <small className="muted">{deal.stage.name}</small>
            </span>
            <span className="muted">{money(deal.value, deal.currency)}</span>
          </li>
        ))}
      </ul>
      <More of={totalCount} shown={nodes.length} />
      {nodes.length === 0 && <p className="muted">None yet</p>}
    </>
  );
}

/** Edits are shown at once and sent one after the other for each field; what is kept is what the live page says. */
function useEdits(person: Person): { shown: Person; keep: Keep } {
  const [update] = useMutation(SetContactDocument);
  const { pending, put } = usePending<string | null>((name, value) => person[name as Name] === value);
  const keep: Keep = async (name, value) => {
    const input: UpdateContactInput = { [name]: value };
    await put(name, value, () => update({ variables: { id: person.id, input } }).then(() => true));
  };
  const edits = Object.fromEntries([...pending].map(([name, { value }]) => [name, value]));
  return { shown: { ...person, ...edits }, keep };
}

interface LineProps {
  line: (typeof lines)[number];
  kept: string;
  /** The page that it is on. */
  path: string;
  keep: Keep;
}

/** A line that is written in where it stands. Enter keeps it, and so does leaving it; Escape takes back what was written. */
function Line({ line, kept, keep, path }: LineProps) {
  const { name, label } = line;
  const [draft, write] = useState<string>();
  const [refused, refuse] = useState<{ text: string; error: unknown }>();
  const isGone = useGone();
  const { faults, rest } = toldOf(refused?.error, [name]);
  function forget() {
    write(undefined);
    refuse(undefined);
  }
  async function send() {
    if (draft === undefined) return;
    forget();
    const text = draft.trim();
    if (text === kept) return;
    const tell = teller(path);
    await keep(name, text || null).catch((error: unknown) => {
      if (isGone()) tell(`${label} “${text}”`, error, toldOf(error, [name]).faults[name]);
      refuse({ text, error });
      // What was refused can be mended, unless something else is being written there already.
      write((newer) => newer ?? text);
    });
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  const take = (event: KeyboardEvent) => {
    if (event.key === 'Escape') forget();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Field
        {...line}
        value={draft ?? kept}
        fault={faults[name]}
        placeholder={`Add ${label.toLowerCase()}`}
        autoComplete="off"
        onChange={(event) => write(event.target.value)}
        onKeyDown={take}
        onBlur={() => draft?.trim() !== refused?.text && void send()}
      />
      <Fault error={rest} />
    </form>
  );
}
