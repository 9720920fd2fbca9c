import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { dealTable } from '../deals/deal.table.js';
import { userTable } from '../users/user.table.js';
import { taskTable } from './task.table.js';

export const taskRelations = [
  ...relation(taskTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact that the task is about' },
    many: { name: 'tasks', description: 'Tasks about the contact, newest first by default' },
  }),
  ...relation(taskTable, 'dealId', dealTable, {
    one: { name: 'deal', description: 'The deal that the task is about' },
    many: { name: 'tasks', description: 'Tasks about the deal, newest first by default' },
  }),
  ...relation(taskTable, 'assignedTo', userTable, {
    one: { name: 'assignedUser', description: 'The user who is to do it' },
    many: { name: 'tasks', description: 'Tasks that the user is to do, newest first by default' },
  }),
  ...relation(taskTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made the task' } }),
];
