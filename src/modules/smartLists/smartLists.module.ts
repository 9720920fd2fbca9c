import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { SmartList, smartListEvents } from './smartList.model.js';
import { smartListRelations } from './smartList.relations.js';
import { SmartListResolver } from './smartList.resolver.js';
import { getSmartList } from './smartList.service.js';
import { smartListTable } from './smartList.table.js';

export default defineModule({
  name: 'smartLists',
  about: 'Saved lists of contacts by conditions',
  tables: [smartListTable],
  relations: smartListRelations,
  // A key sees lists of the records in its scopes alone, which events are not told apart by: they are for people.
  events: [recordFeed(smartListEvents, { record: () => SmartList, find: getSmartList, access: { session: true }, byPerson: true })],
  resolvers: [SmartListResolver],
  routes: [
    list('GET /smart-lists', 'smartLists', { as: 'page' }),
    make('POST /smart-lists', 'createSmartList', { also: [402] }),
    // Counting costs what the filter costs: for one list, not for a page of them.
    read('GET /smart-lists/{id}', 'smartList', { with: 'count' }),
    edit('PATCH /smart-lists/{id}', 'updateSmartList'),
    drop('DELETE /smart-lists/{id}', 'deleteSmartList'),
  ],
});
