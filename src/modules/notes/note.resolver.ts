import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { Deleted, IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Contact } from '../contacts/contact.model.js';
import { Deal } from '../deals/deal.model.js';
import { User } from '../users/user.model.js';
import { CreateNoteInput, Note, NoteConnection, NoteList, UpdateNoteInput } from './note.model.js';
import * as notes from './note.service.js';

@Resolver(() => Note)
@Access({ scope: 'notes' })
export class NoteResolver {
  @Query(() => NoteConnection, { description: 'Notes, pinned ones first, then the newest' })
  notes(@Ctx() ctx: Context, @Listing() args: NoteList) {
    return notes.listNotes(ctx, args);
  }

  @Query(() => Note, { nullable: true, description: 'One note' })
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

  @FieldResolver(() => Contact, { nullable: true, description: 'The contact that the note is about' })
  contact(@Ctx() ctx: Context, @Root() note: Note) {
    return ctx.load.contact.maybe(note.contactId);
  }

  @FieldResolver(() => Deal, { nullable: true, description: 'The deal that the note is about' })
  deal(@Ctx() ctx: Context, @Root() note: Note) {
    return ctx.load.deal.maybe(note.dealId);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who wrote the note' })
  author(@Ctx() ctx: Context, @Root() note: Note) {
    return ctx.load.user.maybe(note.createdBy);
  }
}

@Resolver(() => Contact)
export class ContactNotesResolver {
  @FieldResolver(() => [Note], { description: 'Notes about the contact, pinned ones first, then the newest' })
  notes(@Ctx() ctx: Context, @Root() contact: Contact, @First() first: number) {
    return ctx.load.notesOfContact.load(firstOf(contact.id, first));
  }
}

@Resolver(() => Deal)
export class DealNotesResolver {
  @FieldResolver(() => [Note], { description: 'Notes about the deal, pinned ones first, then the newest' })
  notes(@Ctx() ctx: Context, @Root() deal: Deal, @First() first: number) {
    return ctx.load.notesOfDeal.load(firstOf(deal.id, first));
  }
}

@Resolver(() => User)
export class UserNotesResolver {
  @FieldResolver(() => [Note], { description: 'Notes that the user wrote, pinned ones first, then the newest' })
  notes(@Ctx() ctx: Context, @Root() user: User, @First() first: number) {
    return ctx.load.notesOfUser.load(firstOf(user.id, first));
  }
}
