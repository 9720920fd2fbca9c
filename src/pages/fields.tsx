import { type FormEvent, type InputHTMLAttributes, type RefObject, useEffect, useId, useState } from 'react';
import { errorOf } from '../client/errors.js';

/** What a form has to tell of a refusal: what its fields are blamed for, and the error itself where it names none of them. */
export interface Told {
  faults: Readonly<Record<string, string>>;
  rest: unknown;
}

/** The refusal of a write, sorted by the fields of its form. */
export function toldOf(error: unknown, names: readonly string[]): Told {
  const told = error ? errorOf(error) : undefined;
  const own = told && 'details' in told ? told.details.filter(({ field }) => names.includes(field)) : [];
  return { faults: Object.fromEntries(own.map(({ field, message }) => [field, message])), rest: own.length > 0 ? undefined : error };
}

/** Takes whoever sent a form to the first of its fields that was refused. */
export function useFocusOnFault(form: RefObject<HTMLFormElement | null>, error: unknown): void {
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [form, error]);
}

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
  fault: string | undefined;
}

/** A field with its label, and beneath it what it is blamed for. */
export function Field({ label, fault, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} aria-invalid={Boolean(fault)} aria-describedby={fault && `${id}-fault`} {...input} />
      {fault && (
        <small id={`${id}-fault`} className="fault" role="alert">
          {label} {fault}
        </small>
      )}
    </div>
  );
}

interface SayProps {
  label: string;
  button: string;
  send(text: string): Promise<unknown>;
  /** What it says is another by now. */
  onChange?(): void;
}

/** A form of one line, emptied once what it says is kept. What is on its way is not sent again. */
export function Say({ label, button, send, onChange }: SayProps) {
  const [isBusy, setBusy] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text')).trim();
    if (!text || isBusy) return;
    setBusy(true);
    try {
      if (await send(text)) form.reset();
    } finally {
      setBusy(false);
    }
  }
  return (
    <form className="say" onSubmit={submit} onChange={onChange}>
      <input name="text" readOnly={isBusy} aria-label={label} placeholder={label} autoComplete="off" />
      <button type="submit">{button}</button>
    </form>
  );
}
