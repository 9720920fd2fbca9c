import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { runTable } from './run.table.js';
import { workflowTable } from './workflow.table.js';

export const workflowRelations = [
  ...relation(workflowTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made the workflow' } }),
  ...relation(runTable, 'workflowId', workflowTable, {
    one: { name: 'workflow', description: 'The workflow; null when deleted' },
    many: { name: 'runs', description: 'Its runs, newest first by default' },
  }),
  ...relation(runTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact that the run is about; null when deleted' },
    many: { name: 'workflowRuns', description: 'Runs of workflows about the contact, newest first by default' },
  }),
];
