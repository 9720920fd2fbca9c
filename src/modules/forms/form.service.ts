import { check, invalidField } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf, readerOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { archiving } from '../../kernel/operations/archive.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { formAt } from '../auth/auth.acting.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateFormInput, FormList, UpdateFormInput } from './form.model.js';
import { cleanSettings, wholeFields } from './form.settings.js';
import { formTable } from './form.table.js';

const { shape: row, columns } = formTable;
export type FormRow = RowOf<typeof row>;

/** Contract GET /forms: without the archived ones unless they are asked for. */
export const listForms = (ctx: Context, args: FormList) => listRows<FormRow>(ctx, formTable, args);

/** How a form that strangers fill in is found with its account. */
export const openForms = formAt(columns);
export const readForm = readerOf<FormRow>(row);

/** One form, an archived one too. */
export const getForm = (ctx: Context, id: string) => getRow<FormRow>(ctx, formTable, id);

const formRows = rowsToChange(formTable);

const bySlug = statement({
  name: 'formBySlug',
  takes: { slug: text },
  row: { id: uuid },
  text: ({ account, slug }) => sql`select id from forms where account_id = ${account} and slug = ${slug} and archived_at is null`,
});

/** Throws 400 where another form that is not archived has the slug. */
async function checkSlug(ctx: Context, slug: string, except?: string): Promise<void> {
  // Whoever takes a slug holds it to the end of the unit of work: nobody else finds it free meanwhile.
  await ctx.lockName(`form slug ${slug}`);
  const [other] = await ctx.rows(bySlug, { slug });
  check(!other || other.id === except, () => invalidField('slug', 'taken', 'is taken by another form'));
}

/** The members of a body as they are kept. */
function kept({ fields, settings, ...plain }: UpdateFormInput) {
  return defined({ ...plain, fields: fields && wholeFields(fields), settings: settings && cleanSettings(settings) });
}

const blank = { ...emptyRow(row), fields: [], settings: {}, isActive: true };

/** Contract POST /forms. Strangers find it by its id. */
export async function createForm(ctx: Context, input: CreateFormInput): Promise<FormRow> {
  const given = kept(input);
  if (input.slug) await checkSlug(ctx, input.slug);
  checkTrial(ctx);
  const form: FormRow = { ...ctx.insert('Form', { ...blank, name: input.name, ...given }), submissionCount: 0 };
  ctx.insert('PublicForm', { id: form.id });
  await ctx.emit({ name: 'form.created', record: form });
  return form;
}

/** Contract PATCH /forms/{id}: an archived form that becomes active is in use again. */
export async function updateForm(ctx: Context, id: string, input: UpdateFormInput): Promise<FormRow> {
  const before = await ctx.forChange(formRows, id);
  const given = { ...kept(input), ...(input.isActive && { archivedAt: null }) };
  const after = { ...before, ...given };
  const changes = changesBetween(before, after, Object.keys(given));
  if (isNothing(changes)) return before;
  if (after.slug && (changes.slug || changes.archivedAt)) await checkSlug(ctx, after.slug, before.id);
  const saved = ctx.update('Form', before, given);
  await ctx.emit({ name: 'form.updated', record: saved, changes });
  return saved;
}

/** Contract DELETE /forms/{id}: archived and so inactive; what was submitted stays. */
export const archiveForm = archiving({ type: 'Form', noun: 'form' }, formRows);
