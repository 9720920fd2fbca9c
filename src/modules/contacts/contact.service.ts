import { type Context, validId } from '../../kernel/context.js';
import { mergeCustomFields } from '../../kernel/customFields.js';
import { badRequest, check, found } from '../../kernel/errors.js';
import { listRows, showRow, showRows } from '../../kernel/list.js';
import { type Batch, grouped, inOrder } from '../../kernel/loaders.js';
import { changesBetween } from '../../kernel/outbox.js';
import { deleted } from '../../kernel/page.js';
import { checkPlan } from '../../kernel/plans.js';
import { emptySql, sql, statement } from '../../kernel/sql.js';
import { checkCustomFields } from '../customFields/customField.values.js';
import type { AddTagsInput, Tag } from '../tags/tag.model.js';
import { findOrCreateTags, getTag } from '../tags/tag.service.js';
import { cancelPending } from './contact.children.js';
import { contactColumns, contactConditions, contactListing, contactWithTags } from './contact.filter.js';
import type { Contact, ContactList, ContactSort, CreateContactInput, UpdateContactInput } from './contact.model.js';

/** A contact as it is kept, with its tags where a statement brought them along. */
export type ContactRow = Contact & { tags?: Tag[]; scoredAt?: Date | null };

export const asRow = (row: object) => row as ContactRow;

const tagsSelected = ['nodes.tags', 'edges.node.tags'];

const listed = (ctx: Context, { selection, filter }: ContactList) => ({
  spec: { ...contactListing, columns: tagsSelected.some((path) => selection.has(path)) ? contactWithTags : contactColumns },
  conditions: contactConditions(ctx, filter),
});

/** A page of contacts in one statement, tags and exact total included where they are asked for. */
export function listContacts(ctx: Context, args: ContactList) {
  const { spec, conditions } = listed(ctx, args);
  return listRows<ContactRow, keyof typeof ContactSort>(ctx, spec, args, conditions);
}

/** Contract GET /contacts: the same as it is shown. */
export function showContacts(ctx: Context, args: ContactList) {
  const { spec, conditions } = listed(ctx, args);
  return showRows<ContactRow, keyof typeof ContactSort>(ctx, spec, args, conditions);
}

/** Contract GET /contacts/{id}: one contact with its tags as it is shown, or 404. */
export const showContact = async (ctx: Context, id: string) =>
  found(await showRow<ContactRow>(ctx, { ...contactListing, columns: contactWithTags }, validId(id, 'Contact')), 'Contact');

const byId = statement<ContactRow, [id: string, lock: boolean]>(
  (account, id, lock) => sql`
    select ${contactWithTags} from contacts t
    where t.account_id = ${account}::uuid and t.id = ${id}::uuid and t.deleted_at is null ${lock ? sql`for update of t` : emptySql}`,
);

/** One contact with its tags, or null. */
export async function findContact(ctx: Context, id: string): Promise<ContactRow | null> {
  const [contact] = await ctx.read(byId, validId(id, 'Contact'), false);
  return contact ?? null;
}

/** One contact with its tags, or 404. */
export const getContact = async (ctx: Context, id: string): Promise<ContactRow> => found(await findContact(ctx, id), 'Contact');

/** One contact with its tags, held against other writers until this unit of work ends. */
export async function lockContact(ctx: Context, id: string): Promise<ContactRow> {
  const [contact] = await ctx.query(byId, validId(id, 'Contact'), true);
  return found(contact, 'Contact');
}

/** Contacts by id, for many keys in one statement; null for one that is gone. */
export const contactsById: Batch<ContactRow | null> = async (ctx, ids) =>
  inOrder(ids, (await ctx.db.contact.findMany({ where: { id: { in: [...ids] } } })).map(asRow), (row) => row.id);

/** A contact's tags by name, for many contacts in one statement. */
export const tagsOfContacts: Batch<Tag[]> = async (ctx, ids) => {
  const rows = await ctx.db.contactTag.findMany({
    where: { contactId: { in: [...ids] } },
    include: { tag: true },
    orderBy: [{ tag: { name: 'asc' } }, { tagId: 'asc' }],
  });
  return grouped(
    ids,
    rows,
    (row) => row.contactId,
    (row) => row.tag as Tag,
  );
};

export const withTags = async (ctx: Context, contact: ContactRow): Promise<ContactRow> => ({
  ...contact,
  tags: await ctx.load.tagsOfContact.load(contact.id),
});

/** What a caller may change, and so what a merge fills and an audit row compares. */
export const fieldNames = [
  ...['firstName', 'lastName', 'email', 'phone', 'company', 'companyId', 'jobTitle', 'source', 'addressLine1', 'addressLine2'],
  ...['city', 'state', 'zip', 'country', 'timezone', 'legacyStatus', 'masterStatus', 'externalBackend', 'language', 'doNotContact'],
  ...['doNotContactReason', 'optedOutSms', 'optedOutEmail', 'assignedTo', 'customFields', 'attribution'],
];

/** A contact of which nothing is known. */
const blank = {
  ...Object.fromEntries(fieldNames.map((name) => [name, null])),
  masterStatus: 'lead',
  doNotContact: false,
  customFields: {},
  optedOutSms: false,
  optedOutEmail: false,
  leadScore: 0,
  lastActivityAt: null,
  lastContactedAt: null,
};

const byName = (tags: Tag[]) => tags.sort((a, b) => (a.name < b.name ? -1 : 1));

const defined = (input: object) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

/** Contract POST /contacts: at least one of firstName, lastName, email, phone; 402 over the plan's limit. */
export async function createContact(ctx: Context, { tags, ...input }: CreateContactInput) {
  check(input.firstName || input.lastName || input.email || input.phone, () =>
    badRequest('One of firstName, lastName, email, phone is required'),
  );
  await checkPlan(ctx, 'contacts');
  const customFields = mergeCustomFields({}, await checkCustomFields(ctx, 'contact', input.customFields, true)) ?? {};
  const contact: ContactRow = asRow(ctx.insert('Contact', { ...blank, ...defined(input), customFields }));
  contact.tags = tags?.length ? await setTags(ctx, contact.id, tags) : [];
  await emitContact(ctx, 'contact.created', contact);
  return contact;
}

const tracked = [...fieldNames, 'tags'];

/** Contract PATCH /contacts/{id}: absent keeps, null clears; custom fields merge by key, tags are replaced. */
export async function updateContact(ctx: Context, id: string, { tags, ...input }: UpdateContactInput) {
  const before = await lockContact(ctx, id);
  const checked = await checkCustomFields(ctx, 'contact', input.customFields, false);
  const given = defined({ ...input, customFields: mergeCustomFields(before.customFields, checked) });
  const carried = tags === undefined ? before.tags : await setTags(ctx, before.id, tags ?? []);
  const changes = changesBetween(named(before), named({ ...before, ...given, tags: carried }), tracked);
  if (Object.keys(changes).length === 0) return before;
  const saved = { ...ctx.update('Contact', before, given), tags: carried };
  await emitContact(ctx, 'contact.updated', saved, changes);
  return saved;
}

export const named = (contact: ContactRow) => ({ ...contact, tags: contact.tags?.map((tag) => tag.name).sort() });

/** Contract DELETE /contacts/{id}: soft; notes, tasks and conversations stay. */
export async function deleteContact(ctx: Context, id: string) {
  const contact = await lockContact(ctx, id);
  ctx.update('Contact', contact, { deletedAt: ctx.now() });
  await cancelPending(ctx, contact.id);
  await emitContact(ctx, 'contact.deleted', contact);
  return deleted(contact.id);
}

export function emitContact(ctx: Context, name: string, contact: ContactRow, changes?: ReturnType<typeof changesBetween>) {
  return ctx.emit({ name, type: 'Contact', record: contact, changes, contactId: contact.id });
}

/** Replaces the contact's tags by those of the names, found or made. */
async function setTags(ctx: Context, contactId: string, names: string[]): Promise<Tag[]> {
  const tags = names.length > 0 ? await findOrCreateTags(ctx, names) : [];
  await ctx.db.contactTag.deleteMany({ where: { contactId, tagId: { notIn: tags.map((tag) => tag.id) } } });
  if (tags.length > 0)
    await ctx.db.contactTag.createMany({ data: tags.map((tag) => ({ contactId, tagId: tag.id })), skipDuplicates: true });
  ctx.load.tagsOfContact.clear(contactId);
  return byName(tags);
}

/** Contract POST /contacts/{id}/tags: existing tags only, none is made; putting one on twice changes nothing. */
export async function addTags(ctx: Context, id: string, { tagIds, tagId }: AddTagsInput) {
  const wanted = [...new Set([...(tagIds ?? []), ...(tagId ? [tagId] : [])])];
  check(wanted.length > 0, () => badRequest('tagIds must name at least one tag'));
  const before = await lockContact(ctx, id);
  const known = await ctx.db.tag.findMany({ where: { id: { in: wanted } }, select: { id: true } });
  check(known.length === wanted.length, () => badRequest('tagIds names a tag that does not exist in this workspace'));
  await ctx.db.contactTag.createMany({ data: wanted.map((tag) => ({ contactId: before.id, tagId: tag })), skipDuplicates: true });
  return afterRetagging(ctx, before);
}

/** Contract DELETE /contacts/{id}/tags/{tagId}: 404 when the contact does not carry the tag. */
export async function removeTag(ctx: Context, id: string, tagId: string) {
  const before = await lockContact(ctx, id);
  const tag = await getTag(ctx, tagId);
  const { count } = await ctx.db.contactTag.deleteMany({ where: { contactId: before.id, tagId: tag.id } });
  found(count || null, 'Tag');
  return afterRetagging(ctx, before);
}

async function afterRetagging(ctx: Context, before: ContactRow): Promise<Tag[]> {
  ctx.load.tagsOfContact.clear(before.id);
  const after = await withTags(ctx, before);
  const changes = changesBetween(named(before), named(after), ['tags']);
  if (Object.keys(changes).length > 0) {
    await emitContact(ctx, 'contact.updated', ctx.update('Contact', after, {}), changes);
  }
  return after.tags ?? [];
}
