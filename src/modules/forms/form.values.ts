import { AppError, type Detail, detailOf } from '../../kernel/base/errors.js';
import * as checks from '../../kernel/model/checks.js';
import { rulesOf } from '../../kernel/model/fieldRules.js';
import { ContactFields } from '../contacts/contact.model.js';
import type { FormField } from './form.model.js';

/** What was filled in, by key. */
export type Values = Record<string, string | number>;

/** The text fields of a contact that a form fills by the key of its field, however that is written: `first_name`, `First name`. */
const places = new Map(
  [...['firstName', 'lastName', 'email', 'phone', 'company', 'jobTitle'], ...['addressLine1', 'addressLine2', 'city', 'state', 'zip']].map(
    (name) => [name.toLowerCase(), name],
  ),
);

const contactRules = new Map(rulesOf(ContactFields).map((rule) => [rule.name, rule]));

/**
 * The field of a contact that a form's field stands for; `name` is the whole name of a person. A select stands for no address and no
 * phone number: all who choose the same would be one contact.
 */
export function placeOf({ key, type }: FormField): string | undefined {
  if (type === 'email' || type === 'phone') return type;
  const word = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  const place = word === 'name' || word === 'fullname' ? 'name' : places.get(word);
  return type === 'select' && (place === 'email' || place === 'phone') ? undefined : place;
}

/** Whether a contact's field, by its name, takes a text. */
export function fitsContact(name: string, text: string): boolean {
  let isFitting = true;
  const refuse = () => {
    isFitting = false;
  };
  contactRules.get(name)!.check(text, name, refuse, {});
  return isFitting;
}

/** A person's whole name as first and last name: the last word is the last name. */
export function namesOf(name: string): { firstName: string; lastName?: string } {
  const [, first, last] = /^(.*\S)\s+(\S+)$/s.exec(name) ?? [];
  return first ? { firstName: first, lastName: last! } : { firstName: name };
}

/** A number as people write it, and as an input of a browser sends it: `.5`, `1e3`. */
const number = /^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})(e[+-]?\d{1,3})?$/i;

const asNumber: checks.Check = (given, at, report) => {
  const text = String(given).trim();
  if (text === '') return null;
  const isNumber = typeof given === 'number' || number.test(text);
  if (!isNumber || !Number.isFinite(Number(text))) report(at, 'invalid_type', 'must be a number');
  return Number(text);
};

/** Whether a text is one line, without any control character. */
export const isLine = (text: string): boolean => !/[\p{Cc}\u2028\u2029]/u.test(text);

/** A line of text: what spans lines could pass for more than one header of a mail. */
const line =
  (max: number): checks.Check =>
  (value, at, report, scope) => {
    const text = checks.text(max)(value, at, report, scope) as string | null;
    if (text && !isLine(text)) report(at, 'invalid_format', 'must be one line');
    return text;
  };

const byType: Record<FormField['type'], checks.Check> = {
  text: line(1000),
  textarea: checks.text(10_000),
  email: checks.email,
  phone: checks.phone,
  select: line(200),
  number: asNumber,
};

function cleaned(field: FormField, given: unknown, report: checks.Report, scope: checks.CheckScope): string | number | null {
  const { type, options } = field;
  if (given === undefined || given === null) return null;
  if (typeof given !== 'string' && typeof given !== 'number') {
    report(field.key, 'invalid_type', type === 'number' ? 'must be a number' : 'must be text');
    return null;
  }
  const value = byType[type](given, field.key, report, scope) as string | number | null;
  if (value === null) return null;
  if (type === 'select') return (checks.oneOf(options ?? []) as typeof asNumber)(value, field.key, report, scope) as string;
  const place = placeOf(field);
  // What goes into a contact must fit there. A number goes as it was written: a postal code may begin with a zero.
  if (place === 'name') for (const part of Object.values(namesOf(String(value)))) line(100)(part, field.key, report, scope);
  else if (place && place !== type)
    return contactRules.get(place)!.check(type === 'number' ? given : value, field.key, report, scope) as string;
  return value;
}

/**
 * What was filled in, checked by the types of the fields; keys that are no field's are left out. Throws 400 that names every field
 * at fault by its label, its details by its key (`data.email`).
 */
export function valuesOf(fields: readonly FormField[], data: Record<string, unknown>, scope: checks.CheckScope): Values {
  const details: (Detail & { label: string })[] = [];
  const values: [string, string | number][] = [];
  for (const field of fields) {
    const { key, label } = field;
    const before = details.length;
    const report: checks.Report = (_at, code, message, options) =>
      details.length === before && details.push({ ...detailOf(`data.${key}`, { code, message, options }), label });
    const value = cleaned(field, Object.hasOwn(data, key) ? data[key] : undefined, report, scope);
    if (value !== null) values.push([key, value]);
    else if (field.required) report(key, 'required', 'is required');
  }
  if (details.length === 0) return Object.fromEntries(values);
  const message = details.map(({ label, message: words }) => `${label} ${words}`).join('; ');
  throw new AppError('invalid_request', message, { details: details.map(({ label: _, ...detail }) => detail) });
}
