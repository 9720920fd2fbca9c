import { recordsOf } from '../../kernel/tables/answerField.js';
import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { messageTable } from '../messages/message.table.js';
import { templateTable } from '../templates/template.table.js';
import { userTable } from '../users/user.table.js';
import { EnrollDetail, EnrollResult, UnenrollDetail, UnenrollResult } from './enrollment.model.js';
import { enrollmentTable } from './enrollment.table.js';
import { sequenceStepTable, sequenceTable } from './sequence.table.js';

export const sequenceRelations = [
  ...relation(sequenceStepTable, 'sequenceId', sequenceTable, {
    many: { name: 'steps', description: 'Its e-mails in their order', listed: { by: 't.step_order' } },
  }),
  ...relation(sequenceStepTable, 'templateId', templateTable, {
    one: { name: 'template', description: 'The template that it sends; null where it has none, or it is archived' },
  }),
  ...relation(sequenceTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made the sequence' } }),
  ...relation(enrollmentTable, 'sequenceId', sequenceTable, {
    one: { name: 'sequence', description: 'The sequence', required: true },
    many: { name: 'enrollments', description: 'Enrollments of contacts in it, newest first by default' },
  }),
  ...relation(enrollmentTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact; null when deleted', record: ['id', 'firstName', 'lastName', 'email'] },
    many: { name: 'enrollments', description: 'Enrollments of the contact in sequences, newest first by default' },
  }),
  ...relation(enrollmentTable, 'enrolledBy', userTable, {
    one: { name: 'enroller', description: 'The user who enrolled the contact' },
  }),
  ...relation(messageTable, 'enrollmentId', enrollmentTable, {
    one: { name: 'enrollment', description: 'The enrollment in a sequence that the message is a step of' },
    many: { name: 'messages', description: 'The e-mails of its steps, newest first by default' },
  }),
];

const contact = [contactTable, 'contactId', 'The contact as it is now; null where there is none'] as const;
const sequence = [sequenceTable, 'sequenceId', 'The sequence as it is now'] as const;
const enrollment = [enrollmentTable, 'enrollmentId', 'The enrollment as it is now'] as const;

/** What enrolling and unenrolling answer leads to what they changed. */
export const enrollmentAnswers = [
  ...recordsOf(EnrollResult, { sequence }),
  ...recordsOf(EnrollDetail, { contact, enrollment }),
  ...recordsOf(UnenrollResult, { sequence }),
  ...recordsOf(UnenrollDetail, { contact, enrollment }),
];
