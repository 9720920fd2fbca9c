import type { Context } from '../../kernel/context/context.js';
import type { RowOf } from '../../kernel/database/kinds.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateNoteInput, NoteList, UpdateNoteInput } from './note.model.js';
import { noteTable } from './note.table.js';

const { shape: row } = noteTable;
export type NoteRow = RowOf<typeof row>;

/** Contract GET /notes: pinned first, then the newest. */
export const listNotes = (ctx: Context, args: NoteList) => listRows<NoteRow>(ctx, noteTable, args);

export const getNote = (ctx: Context, id: string) => getRow<NoteRow>(ctx, noteTable, id);

const noteRows = rowsToChange(noteTable);

/** Contract POST /notes. */
export async function createNote(
  ctx: Context,
  { id, body, isPinned = false, contactId = null, dealId = null }: CreateNoteInput,
): Promise<NoteRow> {
  await checkReferences(ctx, { contactId: 'contact', dealId: 'deal' }, { contactId, dealId });
  checkTrial(ctx);
  const note: NoteRow = ctx.insert('Note', { id, body, isPinned, contactId, dealId, createdBy: ctx.caller.userId });
  await emitNote(ctx, 'created', note);
  return note;
}

/** Contract PATCH /notes/{id}: the text and whether it is pinned. */
export async function updateNote(ctx: Context, id: string, { body, isPinned }: UpdateNoteInput): Promise<NoteRow> {
  const before = await ctx.forChange(noteRows, id);
  const after = { body: body ?? before.body, isPinned: isPinned ?? before.isPinned };
  const changes = changesBetween(before, after, ['body', 'isPinned']);
  if (isNothing(changes)) return before;
  const note = ctx.update('Note', before, after);
  await emitNote(ctx, 'updated', note, changes);
  return note;
}

export async function deleteNote(ctx: Context, id: string) {
  const note = await ctx.forChange(noteRows, id);
  await ctx.db.note.delete({ where: ctx.at(note.id) });
  await emitNote(ctx, 'deleted', note);
  return deleted('Note', note.id);
}

/** Contract POST /contacts/merge: the notes are about the contact that is kept. */
export const onContactDeleted = followsContact({
  of: noteTable,
  tell: (ctx, note, changes) => emitNote(ctx, 'updated', note, changes),
});

/** Tells of a change of a note, of itself and of whom and what it is about. */
function emitNote(ctx: Context, event: 'created' | 'updated' | 'deleted', note: NoteRow, changes?: Changes): Promise<void> {
  const { contactId, dealId } = note;
  return ctx.emit({ name: `note.${event}`, record: note, changes, contactId, dealId });
}
