import type { Loader } from '../../kernel/loaders.js';
import { defineModule } from '../../kernel/module.js';
import { drop, edit, list, make, read } from '../../kernel/rows.js';
import type { Tag } from '../tags/tag.model.js';
import { ContactResolver } from './contact.resolver.js';
import { tagsOfContacts } from './contact.service.js';

declare module '../../kernel/loaders.js' {
  interface Loaders {
    tagsOfContact: Loader<Tag[]>;
  }
}

export default defineModule({
  name: 'contacts',
  resolvers: [ContactResolver],
  loaders: { tagsOfContact: tagsOfContacts },
  events: ['contact.created', 'contact.updated', 'contact.deleted'],
  routes: [
    list('GET /contacts', 'contacts', { as: 'page' }),
    make('POST /contacts', 'createContact', { also: [402] }),
    read('GET /contacts/{id}', 'contact'),
    edit('PATCH /contacts/{id}', 'updateContact'),
    drop('DELETE /contacts/{id}', 'deleteContact'),
    make('POST /contacts/{id}/tags', 'addContactTags'),
    drop('DELETE /contacts/{id}/tags/{tagId}', 'removeContactTag'),
  ],
});
