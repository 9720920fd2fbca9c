import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { importErrorTable, importTable } from './import.table.js';

export const importRelations = [
  ...relation(importTable, 'createdBy', userTable, { one: { name: 'author', description: 'Who made it' } }),
  ...relation(importErrorTable, 'importId', importTable, {
    one: { name: 'import', description: 'The import whose row it is', required: true },
    many: { name: 'errors', description: 'The rows that could not be imported, in their order by default', sort: 'row' },
  }),
  ...relation(contactTable, 'importId', importTable, {
    one: { name: 'import', description: 'The import that made the contact' },
    many: {
      name: 'contacts',
      description: 'The contacts that it made, newest first by default; those that it changed are not among them',
    },
  }),
];
