import { exact, numberForm } from '../base/money.js';
import type { FilterKind } from '../tables/filterField.js';

/** A text as the database lower-cases it. */
export const folded = (text: unknown): string => String(text).toLowerCase();

/** A value as a text that equal values of its kind share, and others do not. */
export function keyOf(kind: FilterKind, value: unknown): string {
  if (kind === 'json') return keyOfJson(value);
  if (kind === 'name' || kind === 'uuid') return folded(value);
  if (kind !== 'integer' && kind !== 'numeric') return String(value);
  const number = exact(value as number | string);
  return number.isZero() ? '0' : number.toFixed();
}

/** A JSON value as text: without the members that are null, the others in the order of their names. */
function keyOfJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${Array.from(value, keyOfJson).join()}]`;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${keyOfJson(member)}`).join()}}`;
}

/** A value in the form by which values of its kind are put in order: an instant in milliseconds, an exact number, a text. */
export function orderedForm(kind: FilterKind, value: unknown): unknown {
  if (kind === 'timestamptz') return Date.parse(String(value));
  return kind === 'integer' || kind === 'numeric' ? exact(value as number | string) : String(value);
}

/** A JSON value as the database shows it as text: a text as it is, anything else as `jsonb` is written. */
export function textOfJson(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? exact(value).toFixed() : written(value);
}

function written(value: unknown): string {
  if (typeof value === 'number') return exact(value).toFixed();
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const size = (name: string) => Buffer.byteLength(name);
  const names = Object.keys(value).sort((a, b) => size(a) - size(b) || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${JSON.stringify(name)}: ${written((value as Record<string, unknown>)[name])}`).join(', ')}}`;
}

const numeric = new RegExp(numberForm);

/** A number of a record, or a value of a custom field that is written as one, as exact text; null for what is none. */
export function numberText(value: unknown): string | null {
  // A list or an object is none, however long it is.
  const text = typeof value === 'string' || typeof value === 'number' ? textOfJson(value) : '';
  return numeric.test(text) ? text : null;
}
