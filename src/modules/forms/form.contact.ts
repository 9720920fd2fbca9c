import { AppError, check, invalidField } from '../../kernel/base/errors.js';
import { isLonger, normalized } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { fillContact } from '../contacts/contact.fill.js';
import { contactMatching, withMatch } from '../contacts/contact.match.js';
import type { CreateContactInput } from '../contacts/contact.model.js';
import { createContact } from '../contacts/contact.service.js';
import type { FormRow } from './form.service.js';
import { tagsOf } from './form.settings.js';
import { fitsContact, namesOf, placeOf, type Values } from './form.values.js';
import type { SubmitFormInput } from './submission.model.js';

/** What a form's values say of a person; of two fields for the same, the first that was filled in counts. */
function personOf({ fields }: FormRow, values: Values): Record<string, string> {
  const person: Record<string, string> = {};
  for (const field of fields) {
    const place = placeOf(field);
    const value = Object.hasOwn(values, field.key) ? values[field.key] : undefined;
    if (!place || value === undefined) continue;
    const said = place === 'name' ? namesOf(String(value)) : { [place]: String(value) };
    for (const [name, text] of Object.entries(said)) {
      // An option that a contact cannot hold is not the visitor's fault, who can choose no other.
      if (field.type === 'select' && !fitsContact(name, text)) continue;
      person[name] ??= text;
    }
  }
  return person;
}

const utmNames = ['source', 'medium', 'campaign', 'content', 'term'] as const;
const mostUtm = 500;

/** Where a visitor came from: what the page said of it, and then what the campaign says. */
function attributionOf({ attribution, utm }: Pick<SubmitFormInput, 'attribution' | 'utm'>): CreateContactInput['attribution'] {
  const said = Object.entries(attribution ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const campaign = utmNames.flatMap((name) => {
    const value = utm?.[`utm_${name}`] ?? utm?.[name] ?? '';
    check(typeof value === 'string', () => invalidField(`utm.${name}`, 'invalid_type', 'must be text'));
    const words = normalized(value);
    check(!isLonger(words, mostUtm), () => invalidField(`utm.${name}`, 'too_long', `must be at most ${mostUtm} characters`));
    return words.trim() ? [[`utm_${name}`, words.trim()]] : [];
  });
  const all = Object.fromEntries([...campaign, ...said]) as CreateContactInput['attribution'];
  return Object.keys(all!).length > 0 ? all : null;
}

/** The contact of these values, and the tags of the form. */
export type Lead = CreateContactInput & { tags: string[] };

/** What a submission says of a contact; undefined where it has neither an address nor a number to know one by. */
export function leadOf(form: FormRow, values: Values, input: SubmitFormInput): Lead | undefined {
  const person = personOf(form, values);
  const attribution = attributionOf(input);
  if (!person.email && !person.phone) return undefined;
  return { ...person, source: input.source, attribution, tags: tagsOf(form.settings) } as Lead;
}

/**
 * The contact of a submission: that of the e-mail address, else of the phone number, else a new one. One that is known gains tags
 * and what it lacked, and keeps all it has. Null where the plan allows no more contacts.
 */
export async function contactOf(ctx: Context, lead: Lead): Promise<string | null> {
  const match = await contactMatching(ctx, lead);
  try {
    return match ? await withMatch(fillContact(ctx, match, lead)) : (await createContact(ctx, lead)).id;
  } catch (error) {
    // An ended trial lets no tag be made, and a full plan no contact.
    if (error instanceof AppError && error.code === 'payment_required') return match ?? null;
    throw error;
  }
}
