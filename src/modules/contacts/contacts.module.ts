import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { maxPageSize } from '../../kernel/model/connection.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, assignedUser, drop, edit, gone, list, make, raw, read } from '../../kernel/module/routes.js';
import { exportCsv, importTemplate } from './contact.csv.js';
import { Contact, contactEvents } from './contact.model.js';
import { onUserRemoved } from './contact.reactions.js';
import { contactRelations } from './contact.relations.js';
import { ContactResolver } from './contact.resolver.js';
import { onActivity, onDealChange, onMeetingChange, touchContact } from './contact.score.js';
import { findContact } from './contact.service.js';
import { contactTable } from './contact.table.js';

const access = { scope: 'contacts' };

// What moves a score belongs to later modules; a reaction names the event and imports nobody.
const scored = {
  ...{ 'deal.created': onActivity, 'deal.won': onActivity, 'deal.lost': onActivity },
  ...{ 'form.submitted': onActivity, 'call.created': onActivity, 'appointment.created': onActivity },
};
// What takes points away, or hands them to somebody else.
const rescored = {
  ...{ 'deal.updated': onDealChange, 'deal.deleted': onDealChange, 'call.updated': onMeetingChange },
  ...{ 'appointment.updated': onMeetingChange, 'appointment.deleted': onMeetingChange },
};
// What happens with a person without saying more of their interest.
const touched = { 'note.created': touchContact, 'task.created': touchContact, 'task.completed': touchContact };

/** A file for spreadsheets. */
const csv = {
  access,
  answers: 'text/csv',
  flags: { bom: 'Whether the file begins with a byte order mark, by which Excel knows that it is UTF-8' },
};

/** What `include=` brings along. A contact's `company` is a text of its own, so the linked record comes beside it. */
const related = {
  company: 'companyRecord { id name domain }',
  assignedUser,
  tags: 'tags { id name }',
};

export default defineModule({
  name: 'contacts',
  about: 'People: search, tags, merging, export',
  tables: [contactTable],
  relations: contactRelations,
  resolvers: [ContactResolver],
  filterable: { contact: contactTable },
  references: { contact: { of: contactTable, held: true } },
  events: [
    recordFeed(contactEvents, {
      record: () => Contact,
      find: findContact,
      by: {
        companyId: 'Only contacts that come to, are with or leave this company',
        assignedTo: 'Only contacts that this user looks after, gets or hands on',
      },
      access,
    }),
  ],
  on: {
    ...scored,
    ...rescored,
    ...touched,
    'user.removed': onUserRemoved,
  },
  routes: [
    list('GET /contacts', 'contacts', { as: 'page', include: related }),
    make('POST /contacts', 'createContact', { also: [402, 422], hot: true }),
    list('GET /contacts/duplicates', 'duplicateContacts', { as: 'bare', pagingHeaders: true, pageSize: maxPageSize }),
    read('GET /contacts/smart-views', 'contactSmartViews'),
    raw('GET /contacts/export', exportCsv, { ...csv, filters: 'contacts', summary: 'Contacts as CSV' }),
    raw('GET /contacts/import/template', importTemplate, { ...csv, summary: 'An empty CSV with the columns' }),
    gone('POST /contacts/import', 'Use POST /imports, then POST /imports/{id}/process', { access }),
    act('POST /contacts/merge', 'mergeContacts', { also: [404] }),
    act('POST /contact', 'upsertContact', { as: 'beside', data: 'contact', statusWhen: { created: 201 }, also: [402, 422] }),
    read('GET /contacts/{id}', 'contact', { hot: true }),
    edit('PATCH /contacts/{id}', 'updateContact', { also: [402, 422], hot: true }),
    drop('DELETE /contacts/{id}', 'deleteContact'),
    read('GET /contacts/{id}/score', 'contactScore'),
    act('POST /contacts/{id}/restore', 'restoreContact', { also: [402] }),
    make('POST /contacts/{id}/tags', 'addContactTags'),
    drop('DELETE /contacts/{id}/tags/{tagId}', 'removeContactTag'),
  ],
});
