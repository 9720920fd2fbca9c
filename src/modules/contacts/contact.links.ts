import type { Context } from '../../kernel/context/context.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Fact } from '../../kernel/events/facts.js';
import { type Relation, relatedRows } from '../../kernel/lists/relatedRows.js';
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

const unlinking = (link: string, column: string) =>
  statement({
    name: `unlinkContacts ${link}`,
    takes: { from: uuid, now: instant },
    row: taggedContact,
    changes: true,
    text: ({ account, from, now }) => sql`
      update contacts t set ${rawSql(column)} = null, updated_at = ${now}
      where t.account_id = ${account} and t.${rawSql(column)} = ${from} returning ${contactWithTags}`,
  });

/** The links of a contact that another record's end takes off. */
const unlink = { assignedTo: unlinking('assignedTo', 'assigned_to'), companyId: unlinking('companyId', 'company_id') };

/** Takes a link that leads nowhere any more off every contact; each of those that live tells it. */
export async function unlinkContacts(ctx: Context, link: keyof typeof unlink, from: string): Promise<void> {
  const changes = { [link]: { from, to: null } };
  const contacts = await ctx.rows(unlink[link], { from, now: ctx.now() });
  const live = contacts.filter(({ deletedAt }) => !deletedAt);
  await Promise.all(live.map((contact) => emitContact(ctx, 'updated', contact, changes)));
}

/** Contract DELETE /users/{id}: the contacts of a removed user are nobody's. */
export const onUserRemoved = (ctx: Context, { record }: Fact) => unlinkContacts(ctx, 'assignedTo', record.id);
