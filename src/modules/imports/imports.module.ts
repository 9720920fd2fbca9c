import type { Loader } from '../../kernel/loaders.js';
import { defineModule } from '../../kernel/module.js';
import { act, list, make, read } from '../../kernel/rows.js';
import { bodyCap, type ImportPreview } from './import.model.js';
import { ImportResolver } from './import.resolver.js';
import { runImport } from './import.run.js';
import { previewsOf } from './import.service.js';

declare module '../../kernel/loaders.js' {
  interface Loaders {
    importPreview: Loader<ImportPreview[]>;
  }
}

const withPreview = { with: 'preview { row fields error }' };

export default defineModule({
  name: 'imports',
  resolvers: [ImportResolver],
  loaders: { importPreview: previewsOf },
  jobs: { contactImport: runImport },
  routes: [
    list('GET /imports', 'imports', { as: 'page' }),
    make('POST /imports', 'createImport', { ...withPreview, bodyCap, also: [402] }),
    read('GET /imports/{id}', 'import', withPreview),
    act('POST /imports/{id}/process', 'processImport', { status: 202, also: [402, 409] }),
    list('GET /imports/{id}/errors', 'importErrors', { as: 'page' }),
  ],
});
