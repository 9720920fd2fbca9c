import type { Loader } from '../../kernel/loaders.js';
import { defineModule } from '../../kernel/module.js';
import { drop, edit, list, make, read } from '../../kernel/rows.js';
import { TagResolver } from './tag.resolver.js';
import { contactCounts } from './tag.service.js';

declare module '../../kernel/loaders.js' {
  interface Loaders {
    tagCounts: Loader<{ contacts: number }>;
  }
}

export default defineModule({
  name: 'tags',
  resolvers: [TagResolver],
  loaders: { tagCounts: contactCounts },
  routes: [
    list('GET /tags', 'tags', { as: 'flatPage' }),
    make('POST /tags', 'createTag'),
    read('GET /tags/{id}', 'tag'),
    edit('PATCH /tags/{id}', 'updateTag'),
    drop('DELETE /tags/{id}', 'deleteTag'),
    edit('POST /tags/merge', 'mergeTags', { also: [404] }),
  ],
});
