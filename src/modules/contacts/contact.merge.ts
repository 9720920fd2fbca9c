import { badRequest, check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { mergeCustomFields } from '../customFields/customField.merge.js';
import { checkPlan } from '../plans/plan.limits.js';
import { keepOptOutsOfFilled } from './contact.addressFacts.js';
import { contactsOfPlan } from './contact.limit.js';
import { contactMatching, withMatch } from './contact.match.js';
import { repointChildren } from './contact.merge.children.js';
import type { Contact, CreateContactInput, MergeContactsInput, UpsertResult } from './contact.model.js';
import { scoresOf } from './contact.score.js';
import {
  type ContactRow,
  contactForChange,
  contactRowsWithDeleted,
  createContact,
  emitContact,
  fieldNames,
  named,
  updateContact,
} from './contact.service.js';
import { tagsOfContactLoader, withTags } from './contact.tagRows.js';

/**
 * The primary's values, its nulls filled from the secondary; opt-outs and do-not-contact hold if either has them, and of what
 * happened last the later.
 */
function united(primary: ContactRow, secondary: ContactRow) {
  const [kept, other] = [primary as Record<string, unknown>, secondary as Record<string, unknown>];
  const phone = primary.phone ?? secondary.phone;
  const filled = fieldNames.filter((name) => kept[name] === null && other[name] !== null).map((name) => [name, other[name]]);
  return {
    ...Object.fromEntries(filled),
    customFields: mergeCustomFields(secondary.customFields, primary.customFields),
    landline: [primary, secondary].find(({ landline }) => landline === phone)?.landline ?? primary.landline,
    doNotContact: Boolean(primary.doNotContact) || Boolean(secondary.doNotContact),
    optedOutSms: primary.optedOutSms || secondary.optedOutSms,
    optedOutEmail: primary.optedOutEmail || secondary.optedOutEmail,
    lastActivityAt: later(primary.lastActivityAt, secondary.lastActivityAt),
    lastContactedAt: later(primary.lastContactedAt, secondary.lastContactedAt),
  };
}

const later = (a: Date | null, b: Date | null) => (a && b ? (a > b ? a : b) : (a ?? b));

/** Contract POST /contacts/merge: the secondary's fields, tags and history go to the primary; the secondary is deleted. */
export async function mergeContacts(ctx: Context, { primaryId, secondaryId }: MergeContactsInput) {
  check(primaryId !== secondaryId, () => invalidField('secondaryId', 'conflicting', 'must differ from primaryId'));
  ctx.lockRows();
  // In one order, so that two merges of the same pair wait for each other instead of for ever.
  for (const id of [primaryId, secondaryId].sort()) await contactForChange(ctx, id);
  const primary = await contactForChange(ctx, primaryId);
  const secondary = await contactForChange(ctx, secondaryId);
  const gone = ctx.update('Contact', secondary, { deletedAt: ctx.now(), mergedIntoId: primary.id });
  // First of all: what other modules have of the contact follows it, each record telling so.
  await emitContact(ctx, 'deleted', secondary, changesBetween(secondary, gone, ['mergedIntoId']));
  await repointChildren(ctx, secondaryId, primaryId);
  const [scored] = await scoresOf(ctx, [primary.id]);
  const saved = ctx.update('Contact', primary, { ...united(primary, secondary), ...scored!.score });
  keepOptOutsOfFilled(ctx, primary, saved);
  tagsOfContactLoader(ctx).clear(primaryId);
  const merged = await withTags(ctx, saved);
  const changes = changesBetween(named(primary), named(merged), [...fieldNames, 'tags']);
  if (!isNothing(changes)) await emitContact(ctx, 'updated', merged, changes);
  return merged;
}

/** Null, "" and what consists of nothing else. */
const saysNothing = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.trim() === ''
    : value === null || (typeof value === 'object' && Object.values(value).every(saysNothing));

/** What is said of a contact: nothing by null, "" and an empty list, nor by members of an object that are so. */
function saidOf(input: object): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(input)) {
    const isObject = field === 'attribution' || field === 'customFields';
    const given = isObject && value ? Object.fromEntries(Object.entries(value).filter(([, member]) => !saysNothing(member))) : value;
    const isEmpty = given === null || ((isObject || Array.isArray(given)) && Object.keys(given).length === 0);
    if (!isEmpty) said[field] = given;
  }
  return said;
}

/**
 * Contract POST /contact: updates the contact of this e-mail address, else of this phone number, else makes one. As when one is made, null,
 * "" and an empty list say nothing: who knows less of somebody takes nothing away.
 */
export async function upsertContact(ctx: Context, input: CreateContactInput): Promise<UpsertResult> {
  check(input.email || input.phone || input.firstName || input.lastName, () =>
    invalidField('firstName', 'required', 'or lastName, email or phone is required'),
  );
  const match = await contactMatching(ctx, input);
  const { id: _ofNew, ...given } = input;
  const contact = match ? await withMatch(updateContact(ctx, match, saidOf(given))) : await createContact(ctx, input);
  return { contact: contact as Contact, created: !match };
}

/** POST /contacts/{id}/restore: a deleted contact comes back as it was; a merged one does not. */
export async function restoreContact(ctx: Context, id: string) {
  const before = await ctx.forChange(contactRowsWithDeleted, id);
  check(!before.mergedIntoId, () => badRequest('A merged contact cannot be restored'));
  if (!before.deletedAt) return before;
  await checkPlan(ctx, contactsOfPlan);
  const contact = ctx.update('Contact', before, { deletedAt: null });
  await emitContact(ctx, 'updated', contact, { deletedAt: { from: before.deletedAt.toISOString(), to: null } });
  return contact;
}
