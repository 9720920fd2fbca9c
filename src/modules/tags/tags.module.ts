import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Tag, tagEvents } from './tag.model.js';
import { TagResolver } from './tag.resolver.js';
import { getTag } from './tag.service.js';
import { tagTable } from './tag.table.js';

export default defineModule({
  name: 'tags',
  about: 'Labels on contacts',
  events: [recordFeed(tagEvents, { record: () => Tag, find: getTag, access: { scope: 'tags' } })],
  tables: [tagTable],
  resolvers: [TagResolver],
  routes: [
    list('GET /tags', 'tags', { as: 'flatPage' }),
    make('POST /tags', 'createTag', { also: [402] }),
    read('GET /tags/{id}', 'tag'),
    edit('PATCH /tags/{id}', 'updateTag'),
    drop('DELETE /tags/{id}', 'deleteTag'),
    edit('POST /tags/merge', 'mergeTags', { also: [404] }),
  ],
});
