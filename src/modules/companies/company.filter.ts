import type { Context } from '../../kernel/context/context.js';
import { instant, integer, nullable } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { type Conditions, conditionsOf } from '../../kernel/lists/filterSql.js';
import { byText, byTime, type ListSpec } from '../../kernel/lists/list.js';
import { modelRow } from '../../kernel/lists/modelRow.js';
import { wordPattern } from '../../kernel/lists/searchPatterns.js';
import { Company, type CompanyFilter, type CompanySort } from './company.model.js';

/** A company as it is kept. */
export const companyRow = modelRow('Company', Company, { deletedAt: nullable(instant) });

/** The columns of a company, over the alias `t`. */
export const companyColumns = companyRow.columns();

/** A company with how many live contacts are linked to it. */
export const countedCompany = { ...companyRow.shape, contactCount: integer };

/** The same with how many live contacts are linked to it. */
export const companyWithCount = sql`${companyColumns}, (select count(*)::int from contacts c
  where c.account_id = t.account_id and c.company_id = t.id and c.deleted_at is null) as "contactCount"`;

export const companyListing: ListSpec<keyof typeof CompanySort> = {
  table: 'companies',
  columns: companyColumns,
  row: companyRow.shape,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
};

const openDeals = sql`exists (select 1 from deals d
  where d.account_id = t.account_id and d.company_id = t.id and d.status = 'open' and d.deleted_at is null)`;

const conditions: Conditions<CompanyFilter> = {
  search: (text) => sql`(' ' || lower(t.name collate "und-x-icu")) like ${wordPattern(text)}`,
  industry: (industry) => sql`lower(t.industry collate "und-x-icu") = ${industry.toLowerCase()}`,
  size: (size) => sql`t.size = ${size}`,
  hasOpenDeals: (has) => (has ? openDeals : sql`not ${openDeals}`),
  lifecycleStage: (stage) => sql`lower(t.lifecycle_stage collate "und-x-icu") = ${stage.toLowerCase()}`,
  ownerId: (id) => sql`t.owner_id = ${id}::uuid`,
};

/** A company filter as SQL conditions over the alias `t`. */
export const companyConditions = (ctx: Context, filter: CompanyFilter | null | undefined) => conditionsOf(conditions, ctx, filter);
