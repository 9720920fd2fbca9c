import { AppError, check, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf } from '../../kernel/database/kinds.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { type Use, usesOf } from '../../kernel/operations/uses.js';
import { checkTrial } from '../plans/plan.limits.js';
import { mergeFieldsOf } from './template.mergeFields.js';
import { type CreateTemplateInput, TemplateFields, type TemplateList, type UpdateTemplateInput } from './template.model.js';
import { checkMayFill } from './template.rights.js';
import { templateTable } from './template.table.js';

const { shape: row } = templateTable;
export type TemplateRow = RowOf<typeof row>;

/** Contract GET /emails/templates: those that are not archived. */
export const listTemplates = (ctx: Context, args: TemplateList) => listRows<TemplateRow>(ctx, templateTable, args);

/** One template, or null. */
export const findTemplate = (ctx: Context, id: string) => findRow<TemplateRow>(ctx, templateTable, id);

/** Contract GET /emails/templates/{id}: one template, or 404. */
export const getTemplate = (ctx: Context, id: string) => getRow<TemplateRow>(ctx, templateTable, id);

const templateRows = rowsToChange(templateTable);

const blank = { ...emptyRow(row), isActive: true, mergeFields: [] as string[] };

const usedBy = ({ subject, body, bodyHtml }: Pick<TemplateRow, 'subject' | 'body' | 'bodyHtml'>) => mergeFieldsOf(subject, body, bodyHtml);

/** Contract POST /emails/templates. 403 for merge fields that the caller must not read. */
export async function createTemplate(ctx: Context, input: CreateTemplateInput): Promise<TemplateRow> {
  checkMayFill(ctx, { subject: input.subject, body: input.body, bodyHtml: input.bodyHtml });
  checkTrial(ctx);
  const given = { ...blank, ...defined(input) };
  const template: TemplateRow = ctx.insert('Template', { ...given, mergeFields: usedBy(given) });
  await ctx.emit({ name: 'template.created', record: template });
  return template;
}

const tracked = [...namesOf(TemplateFields), 'mergeFields'];

/** What a template says from now on and did not say before. */
const newTexts = (before: TemplateRow, { subject, body, bodyHtml }: UpdateTemplateInput) =>
  Object.fromEntries(
    Object.entries({ subject, body, bodyHtml }).filter(([name, text]) => text !== before[name as 'subject' | 'body' | 'bodyHtml']),
  );

/**
 * Contract PATCH /emails/templates/{id}. 403 for new texts with merge fields that the caller must not read; 422 where it would no longer be
 * one of e-mails while an active sequence or workflow mails it.
 */
export async function updateTemplate(ctx: Context, id: string, input: UpdateTemplateInput): Promise<TemplateRow> {
  // Whoever makes use of it meanwhile is found, or finds another channel.
  if (input.channel) ctx.lockRows();
  const before = await ctx.forChange(templateRows, id);
  checkMayFill(ctx, newTexts(before, input));
  const isLost = input.channel && input.channel !== 'email' && before.channel === 'email';
  const uses = isLost ? await usesOf(ctx, 'template', before.id) : [];
  check(uses.length === 0, () => unprocessable('channel', 'conflicting', `cannot change: the template is mailed by ${namesOfUses(uses)}`));
  const after = { ...before, ...defined(input) };
  const given = { ...defined(input), mergeFields: usedBy(after) };
  const changes = changesBetween(before, { ...before, ...given }, tracked);
  if (isNothing(changes)) return before;
  const template = ctx.update('Template', before, given);
  await ctx.emit({ name: 'template.updated', record: template, changes });
  return template;
}

/** Contract DELETE /emails/templates/{id}: archived; 409 with its uses while an active sequence or workflow needs it. */
export async function archiveTemplate(ctx: Context, id: string) {
  // Whoever makes use of it meanwhile is found, or finds it archived.
  ctx.lockRows();
  const template = await ctx.forChange(templateRows, id);
  const uses = await usesOf(ctx, 'template', template.id);
  check(uses.length === 0, () => isUsed(uses));
  ctx.update('Template', template, { archivedAt: ctx.now() });
  await ctx.emit({ name: 'template.deleted', record: template });
  return { ...deleted('Template', template.id), archived: true };
}

const namesOfUses = (uses: Use[]) => uses.map(({ name }) => name).join(', ');
const isUsed = (uses: Use[]) => new AppError('conflict', `The template is used by ${namesOfUses(uses)}`, { more: { uses } });
