import type { Context } from '../../kernel/context/context.js';
import { instant, integer, nullable } from '../../kernel/database/kinds.js';
import { accountSql, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { Decimal, Int } from '../../kernel/model/scalars.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { saidByKeys } from '../../kernel/tables/rowCondition.js';
import { holdsTerm, words } from '../../kernel/tables/searchPatterns.js';
import { Company, CompanyConnection, CompanyList } from './company.model.js';

const openDeals = sql`d.status = 'open' and d.deleted_at is null`;

/** Whether a company has open deals, or none: these tell how many companies have some, without a look at each. */
function hasOpenDeals(has: boolean, { caller }: Context): Sql {
  const exists = sql`exists (select 1 from deals d where d.account_id = t.account_id and d.company_id = t.id and ${openDeals})`;
  const keys = sql`select d.company_id as key from deals d where d.account_id = ${accountSql(caller.account.id)} and ${openDeals}`;
  return saidByKeys(has ? exists : sql`not ${exists}`, { keys, isNone: !has });
}

/** Something of the live records of another table that are linked to a company. */
const ofLinked = (what: string, name: string): Sql =>
  rawSql(`(select ${what} from ${name} l where l.account_id = t.account_id and l.company_id = t.id and l.deleted_at is null)`);

const contactCount = ofLinked('count(*)::int', 'contacts');

/** A company as it is kept. */
export const companyRow = modelRow('Company', Company, { deletedAt: nullable(instant) });

export const companyTable = table({
  row: companyRow,
  list: CompanyList,
  page: CompanyConnection,
  neverTold: ['contactCount'],
  computed: {
    contactCount: { sql: contactCount, counts: true },
    dealCount: { sql: ofLinked('count(*)::int', 'deals'), counts: true, type: () => Int, description: 'Live deals with the company' },
    openDealCount: {
      sql: ofLinked(`(count(*) filter (where l.status = 'open'))::int`, 'deals'),
      counts: true,
      type: () => Int,
      description: 'Open deals with the company',
    },
    totalDealValue: {
      sql: ofLinked('coalesce(sum(l.value), 0)::text', 'deals'),
      counts: true,
      type: () => Decimal,
      description: 'The sum over the live deals with the company, whatever their currency',
    },
  },
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (text) => holdsTerm(words('t.name'), text),
    industry: (industry) => sql`lower(t.industry collate "und-x-icu") = ${industry.toLowerCase()}`,
    size: (size) => sql`t.size = ${size}`,
    hasOpenDeals,
    lifecycleStage: (stage) => sql`lower(t.lifecycle_stage collate "und-x-icu") = ${stage.toLowerCase()}`,
    ownerId: (id) => sql`t.owner_id = ${id}::uuid`,
  },
});

/** Companies, each with how many live contacts are linked to it. */
export const countedCompanies = companyTable.reading(
  { ...companyRow.shape, contactCount: integer },
  sql`${companyTable.columns}, ${contactCount} as "contactCount"`,
  { counts: true },
);
