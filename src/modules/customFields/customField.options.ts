import { isDomain } from '../../kernel/base/domains.js';
import { check, type Fault, type FaultCode, unprocessable } from '../../kernel/base/errors.js';
import { normalized } from '../../kernel/base/unicode.js';
import type { CustomField } from './customField.model.js';

type FieldType = CustomField['fieldType'];

/** The members of `options` that each type of field has; the others have none of them. */
const membersOf: Partial<Record<FieldType, readonly string[]>> = {
  select: ['choices'],
  radio: ['choices'],
  multiselect: ['choices'],
  number: ['numberFormat', 'currencyCode'],
  url: ['allowedDomains', 'blockedDomains'],
  email: ['allowedDomains', 'blockedDomains'],
};
const allMembers = new Set(Object.values(membersOf).flat());

/** Whether fields of a type may have a member of `options`: one of its own, or one that no type knows. */
const mayHave = (type: FieldType, member: string) => membersOf[type]?.includes(member) || !allMembers.has(member);

const hasChoices = (type: FieldType) => membersOf[type]?.includes('choices') ?? false;

const mostChoices = 500;
const mostDomains = 200;

const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.trim() !== '' && value.length <= max;

/** What a choice is kept as in a record: the choice itself, or its `value` where it has a label besides. */
function keptAs(choice: unknown): unknown {
  return typeof choice === 'object' && choice !== null ? (choice as { value?: unknown }).value : choice;
}

/** The values that a field with choices allows. */
export const choicesOf = (options: object | null): unknown[] => ((options as { choices?: unknown[] } | null)?.choices ?? []).map(keptAs);

/**
 * How a text is kept where these choices are: as the choice that looks the same, which may be spelled as on a Mac, else in one form of
 * Unicode.
 */
export function spellingBy(choices: readonly unknown[]): (text: string) => string {
  const known = new Set(choices);
  let alike: Map<string, string> | undefined;
  return (text) => {
    if (known.has(text)) return text;
    alike ??= new Map(choices.map((choice) => [normalized(String(choice)), String(choice)]));
    const form = normalized(text);
    return alike.get(form) ?? form;
  };
}

/** The domains that a member of the options of a url or email field names. */
export const domainsOf = (options: object | null, member: 'allowedDomains' | 'blockedDomains'): string[] =>
  ((options as Record<string, string[]> | null)?.[member] ?? []).map((name) => name.toLowerCase());

const unless = (good: boolean, code: FaultCode, message: string): Fault | undefined => (good ? undefined : { code, message });

type Judge = (value: unknown) => Fault | undefined;

const faults = new Map<string, Judge>([
  ['choices', choicesFault],
  ['numberFormat', (value) => unless(isText(value, 50), 'invalid_format', 'must be a text of at most 50 characters')],
  ['currencyCode', (value) => unless(typeof value === 'string' && /^[A-Z]{3}$/.test(value), 'invalid_format', 'must be an ISO 4217 code')],
  ['allowedDomains', domainFault],
  ['blockedDomains', domainFault],
]);

function choicesFault(value: unknown): Fault | undefined {
  const list = `must be a list of 1 to ${mostChoices} choices`;
  if (!Array.isArray(value)) return { code: 'invalid_type', message: list };
  if (value.length === 0 || value.length > mostChoices) return { code: value.length === 0 ? 'too_few' : 'too_many', message: list };
  const values = value.map(keptAs);
  const texts = 'must hold texts of at most 200 characters, or objects with such a value';
  if (!values.every((choice) => isText(choice, 200))) return { code: 'invalid_format', message: texts };
  return unless(new Set(values).size === values.length, 'conflicting', 'must differ from each other');
}

function domainFault(value: unknown): Fault | undefined {
  const good = Array.isArray(value) && value.length <= mostDomains && value.every((name) => typeof name === 'string' && isDomain(name));
  return unless(good, 'invalid_format', `must be a list of at most ${mostDomains} domain names`);
}

/** Contract "options": what each type of field takes, and nothing that belongs to another type. Else 422 naming the member. */
export function checkOptions(type: FieldType, options: object | null): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    check(mayHave(type, name), () => unprocessable(`options.${name}`, 'not_allowed', `is no option of a ${type} field`));
    const fault = value === null ? undefined : faults.get(name)?.(value);
    if (fault) throw unprocessable(`options.${name}`, fault.code, fault.message);
  }
  check(!hasChoices(type) || choicesOf(options).length > 0, () =>
    unprocessable('options.choices', 'required', `is required for a ${type} field`),
  );
}

/** What stays of the options of a field that becomes one of another type: all that this may have, or null where nothing does. */
export function optionsLeft(type: FieldType, options: object | null): object | null {
  const left = Object.entries(options ?? {}).filter(([name]) => mayHave(type, name));
  return left.length > 0 ? Object.fromEntries(left) : null;
}
