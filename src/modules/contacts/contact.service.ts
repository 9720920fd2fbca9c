import { check, found, invalidField } from '../../kernel/base/errors.js';
import { defined, withoutNulls } from '../../kernel/base/objects.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { emptyRow, type RowOf } from '../../kernel/database/kinds.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { selectsOfNodes } from '../../kernel/model/connection.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { loader } from '../../kernel/operations/loader.js';
import {
  changedReferences,
  checkReferences,
  holdReference,
  missingReferences,
  type ReferenceKinds,
  refuseMissing,
} from '../../kernel/operations/references.js';
import { rowsByIds } from '../../kernel/operations/rowsByIds.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkCustomFields } from '../customFields/customField.values.js';
import { checkPlanThen } from '../plans/plan.limits.js';
import type { TagRow } from '../tags/tag.table.js';
import { keepOptOuts } from './contact.addressFacts.js';
import { contactsOfPlan } from './contact.limit.js';
import { type Contact, ContactFields, type ContactList, type CreateContactInput, type UpdateContactInput } from './contact.model.js';
import { contactRow, contactTable, taggedContacts } from './contact.table.js';
import { carry, setTags, tagsNamed } from './contact.tagRows.js';

/** A contact as it is kept, with its tags where a statement brought them along. */
export type ContactRow = RowOf<typeof contactRow.shape> & { tags?: TagRow[] };

const withTheirTags = { columns: taggedContacts.columns, row: taggedContacts.shape };

const columnsOf = ({ selection }: ContactList) => (selectsOfNodes(selection, 'tags') ? withTheirTags : {});

/** A page of contacts in one statement, tags and exact total included where they are asked for. */
export const listContacts = (ctx: Context, args: ContactList) => listRows<ContactRow>(ctx, contactTable, args, columnsOf(args));

/** Contacts with their tags by id, for many keys in one statement; null for one that is gone. */
const contactsById = rowsByIds(taggedContacts);

/** A contact with its tags; null for one that is gone. */
export const contactLoader = loader<ContactRow | null>(contactsById);

/** One contact with its tags, or null. */
export async function findContact(ctx: Context, id: string): Promise<ContactRow | null> {
  const [contact] = await contactsById(ctx, [validId(id, 'Contact')]);
  return contact ?? null;
}

/** One contact with its tags, or 404. */
export const getContact = async (ctx: Context, id: string): Promise<ContactRow> => found(await findContact(ctx, id), 'Contact');

/** Has the next write find a contact alive that was read before, and whoever deletes or merges it wait, and find what is written. */
export const requireContact = (ctx: Context, id: string): void => holdReference(ctx, 'contact', id);

/** How contacts are read to be changed. */
export const contactRows = rowsToChange(taggedContacts);

/** How contacts are read to be changed, deleted ones included. */
export const contactRowsWithDeleted = rowsToChange(taggedContacts, { withDeleted: true });

/** One contact with its tags, to be changed: nobody else does so before this unit of work ends, or it is undone. */
export const contactForChange = (ctx: Context, id: string) => ctx.forChange(contactRows, id);

/** What a caller may change, and so what a merge fills and an audit row compares. */
export const fieldNames = namesOf(ContactFields);

/** A contact of which nothing is known. */
const blank = {
  ...emptyRow(contactRow.shape),
  masterStatus: 'lead',
  doNotContact: false,
  customFields: {},
  optedOutSms: false,
  optedOutEmail: false,
  leadScore: 0,
  lastActivityAt: null,
  lastContactedAt: null,
};

/** What contacts are linked to. */
export const links: ReferenceKinds<'assignedTo' | 'companyId'> = { assignedTo: 'user', companyId: 'company' };

/**
 * Contract POST /contacts: at least one of firstName, lastName, email, phone; 402 over the plan's limit, unless somebody wrote to
 * us: nobody is turned away.
 */
export async function createContact(
  ctx: Context,
  { tags, ...input }: Partial<CreateContactInput> & { importId?: string },
  { beyondPlan = false }: { beyondPlan?: boolean } = {},
) {
  check(input.firstName || input.lastName || input.email || input.phone, () =>
    invalidField('firstName', 'required', 'or lastName, email or phone is required'),
  );
  const [merged, missing] = await Promise.all([
    checkCustomFields(ctx, 'contact', input.customFields, null),
    missingReferences(ctx, links, input),
  ]);
  refuseMissing(missing);
  const customFields = (beyondPlan ? merged() : await checkPlanThen(ctx, contactsOfPlan, merged)) ?? {};
  const carried = tags?.length ? await tagsNamed(ctx, tags) : [];
  const attribution = mergeAttribution(null, input.attribution) ?? null;
  const contact: ContactRow = ctx.insert('Contact', { ...blank, ...defined(input), customFields, attribution });
  contact.tags = carry(ctx, contact.id, carried);
  keepOptOuts(ctx, null, contact);
  await emitContact(ctx, 'created', contact);
  return contact;
}

const tracked = [...fieldNames, 'tags'];

/** Where a contact came from after a change: key by key, a null removes its key; nothing is left of none. */
function mergeAttribution(before: object | null, given: object | null | undefined) {
  if (!given) return given;
  const kept = withoutNulls({ ...before, ...given });
  return (Object.keys(kept).length > 0 ? kept : null) as Contact['attribution'];
}

/** Contract PATCH /contacts/{id}: absent keeps, null clears; custom fields and attribution merge by key, tags are replaced. */
export async function updateContact(ctx: Context, id: string, { tags, ...input }: UpdateContactInput) {
  if (tags !== undefined) ctx.lockRows();
  const before = await contactForChange(ctx, id);
  const merged = await checkCustomFields(ctx, 'contact', input.customFields, before.customFields ?? {});
  await checkReferences(ctx, links, changedReferences(links, before, input));
  // A tag that may not be made (402) is told before a required field that is emptied (422), which undoes what was made by then.
  const carried = tags === undefined ? before.tags : await setTags(ctx, before, tags ?? []);
  const given = defined({ ...input, customFields: merged(), attribution: mergeAttribution(before.attribution, input.attribution) });
  const changes = changesBetween(named(before), named({ ...before, ...given, tags: carried }), tracked);
  if (isNothing(changes)) return before;
  const saved = { ...ctx.update('Contact', before, given), tags: carried };
  keepOptOuts(ctx, before, saved);
  await emitContact(ctx, 'updated', saved, changes);
  return saved;
}

export const named = (contact: ContactRow) => ({ ...contact, tags: contact.tags?.map((tag) => tag.name) });

/** Contract DELETE /contacts/{id}: soft; notes, tasks and conversations stay. */
export async function deleteContact(ctx: Context, id: string) {
  const contact = await contactForChange(ctx, id);
  ctx.update('Contact', contact, { deletedAt: ctx.now() });
  await emitContact(ctx, 'deleted', contact);
  return deleted('Contact', contact.id);
}

/** Tells of a change of a contact. */
export const emitContact = (ctx: Context, event: 'created' | 'updated' | 'deleted', contact: ContactRow, changes?: Changes) =>
  ctx.emit({ name: `contact.${event}`, record: contact, changes, contactId: contact.id });
