import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { companyTable } from './company.table.js';

const byName = { sort: 'name', order: 'asc' } as const;

export const companyRelations = [
  ...relation(contactTable, 'companyId', companyTable, {
    one: { name: 'companyRecord', description: 'The company record that the contact is linked to' },
    many: { name: 'contacts', description: 'The contacts that are linked to the company, newest first by default' },
  }),
  ...relation(companyTable, 'ownerId', userTable, {
    one: { name: 'owner', description: 'The user who looks after the company' },
    many: { name: 'companies', description: 'The companies that the user looks after, by name by default', ...byName },
  }),
  ...relation(companyTable, 'parentCompanyId', companyTable, {
    one: { name: 'parentCompany', description: 'The company that this one belongs to' },
    many: { name: 'subsidiaries', description: 'The companies that belong to this one, by name by default', ...byName },
  }),
];
