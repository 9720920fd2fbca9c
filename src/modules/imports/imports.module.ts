import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, list, make, read } from '../../kernel/module/routes.js';
import { bodyCap, Import, importEvents } from './import.model.js';
import { onCustomFieldUpdated } from './import.reactions.js';
import { importRelations } from './import.relations.js';
import { ImportResolver } from './import.resolver.js';
import { runImport } from './import.run.js';
import { getImport } from './import.service.js';
import { oldRows, resumeSweep, unfinishedSweep } from './import.sweep.js';
import { importErrorTable, importTable } from './import.table.js';

const withPreview = { with: 'preview { row fields error }' };

export default defineModule({
  name: 'imports',
  about: 'Contacts from files: preview, mapping, progress, faults',
  events: [recordFeed(importEvents, { record: () => Import, find: getImport, access: { scope: 'contacts' } })],
  tables: [importTable, importErrorTable],
  relations: importRelations,
  resolvers: [ImportResolver],
  on: { 'custom_field.updated': onCustomFieldUpdated },
  jobs: { contactImport: runImport },
  sweeps: { interruptedImports: resumeSweep, unfinishedImports: unfinishedSweep, oldImportRows: oldRows },
  routes: [
    list('GET /imports', 'imports', { as: 'page' }),
    make('POST /imports', 'createImport', { ...withPreview, bodyCap, also: [402] }),
    read('GET /imports/{id}', 'import', withPreview),
    act('POST /imports/{id}/process', 'processImport', { status: 202, also: [402, 409] }),
    list('GET /imports/{id}/errors', 'importErrors', { as: 'page' }),
  ],
});
