import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { CreateNoteInput, Note, NoteConnection, NoteList, UpdateNoteInput } from './note.model.js';
import * as notes from './note.service.js';
import { noteTable } from './note.table.js';

@Resolver(() => Note)
@Access({ scope: 'notes' })
export class NoteResolver {
  @Query(() => NoteConnection, { description: 'Notes, pinned ones first, then the newest' })
  @Reads(noteTable)
  notes(@Ctx() ctx: Context, @Listing() args: NoteList) {
    return notes.listNotes(ctx, args);
  }

  @Query(() => Note, { nullable: true, description: 'One note' })
  @Reads(noteTable)
  note(@Ctx() ctx: Context, @IdArg() id: string) {
    return notes.getNote(ctx, id);
  }

  @Mutation(() => Note, { description: 'Writes a note' })
  createNote(@Ctx() ctx: Context, @In() input: CreateNoteInput) {
    return notes.createNote(ctx, input);
  }

  @Mutation(() => Note, { description: 'Changes the text of a note, or pins it' })
  updateNote(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateNoteInput) {
    return notes.updateNote(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a note' })
  deleteNote(@Ctx() ctx: Context, @IdArg() id: string) {
    return notes.deleteNote(ctx, id);
  }
}
