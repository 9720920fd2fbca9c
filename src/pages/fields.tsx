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
  const blamed = (told && 'details' in told && told.details) || [];
  const own = blamed.filter(({ field }) => names.includes(field));
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
  /** What its button says; none where Enter is enough. */
  button?: string;
  className?: string;
  maxLength?: number;
  /** What is falsy or thrown keeps what was written. */
  send(text: string): Promise<unknown>;
}

/** A form of one line, emptied once what it says is kept. What is on its way is not sent again. */
export function Say({ label, button, className = 'say', maxLength, send }: SayProps) {
  const [isBusy, setBusy] = useState(false);
  // React empties a form by itself after an `action`, whatever came of it.
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
    <form className={className} onSubmit={submit}>
      <input name="text" readOnly={isBusy} aria-label={label} placeholder={label} maxLength={maxLength} autoComplete="off" />
      {button && <button type="submit">{button}</button>}
    </form>
  );
}
