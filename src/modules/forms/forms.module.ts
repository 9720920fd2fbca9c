import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Form, formEvents } from './form.model.js';
import { showForm, takeForm } from './form.page.js';
import { formAnswers, formRelations } from './form.relations.js';
import { FormResolver } from './form.resolver.js';
import { getForm } from './form.service.js';
import { formTable, submissionTable } from './form.table.js';
import { Submission, submissionEvents } from './submission.model.js';
import { getSubmission, onContactDeleted } from './submission.service.js';

const access = { scope: 'forms' };

/** What a submission may take: the data, and where it came from. */
const bodyCap = 128 * 1024;

export default defineModule({
  name: 'forms',
  about: 'Forms on web pages, and what was submitted',
  tables: [formTable, submissionTable],
  relations: formRelations,
  answers: formAnswers,
  resolvers: [FormResolver],
  events: [
    recordFeed(formEvents, { record: () => Form, find: getForm, access }),
    recordFeed(submissionEvents, {
      record: () => Submission,
      find: getSubmission,
      by: { formId: 'Only what is filled in on this form', contactId: 'Only what this contact fills in' },
      access,
    }),
  ],
  callbacks: [
    { method: 'GET', path: '/f/{id}', page: true, handler: showForm },
    { method: 'POST', path: '/f/{id}', page: true, buckets: ['form'], bodyCap, handler: takeForm },
  ],
  on: { 'contact.deleted': onContactDeleted },
  routes: [
    list('GET /forms', 'forms', { as: 'page' }),
    make('POST /forms', 'createForm', { also: [402] }),
    read('GET /forms/{id}', 'form'),
    edit('PATCH /forms/{id}', 'updateForm'),
    drop('DELETE /forms/{id}', 'archiveForm'),
    list('GET /forms/{id}/submissions', 'formSubmissions', { as: 'page' }),
    make('POST /forms/{id}/submit', 'submitForm', { open: true, hot: true, bodyCap }),
  ],
});
