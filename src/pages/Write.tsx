import { useMutation } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type ReachedFragment, type SaidFragment, SendEmailDocument, SendSmsDocument } from '../generated/client/pages.js';
import { Field, Say, toldOf, useFocusOnFault } from './fields.js';
import { Fault } from './parts.js';
import { useOnce } from './useOnce.js';
import { quoted } from './useTold.js';

type Way = 'sms' | 'email';
const titles: Record<Way, string> = { sms: 'Text message', email: 'E-mail' };

/** How somebody may be written to. */
export function waysTo({ phone, email, doNotContact, optedOutSms, optedOutEmail }: ReachedFragment): Way[] {
  if (doNotContact) return [];
  return [...(phone && !optedOutSms ? ['sms' as const] : []), ...(email && !optedOutEmail ? ['email' as const] : [])];
}

interface WriteProps {
  person: ReachedFragment;
  /** The mail that is to be answered; another object each time that somebody wants to. */
  answered: SaidFragment | undefined;
}

/** What is written to a contact: a text message or a mail, where there is an address for it. */
export function Write({ person, answered }: WriteProps) {
  const [chosen, choose] = useState<Way>('sms');
  const [seen, see] = useState(answered);
  if (answered !== seen) {
    see(answered);
    choose('email');
  }
  const ways = waysTo(person);
  const way = ways.includes(chosen) ? chosen : ways[0];
  return (
    <>
      {ways.length > 1 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset lays out its children in a way of its own
        <div className="ways" role="group" aria-label="Write by">
          {ways.map((one) => (
            <button key={one} type="button" aria-pressed={one === way} onClick={() => choose(one)}>
              {titles[one]}
            </button>
          ))}
        </div>
      )}
      {ways.map((one) => (
        // What was begun by the other way stays.
        <div key={one} hidden={one !== way}>
          {one === 'sms' ? <Text contactId={person.id} /> : <Mail contactId={person.id} answered={answered} />}
        </div>
      ))}
      {ways.length === 0 && <p className="muted">There is no way to write to them: no number or address, or none that may be used.</p>}
    </>
  );
}

function Text({ contactId }: { contactId: string }) {
  const [sendSms, { error }] = useMutation(SendSmsDocument);
  const send = useOnce();
  const say = (body: string) => {
    const variables = { input: { contactId, body } };
    return send(variables, (context) => sendSms({ variables, context }), `${titles.sms} ${quoted(body)}`).catch(() => undefined);
  };
  return (
    <>
      <Fault error={error} />
      <Say label="Write a text message" button="Send" send={say} />
    </>
  );
}

const answerTo = ({ subject }: SaidFragment) => (/^re:/i.test(subject ?? '') ? subject! : `Re: ${subject ?? ''}`.trim());

/** A mail, emptied once it is kept. The one that is answered gives the subject, and what was begun stays. */
function Mail({ contactId, answered }: { contactId: string; answered: SaidFragment | undefined }) {
  const [sendEmail, { loading, error }] = useMutation(SendEmailDocument);
  const send = useOnce();
  const form = useRef<HTMLFormElement>(null);
  const text = useRef<HTMLTextAreaElement>(null);
  const [subject, setSubject] = useState('');
  useEffect(() => {
    if (!answered) return;
    setSubject(answerTo(answered));
    text.current?.focus();
  }, [answered]);
  useFocusOnFault(form, error);
  const { faults, rest } = toldOf(error, ['subject', 'body']);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (loading) return;
    const input = { contactId, subject: subject.trim(), body: text.current!.value };
    const title = `${titles.email} ${quoted(input.subject)}`;
    const sent = await send(input, (context) => sendEmail({ variables: { input }, context }), title).catch(() => undefined);
    if (!sent) return;
    // An answer that was begun meanwhile has its subject.
    setSubject((now) => (now === subject ? '' : now));
    if (text.current) text.current.value = '';
  }
  return (
    <form ref={form} className="mail" onSubmit={submit} noValidate>
      <Field
        name="subject"
        label="Subject"
        value={subject}
        fault={faults.subject}
        autoComplete="off"
        readOnly={loading}
        onChange={(event) => setSubject(event.target.value)}
      />
      <textarea
        ref={text}
        name="body"
        rows={5}
        readOnly={loading}
        aria-label="Write an e-mail"
        placeholder="Write an e-mail"
        aria-invalid={Boolean(faults.body)}
        aria-describedby={faults.body && 'mail-fault'}
      />
      {faults.body && (
        <small id="mail-fault" className="fault" role="alert">
          The text {faults.body}
        </small>
      )}
      <Fault error={rest} />
      <button type="submit" disabled={loading}>
        Send e-mail
      </button>
    </form>
  );
}
