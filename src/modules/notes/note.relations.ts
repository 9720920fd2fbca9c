import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { dealTable } from '../deals/deal.table.js';
import { userTable } from '../users/user.table.js';
import { noteTable } from './note.table.js';

export const noteRelations = [
  ...relation(noteTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact that the note is about' },
    many: { name: 'notes', description: 'Notes about the contact, pinned ones first, then the newest' },
  }),
  ...relation(noteTable, 'dealId', dealTable, {
    one: { name: 'deal', description: 'The deal that the note is about' },
    many: { name: 'notes', description: 'Notes about the deal, pinned ones first, then the newest' },
  }),
  ...relation(noteTable, 'createdBy', userTable, {
    one: { name: 'author', description: 'The user who wrote the note' },
    many: { name: 'notes', description: 'Notes that the user wrote, pinned ones first, then the newest' },
  }),
];
