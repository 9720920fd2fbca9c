import { relation, relationByArray, relationOver } from '../../kernel/tables/relation.js';
import { tagOrder, tagTable } from '../tags/tag.table.js';
import { userTable } from '../users/user.table.js';
import { mostTags } from './contact.model.js';
import { contactTable, contactTagsJoin } from './contact.table.js';

export const contactRelations = [
  relationByArray(contactTable, 'tag_ids', contactTagsJoin, tagTable, {
    name: 'tags',
    description: 'The tags of the contact, by name',
    listed: { by: tagOrder('t'), holds: mostTags },
    record: ['id', 'name'],
  }),
  relationOver({ ...contactTagsJoin, of: contactTagsJoin.to, to: contactTagsJoin.of }, tagTable, contactTable, {
    name: 'contacts',
    description: 'Contacts that carry the tag, newest first by default',
  }),
  ...relation(contactTable, 'assignedTo', userTable, {
    one: { name: 'assignedUser', description: 'The user who looks after the contact' },
    many: { name: 'contacts', description: 'Contacts that the user looks after, newest first by default' },
  }),
];
