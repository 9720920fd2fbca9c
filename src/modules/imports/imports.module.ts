import type { Loader } from '../../kernel/context/loaders.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, list, make, read } from '../../kernel/module/routes.js';
import type { ContactRow } from '../contacts/contact.service.js';
import { bodyCap, Import, type ImportPreview, importEvents } from './import.model.js';
import { ContactImportResolver, ImportResolver } from './import.resolver.js';
import { runImport } from './import.run.js';
import { contactsOfImports, getImport, importsById, previewsOf } from './import.service.js';
import { importErrorTable, importTable } from './import.table.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    import: Loader<Import | null>;
    importPreview: Loader<ImportPreview[]>;
    contactsOfImport: Loader<ContactRow[]>;
  }
}

const withPreview = { with: 'preview { row fields error }' };

export default defineModule({
  name: 'imports',
  events: [recordFeed(importEvents, { record: () => Import, find: getImport, access: { scope: 'contacts' } })],
  tables: [importTable, importErrorTable],
  resolvers: [ImportResolver, ContactImportResolver],
  loaders: { import: importsById, importPreview: previewsOf, contactsOfImport: contactsOfImports },
  jobs: { contactImport: runImport },
  routes: [
    list('GET /imports', 'imports', { as: 'page' }),
    make('POST /imports', 'createImport', { ...withPreview, bodyCap, also: [402] }),
    read('GET /imports/{id}', 'import', withPreview),
    act('POST /imports/{id}/process', 'processImport', { status: 202, also: [402, 409] }),
    list('GET /imports/{id}/errors', 'importErrors', { as: 'page' }),
  ],
});
