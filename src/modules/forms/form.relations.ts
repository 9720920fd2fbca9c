import { recordsOf } from '../../kernel/tables/answerField.js';
import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { formTable, submissionTable } from './form.table.js';
import { Submitted } from './submission.model.js';

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

/** What submitting a form answers leads to what it made, where that is the caller's to read. */
export const formAnswers = recordsOf(Submitted, {
  contact: [contactTable, 'contactId', 'The contact that it made or matched, as it is now; null where that is of another workspace'],
  submission: [submissionTable, 'submissionId', 'What is kept of it; null where that is of another workspace'],
});
