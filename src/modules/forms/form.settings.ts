import { check, invalidField } from '../../kernel/base/errors.js';
import { normalized } from '../../kernel/base/unicode.js';
import { mostTags } from '../contacts/contact.model.js';
import type { FormField, FormFieldInput } from './form.model.js';
import { isLine } from './form.values.js';

/** What must be agreed to. */
export interface Consent {
  required: boolean;
  /** The wording; null where the form has none. */
  text: string | null;
}

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The tags that a form gives its contacts, by name. */
export const tagsOf = (settings: Members): string[] => (settings.tags as string[] | null | undefined) ?? [];

/** What a form asks to be agreed to, if anything. */
export function consentOf({ consent }: Members): Consent | null {
  if (isObject(consent)) return { required: consent.required === true, text: (consent.text as string | null | undefined) ?? null };
  return consent === true ? { required: true, text: null } : null;
}

const mostConsent = 2000;

/** What of a form's settings is acted on: texts are trimmed, and in one form of Unicode. Throws 400 naming the member at fault. */
export function cleanSettings(settings: Members): Members {
  const cleaned = { ...settings };
  if (settings.tags !== undefined && settings.tags !== null) cleaned.tags = cleanTags(settings.tags);
  if (settings.consent !== undefined && settings.consent !== null) cleaned.consent = cleanConsent(settings.consent);
  return cleaned;
}

function cleanTags(tags: unknown): string[] {
  check(Array.isArray(tags), () => invalidField('settings.tags', 'invalid_type', 'must be a list'));
  check(tags.length <= mostTags, () => invalidField('settings.tags', 'too_many', `must have at most ${mostTags} items`));
  return tags.map((tag: unknown, i) => {
    check(typeof tag === 'string', () => invalidField(`settings.tags.${i}`, 'invalid_type', 'must be text'));
    const name = normalized(tag.trim());
    check(name !== '', () => invalidField(`settings.tags.${i}`, 'required', 'must not be empty'));
    check([...name].length <= 100, () => invalidField(`settings.tags.${i}`, 'too_long', 'must be at most 100 characters'));
    return name;
  });
}

function cleanConsent(consent: unknown): unknown {
  if (typeof consent === 'boolean') return consent;
  check(isObject(consent), () => invalidField('settings.consent', 'invalid_type', 'must be an object {required, text}'));
  const { required = null, text = null } = consent;
  check(required === null || typeof required === 'boolean', () =>
    invalidField('settings.consent.required', 'invalid_type', 'must be true or false'),
  );
  check(text === null || typeof text === 'string', () => invalidField('settings.consent.text', 'invalid_type', 'must be text'));
  const wording = normalized(text?.trim() ?? '') || null;
  check([...(wording ?? '')].length <= mostConsent, () =>
    invalidField('settings.consent.text', 'too_long', `must be at most ${mostConsent} characters`),
  );
  return { ...consent, required: required === true, text: wording };
}

/** A select offers something that can be sent: browsers make a space of a line break, and no submission may hold a control character. */
function checkOptions(options: readonly string[] | null, at: string): void {
  check(options?.length, () => invalidField(at, 'too_few', 'must offer at least one'));
  for (const [i, option] of options.entries())
    check(isLine(option), () => invalidField(`${at}.${i}`, 'invalid_format', 'must be one line'));
}

/**
 * A form's fields with their defaults. Throws 400 where two have one key, a select offers nothing, or a key or an option holds what no
 * page can send.
 */
export function wholeFields(fields: readonly FormFieldInput[]): FormField[] {
  const keys = new Set<string>();
  return fields.map(({ key, label = key, type = 'text', required = false, options = null }, i) => {
    // What reads JSON refuses such a member, so that it could never be filled in.
    check(key !== '__proto__', () => invalidField(`fields.${i}.key`, 'not_allowed', 'must be another word'));
    // Browsers send another line break than the key has.
    check(!/\p{Cc}/u.test(key), () => invalidField(`fields.${i}.key`, 'invalid_format', 'must be one line'));
    check(!keys.has(key), () => invalidField(`fields.${i}.key`, 'taken', 'is the key of another field'));
    if (type === 'select') checkOptions(options, `fields.${i}.options`);
    keys.add(key);
    return { key, label, type, required, options };
  });
}
