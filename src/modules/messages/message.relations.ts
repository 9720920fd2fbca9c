import { recordsOf } from '../../kernel/tables/answerField.js';
import { relation, relationOver } from '../../kernel/tables/relation.js';
import { companyTable } from '../companies/company.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { templateTable } from '../templates/template.table.js';
import { userTable } from '../users/user.table.js';
import { SendResult } from './message.model.js';
import { messageTable } from './message.table.js';

export const messageRelations = [
  ...relation(messageTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact whom the message is from or to; null when deleted' },
    many: { name: 'messages', description: 'Messages from the contact and to them, newest first by default' },
  }),
  relationOver(
    { table: 'contacts', of: 'company_id', to: 'id', by: 'contact_id', live: 'b.deleted_at is null' },
    companyTable,
    messageTable,
    { name: 'messages', description: 'Messages from the contacts that are linked to the company and to them, newest first by default' },
  ),
  ...relation(messageTable, 'userId', userTable, {
    one: { name: 'sender', description: 'The user who wrote or sent the message' },
  }),
  ...relation(messageTable, 'templateId', templateTable, {
    one: { name: 'template', description: 'The template that the message was made of; null when archived' },
  }),
];

/** What a mail to many answers of each contact leads to what it made. */
export const messageAnswers = recordsOf(SendResult, {
  contact: [contactTable, 'contactId', 'The contact as it is now; null where there is none'],
  message: [messageTable, 'messageId', 'The message that is kept of it, as it is now'],
});
