import { useMutation } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { CreateContactDocument } from '../generated/client/pages.js';
import { Field, toldOf, useFocusOnFault } from './fields.js';
import { Fault } from './parts.js';
import { go } from './route.js';
import { useOnce } from './useOnce.js';
import { quoted } from './useTold.js';

const fields = [
  { name: 'firstName', label: 'First name' },
  { name: 'lastName', label: 'Last name' },
  { name: 'email', label: 'E-mail', type: 'email' },
  { name: 'phone', label: 'Phone', type: 'tel' },
  { name: 'company', label: 'Company' },
] as const;
const names = fields.map(({ name }) => name);

/**
 * A button, and the dialog that it opens: whoever is made in it is shown.
 * Each press has its number: a browser tells of a closed dialog later than it gives the focus back, when the next one may be open.
 */
export function NewContact() {
  const [pressed, press] = useState(0);
  const [closed, close] = useState(0);
  return (
    <>
      <button type="button" onClick={() => press(pressed + 1)}>
        New contact
      </button>
      {pressed > closed && <Form key={pressed} close={() => close(pressed)} />}
    </>
  );
}

/** The browser keeps the keys in the dialog, closes it by Escape, and gives the focus back. What is wrong the server says. */
function Form({ close }: { close(): void }) {
  const [create, { loading, error }] = useMutation(CreateContactDocument);
  const send = useOnce();
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useFocusOnFault(form, error);
  const { faults, rest } = toldOf(error, names);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (loading) return;
    const written = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const input = Object.fromEntries(written.filter(([, value]) => value));
    const title = `Contact ${quoted(Object.values(input).join(' '))}`;
    const made = await send(input, (context) => create({ variables: { input }, context }), title).catch(() => undefined);
    // Who has closed it reads or writes something else by now: where they are, they stay.
    if (made?.data && dialog.current?.open) go(`/contacts/${made.data.createContact.id}`);
  }
  return (
    <dialog ref={dialog} className="card-box dialog" aria-labelledby="new-contact" onClose={close}>
      <h2 id="new-contact">New contact</h2>
      <form ref={form} onSubmit={submit} noValidate>
        {fields.map((field) => (
          <Field key={field.name} {...field} fault={faults[field.name]} autoComplete="off" />
        ))}
        <Fault error={rest} />
        <button type="submit" disabled={loading}>
          Create contact
        </button>
        <button type="button" className="plain" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </form>
    </dialog>
  );
}
