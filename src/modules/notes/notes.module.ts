import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Note, noteEvents } from './note.model.js';
import { noteRelations } from './note.relations.js';
import { NoteResolver } from './note.resolver.js';
import { getNote, onContactDeleted } from './note.service.js';
import { noteTable } from './note.table.js';

/** Contract "Limits": the body of a request that writes a note. */
const bodyCap = 50 * 1024;

export default defineModule({
  name: 'notes',
  about: 'Notes on contacts, companies and deals',
  tables: [noteTable],
  relations: noteRelations,
  resolvers: [NoteResolver],
  events: [
    recordFeed(noteEvents, {
      record: () => Note,
      find: getNote,
      by: { contactId: 'Only notes about this contact', dealId: 'Only notes about this deal' },
      access: { scope: 'notes' },
    }),
  ],
  on: { 'contact.deleted': onContactDeleted },
  routes: [
    list('GET /notes', 'notes', { as: 'page' }),
    make('POST /notes', 'createNote', { bodyCap, also: [402] }),
    read('GET /notes/{id}', 'note'),
    edit('PATCH /notes/{id}', 'updateNote', { bodyCap }),
    drop('DELETE /notes/{id}', 'deleteNote'),
  ],
});
