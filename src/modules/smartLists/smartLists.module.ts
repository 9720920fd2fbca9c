import type { Loader } from '../../kernel/context/loaders.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { SmartListResolver } from './smartList.resolver.js';
import { countsOfLists } from './smartList.service.js';
import { smartListTable } from './smartList.table.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    smartListCount: Loader<number>;
  }
}

export default defineModule({
  name: 'smartLists',
  tables: [smartListTable],
  resolvers: [SmartListResolver],
  loaders: { smartListCount: countsOfLists },
  routes: [
    list('GET /smart-lists', 'smartLists', { as: 'page' }),
    make('POST /smart-lists', 'createSmartList', { also: [402] }),
    // Counting costs what the filter costs: for one list, not for a page of them.
    read('GET /smart-lists/{id}', 'smartList', { with: 'count' }),
    edit('PATCH /smart-lists/{id}', 'updateSmartList'),
    drop('DELETE /smart-lists/{id}', 'deleteSmartList'),
  ],
});
