import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { cleanUp } from './customField.cleanup.js';
import { CustomField, customFieldEvents } from './customField.model.js';
import { CustomFieldResolver } from './customField.resolver.js';
import { getCustomField } from './customField.service.js';
import { cleanupTable, customFieldTable } from './customField.table.js';

export default defineModule({
  name: 'customFields',
  about: 'Fields that a workspace defines for its records',
  events: [recordFeed(customFieldEvents, { record: () => CustomField, find: getCustomField, access: { scope: 'custom-fields' } })],
  tables: [customFieldTable, cleanupTable],
  resolvers: [CustomFieldResolver],
  jobs: { customFieldCleanup: cleanUp },
  routes: [
    list('GET /custom-fields', 'customFields', { as: 'camelPage' }),
    make('POST /custom-fields', 'createCustomField', { also: [402] }),
    read('GET /custom-fields/{id}', 'customField'),
    edit('PATCH /custom-fields/{id}', 'updateCustomField', {
      tells: { 422: { 'valueCount?': 'Int!', 'dependencyCount?': 'Int!', 'dependencies?': '[CustomFieldDependency!]!' } },
    }),
    drop('DELETE /custom-fields/{id}', 'deleteCustomField', {
      inputByQuery: true,
      also: [409],
      tells: { 409: { impact: { valueCount: 'Int!', dependencyCount: 'Int!', dependencies: '[CustomFieldDependency!]!' } } },
    }),
  ],
});
