import { relation } from '../../kernel/tables/relation.js';
import { companyTable } from '../companies/company.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { dealTable } from '../deals/deal.table.js';
import { userTable } from '../users/user.table.js';
import { activityTable } from './activity.table.js';

export const activityRelations = [
  ...relation(activityTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact that it happened with' },
    many: { name: 'activities', description: 'What happened with the contact, newest first' },
  }),
  ...relation(activityTable, 'dealId', dealTable, {
    one: { name: 'deal', description: 'The deal that it belongs to' },
    many: { name: 'activities', description: 'What happened with the deal, newest first' },
  }),
  ...relation(activityTable, 'entityId', companyTable, {
    many: { name: 'activities', description: 'Changes of the company, newest first', isLoose: true },
  }),
  ...relation(activityTable, 'userId', userTable, { one: { name: 'user', description: 'Who did it' } }),
];
