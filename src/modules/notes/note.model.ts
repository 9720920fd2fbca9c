import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Edit, Entity, Flag, Id, Input, LongText, oneOf, Ref, Stamp } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** What of a note its author may change afterwards. */
@ObjectType()
export class NoteText {
  @LongText(50, 'The text, at most 50 KB', { required: true }) body: string;
  @Flag('Whether it lists before the others; false by default', { optional: true }) isPinned: boolean;
}

/** Contract "Note": one line a field. */
@ObjectType()
export class NoteFields extends NoteText {
  @Ref('The contact that it is about') contactId: string | null;
  @Ref('The deal that it is about') dealId: string | null;
}

@Entity('Something written down', { scope: 'notes' })
export class Note extends NoteFields {
  @Id() id: string;
  @Ref('The user who wrote it') createdBy: string | null;
  @Stamp('When the note was written') createdAt: Date;
  @Stamp('When the note was last changed') updatedAt: Date;
}

@Input('A new note')
export class CreateNoteInput extends New(NoteFields) {}

@Input('Changes to a note; what it is about stays')
export class UpdateNoteInput extends Edit(NoteText) {}

/** Contract GET /notes. */
@Input('Which notes')
export class NoteFilter {
  @Ref('Contact') contactId?: string | null;
  @Ref('Deal') dealId?: string | null;
}

export const NoteSort = oneOf('NoteSort', ['pinned'], 'The order of notes');

@ArgsType()
export class NoteList extends ListArgsOf(NoteFilter, NoteSort, 'pinned notes come first, then the newest') {}

@ObjectType({ description: 'A page of notes' })
export class NoteConnection extends ConnectionOf(Note) {}

/** What is told of notes. */
export const noteEvents = eventsOf('note', 'Note', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    note: typeof noteEvents;
  }
}
