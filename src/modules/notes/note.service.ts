import { found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { emptySql, selectList, sql, statement } from '../../kernel/database/sql.js';
import { type Changes, changesBetween, type Fact } from '../../kernel/events/facts.js';
import { type Conditions, conditionsOf } from '../../kernel/lists/filterSql.js';
import { type ListSpec, listRows } from '../../kernel/lists/list.js';
import { relatedRows } from '../../kernel/lists/relatedRows.js';
import { deleted } from '../../kernel/model/connection.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateNoteInput, Note, NoteFilter, NoteList, NoteSort, UpdateNoteInput } from './note.model.js';

const columns = selectList('Note', 't');

const listing: ListSpec<keyof typeof NoteSort> = {
  table: 'notes',
  columns,
  live: sql`true`,
  sorts: { pinned: { by: 't.created_at', type: 'timestamptz', lead: { by: 't.is_pinned', type: 'boolean' } } },
  byDefault: ['pinned', 'desc'],
};

const conditions: Conditions<NoteFilter> = {
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  dealId: (id) => sql`t.deal_id = ${id}::uuid`,
};

/** Contract GET /notes: pinned first, then the newest. */
export const listNotes = (ctx: Context, args: NoteList) =>
  listRows<Note, keyof typeof NoteSort>(ctx, listing, args, conditionsOf(conditions, ctx, args.filter));

const ofParent = (parent: string) =>
  relatedRows<Note>({ table: 'notes', columns, parent, order: 't.is_pinned desc, t.created_at desc, t.id desc' });

/** The notes about contacts, pinned first, then the newest. */
export const notesOfContacts = ofParent('contact_id');
/** The notes about deals, in the same order. */
export const notesOfDeals = ofParent('deal_id');
/** The notes that users wrote, in the same order. */
export const notesOfUsers = ofParent('created_by');

const byId = statement<Note, [id: string, lock: boolean]>(
  (account, id, lock) => sql`
    select ${columns} from notes t where t.account_id = ${account}::uuid and t.id = ${id}::uuid ${lock ? sql`for update` : emptySql}`,
);

export async function getNote(ctx: Context, id: string): Promise<Note> {
  const [note] = await ctx.query(byId, validId(id, 'Note'), false);
  return found(note, 'Note');
}

async function lockNote(ctx: Context, id: string): Promise<Note> {
  const [note] = await ctx.query(byId, validId(id, 'Note'), true);
  return found(note, 'Note');
}

/** Contract POST /notes. */
export async function createNote(
  ctx: Context,
  { body, isPinned = false, contactId = null, dealId = null }: CreateNoteInput,
): Promise<Note> {
  await checkReferences(ctx, { contactId: 'contact', dealId: 'deal' }, { contactId, dealId });
  checkTrial(ctx);
  const note: Note = ctx.insert('Note', { body, isPinned, contactId, dealId, createdBy: ctx.caller.userId });
  await ctx.emit(factOf('note.created', note));
  return note;
}

/** Contract PATCH /notes/{id}: the text and whether it is pinned. */
export async function updateNote(ctx: Context, id: string, { body, isPinned }: UpdateNoteInput): Promise<Note> {
  const before = await lockNote(ctx, id);
  const after = { body: body ?? before.body, isPinned: isPinned ?? before.isPinned };
  const changes = changesBetween(before, after, ['body', 'isPinned']);
  if (Object.keys(changes).length === 0) return before;
  const note = ctx.update('Note', before, after);
  await ctx.log(factOf('note.updated', note, changes));
  return note;
}

export async function deleteNote(ctx: Context, id: string) {
  const note = await lockNote(ctx, id);
  await ctx.db.note.delete({ where: ctx.at(note.id) });
  await ctx.log(factOf('note.deleted', note));
  return deleted(note.id);
}

const factOf = (name: string, note: Note, changes?: Changes): Fact => ({
  ...{ name, type: 'Note', record: note, changes },
  ...{ contactId: note.contactId, dealId: note.dealId },
});
