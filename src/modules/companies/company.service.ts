import { check, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, type DomainEvent, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { changedReferences, checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { relinks } from '../../kernel/operations/relink.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { leaveCompany } from '../contacts/contact.reactions.js';
import { checkCustomFields } from '../customFields/customField.values.js';
import { checkTrial } from '../plans/plan.limits.js';
import { CompanyFields, type CompanyList, type CreateCompanyInput, type UpdateCompanyInput } from './company.model.js';
import { companyRow, companyTable, countedCompanies } from './company.table.js';

/** A company as it is kept, with its count where a statement brought it along. */
export type CompanyRow = RowOf<typeof companyRow.shape> & { contactCount?: number };

/** Contract GET /companies: a page in one statement, counts and exact total included where they are asked for. */
export const listCompanies = (ctx: Context, args: CompanyList) => listRows<CompanyRow>(ctx, companyTable, args);

/** One company. */
export const getCompany = (ctx: Context, id: string) => getRow<CompanyRow>(ctx, companyTable, id, ['contactCount']);

const companyRows = rowsToChange(countedCompanies);
const companyRowsWithDeleted = rowsToChange(countedCompanies, { withDeleted: true });

const fieldNames = namesOf(CompanyFields);

const blank = { ...emptyRow(companyRow.shape), customFields: {} };

type Links = Pick<UpdateCompanyInput, 'ownerId' | 'parentCompanyId'>;

/** What companies are linked to. */
export const links: ReferenceKinds<'ownerId' | 'parentCompanyId'> = { ownerId: 'user', parentCompanyId: 'company' };

const above = statement({
  name: 'companiesAbove',
  takes: { company: uuid },
  row: { id: uuid },
  text: ({ account, company }) => sql`
    with recursive up as (
      select id, parent_company_id from companies where account_id = ${account} and id = ${company}
      union select c.id, c.parent_company_id from companies c join up on c.account_id = ${account} and c.id = up.parent_company_id)
    select id from up`,
});

/** No company is above itself (422). */
async function checkAbove(ctx: Context, { parentCompanyId }: Links, id: string): Promise<void> {
  if (!parentCompanyId) return;
  const ancestors = await ctx.rows(above, { company: parentCompanyId });
  check(!ancestors.some((ancestor) => ancestor.id === id), () =>
    unprocessable('parentCompanyId', 'conflicting', 'must not be the company itself or one below it'),
  );
}

/** Contract POST /companies. An account whose trial has expired makes nothing new (402). */
export async function createCompany(ctx: Context, input: CreateCompanyInput): Promise<CompanyRow> {
  await checkReferences(ctx, links, input);
  const merged = await checkCustomFields(ctx, 'company', input.customFields, null);
  checkTrial(ctx);
  const values = { ...blank, ...defined(input), customFields: merged() ?? {} };
  const company = { ...ctx.insert('Company', values), contactCount: 0 };
  await ctx.emit({ name: 'company.created', record: company });
  return company;
}

/** Contract PATCH /companies/{id}: absent keeps, null clears; custom fields merge by key. */
export async function updateCompany(ctx: Context, id: string, input: UpdateCompanyInput): Promise<CompanyRow> {
  // One change of what is above what at a time: each of two could be right, and both together a circle.
  if (input.parentCompanyId) await ctx.lockName('companies above');
  const before = await ctx.forChange(companyRows, id);
  const merged = await checkCustomFields(ctx, 'company', input.customFields, before.customFields ?? {});
  const relinked = changedReferences(links, before, input);
  await checkReferences(ctx, links, relinked);
  const given = defined({ ...input, customFields: merged() });
  const changes = changesBetween(before, { ...before, ...given }, fieldNames);
  if (isNothing(changes)) return before;
  await checkAbove(ctx, relinked, before.id);
  const saved = ctx.update('Company', before, given);
  await ctx.emit({ name: 'company.updated', record: saved, changes });
  return saved;
}

const linked = {
  of: countedCompanies,
  tell: (ctx: Context, record: CompanyRow, changes: Changes) => ctx.emit({ name: 'company.updated', record, changes }),
};
const leaveParent = relinks(linked, 'parentCompanyId');
const leaveOwner = relinks(linked, 'ownerId');

/** Contract DELETE /users/{id}: the companies of a removed user have no owner any more. */
export const onUserRemoved = (ctx: Context, { record }: DomainEvent) => leaveOwner(ctx, record.id);

/**
 * Contract DELETE /companies/{id}: soft. Its contacts and the companies below it stay without the link; its deals keep
 * theirs, so that what was sold to whom is not lost.
 */
export async function deleteCompany(ctx: Context, id: string) {
  const company = await ctx.forChange(companyRows, id);
  ctx.update('Company', company, { deletedAt: ctx.now() });
  await leaveCompany(ctx, company.id);
  await leaveParent(ctx, company.id);
  await ctx.emit({ name: 'company.deleted', record: company });
  return deleted('Company', company.id);
}

/** POST /companies/{id}/restore: a deleted company comes back as it was, without the links that its deletion removed. */
export async function restoreCompany(ctx: Context, id: string): Promise<CompanyRow> {
  const company = await ctx.forChange(companyRowsWithDeleted, id);
  const { deletedAt } = company;
  if (!deletedAt) return company;
  checkTrial(ctx);
  const restored = ctx.update('Company', company, { deletedAt: null });
  await ctx.emit({ name: 'company.updated', record: restored, changes: { deletedAt: { from: deletedAt.toISOString(), to: null } } });
  return restored;
}
