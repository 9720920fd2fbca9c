import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { clean } from '../../kernel/model/cleaning.js';
import { forEachRecord } from '../../kernel/operations/forEachRecord.js';
import { checkReferences } from '../../kernel/operations/references.js';
import type { UpdateContactInput } from '../contacts/contact.model.js';
import { contactForChange, deleteContact, updateContact } from '../contacts/contact.service.js';
import { afterRetagging, putOn, takeOff } from '../contacts/contact.tags.js';
import {
  BulkContactUpdate,
  type BulkDeleteContactsInput,
  type BulkDoNotContactInput,
  type BulkEditContactsInput,
  type BulkTagContactsInput,
  type BulkUpdateContactsInput,
} from './bulk.model.js';
import { countsOf, resultsOf } from './bulk.outcome.js';
import { changedFields, chosen, distinct } from './bulk.targets.js';

async function updateOne(inside: Context, update: BulkContactUpdate) {
  const { id, ...change } = { ...update };
  clean(BulkContactUpdate, change, inside);
  return updateContact(inside, id, change as UpdateContactInput);
}

/** Contract POST /bulk/contacts/update: each as PATCH /contacts/{id} would; what is wrong with one is its own result. */
export async function updateContacts(ctx: Context, { updates }: BulkUpdateContactsInput) {
  return resultsOf(
    'Contact',
    await forEachRecord(ctx, updates, { work: updateOne, touches: ({ id }) => [id.toLowerCase()], alike: changedFields }),
  );
}

/** Contract POST /bulk/contacts/edit: the same change for all that are named, or that the filters find. */
export async function editContacts(ctx: Context, input: BulkEditContactsInput) {
  const ids = await chosen(ctx, 'contact', input);
  const { assignedTo, companyId } = input.changes;
  const links = { 'changes.assignedTo': 'user', 'changes.companyId': 'company' } as const;
  await checkReferences(ctx, links, { 'changes.assignedTo': assignedTo, 'changes.companyId': companyId });
  const work = (inside: Context, id: string) => updateContact(inside, id, structuredClone(input.changes));
  return countsOf('Contact', await forEachRecord(ctx, ids, { work, changes: input.changes, noted: input.ids ? undefined : ids }));
}

/** Contract POST /bulk/contacts/delete: each as DELETE /contacts/{id} would. */
export async function deleteContacts(ctx: Context, { ids }: BulkDeleteContactsInput) {
  return countsOf('Contact', await forEachRecord(ctx, distinct(ids), { work: deleteContact }));
}

async function checkTag(ctx: Context, tagId: string): Promise<void> {
  check(await ctx.db.tag.findUnique({ where: ctx.at(tagId) }), () => invalidField('tagId', 'not_found', 'names no tag of this workspace'));
}

/** Contract POST /bulk/contacts/tag: who carries the tag already stays as they are. */
export async function tagContacts(ctx: Context, { contactIds, tagId }: BulkTagContactsInput) {
  await checkTag(ctx, tagId);
  const work = async (inside: Context, id: string) => putOn(inside, await contactForChange(inside, id), [tagId], 'tagId');
  return countsOf('Contact', await forEachRecord(ctx, distinct(contactIds), { work }));
}

/** POST /bulk/contacts/untag: who does not carry the tag stays as they are. */
export async function untagContacts(ctx: Context, { contactIds, tagId }: BulkTagContactsInput) {
  await checkTag(ctx, tagId);
  const work = async (inside: Context, id: string) => {
    const before = await contactForChange(inside, id);
    await takeOff(inside, before, tagId);
    return afterRetagging(inside, before);
  };
  return countsOf('Contact', await forEachRecord(ctx, distinct(contactIds), { work }));
}

/** POST /bulk/contacts/do-not-contact: marks them or takes the mark off, and with it the reason. */
export async function setDoNotContact(ctx: Context, { contactIds, doNotContact, reason }: BulkDoNotContactInput) {
  const doNotContactReason = doNotContact ? reason : (reason ?? null);
  const work = (inside: Context, id: string) => updateContact(inside, id, { doNotContact, doNotContactReason });
  return countsOf('Contact', await forEachRecord(ctx, distinct(contactIds), { work }));
}
