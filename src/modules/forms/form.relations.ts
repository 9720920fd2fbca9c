import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { formTable, submissionTable } from './form.table.js';

export const formRelations = [
  ...relation(submissionTable, 'formId', formTable, {
    one: { name: 'form', description: 'The form that was filled in' },
    many: { name: 'submissions', description: 'What was filled in, the newest first' },
  }),
  ...relation(submissionTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact that it made or matched' },
    many: { name: 'submissions', description: 'The forms that the contact filled in, the newest first' },
  }),
];
