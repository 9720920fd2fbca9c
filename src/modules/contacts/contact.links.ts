import type { Context } from '../../kernel/context/context.js';
import { sql } from '../../kernel/database/sql.js';
import type { Changes, Fact } from '../../kernel/events/facts.js';
import { type Relation, relatedRows } from '../../kernel/lists/relatedRows.js';
import { relinks } from '../../kernel/lists/relink.js';
import { type ContactRow, emitContact } from './contact.service.js';
import { contactTable, contactWithTags, taggedContact } from './contact.table.js';

/** The newest contacts of another record's. */
export const contactsBy = (parent: Relation['parent']) =>
  relatedRows<ContactRow>({
    table: 'contacts',
    columns: contactTable.columns,
    row: contactTable.shape,
    parent,
    live: sql`t.deleted_at is null`,
  });

/** The newest contacts that users look after. */
export const contactsOfUsers = contactsBy('assigned_to');
/** The newest contacts that carry tags. */
export const contactsOfTags = contactsBy({ table: 'contact_tags', record: 'contact_id', parent: 'tag_id' });

const linked = {
  ...{ table: 'contacts', row: taggedContact, columns: contactWithTags },
  tell: (ctx: Context, contact: ContactRow, changes: Changes) => emitContact(ctx, 'updated', contact, changes),
};

/** Takes contacts off a company that is gone. */
export const leaveCompany = relinks(linked, 'companyId');
const leaveUser = relinks(linked, 'assignedTo');

/** Contract DELETE /users/{id}: the contacts of a removed user are nobody's. */
export const onUserRemoved = (ctx: Context, { record }: Fact) => leaveUser(ctx, record.id);
