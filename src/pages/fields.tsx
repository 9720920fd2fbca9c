import { type FormEvent, type InputHTMLAttributes, type RefObject, useEffect, useId } from 'react';
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

/** A form of one line, emptied once what it says is kept. */
export function Say({ label, button, send }: { label: string; button: string; send(text: string): Promise<unknown> }) {
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text')).trim();
    if (text && (await send(text))) form.reset();
  }
  return (
    <form className="say" onSubmit={submit}>
      <input name="text" aria-label={label} placeholder={label} autoComplete="off" />
      <button type="submit">{button}</button>
    </form>
  );
}
