import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Template, templateEvents } from './template.model.js';
import { TemplateResolver } from './template.resolver.js';
import { findTemplate } from './template.service.js';
import { templateTable } from './template.table.js';

export default defineModule({
  name: 'templates',
  about: 'Texts of messages with placeholders',
  tables: [templateTable],
  resolvers: [TemplateResolver],
  references: { template: { of: templateTable } },
  events: [recordFeed(templateEvents, { record: () => Template, find: findTemplate, access: { scope: 'emails' } })],
  routes: [
    list('GET /emails/templates', 'templates', { as: 'camelPage' }),
    make('POST /emails/templates', 'createTemplate', { also: [402] }),
    act('POST /emails/templates/test-send', 'testSendTemplate', { also: [402, 422, 502] }),
    read('GET /emails/templates/{id}', 'template'),
    edit('PATCH /emails/templates/{id}', 'updateTemplate', { also: [422] }),
    drop('DELETE /emails/templates/{id}', 'archiveTemplate', {
      also: [409],
      tells: { 409: { uses: [{ type: 'String!', id: 'ID!', name: 'String!' }] } },
    }),
  ],
});
