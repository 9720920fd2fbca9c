import type { Context } from '../../kernel/context/context.js';
import type { Changes, DomainEvent } from '../../kernel/events/changes.js';
import { relinks } from '../../kernel/operations/relink.js';
import { type ContactRow, emitContact } from './contact.service.js';
import { taggedContacts } from './contact.table.js';

const linked = {
  of: taggedContacts,
  tell: (ctx: Context, contact: ContactRow, changes: Changes) => emitContact(ctx, 'updated', contact, changes),
};

/** Takes contacts off a company that is gone. */
export const leaveCompany = relinks(linked, 'companyId');
const leaveUser = relinks(linked, 'assignedTo');

/** Contract DELETE /users/{id}: the contacts of a removed user are assigned to nobody. */
export const onUserRemoved = (ctx: Context, { record }: DomainEvent) => leaveUser(ctx, record.id);
