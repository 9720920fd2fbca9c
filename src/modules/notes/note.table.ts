import { sql } from '../../kernel/database/sql.js';
import { modelRow, table } from '../../kernel/tables/index.js';
import { Note, NoteConnection, NoteList } from './note.model.js';

export const noteTable = table({
  row: modelRow('Note', Note),
  list: NoteList,
  page: NoteConnection,
  sorts: {
    pinned: {
      by: 't.created_at',
      type: 'timestamptz',
      lead: { by: 't.is_pinned', type: 'boolean' },
      description: 'By whether they are pinned, then by when they were written',
    },
  },
  byDefault: ['pinned', 'desc'],
  conditions: {
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    dealId: (id) => sql`t.deal_id = ${id}::uuid`,
  },
});
