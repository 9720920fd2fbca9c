import type { Context } from '../../kernel/context.js';
import { since, until } from '../../kernel/dates.js';
import { byNumber, byText, byTime, type ListSpec } from '../../kernel/list.js';
import { searchPattern } from '../../kernel/search.js';
import { type Sql, selectList, sql } from '../../kernel/sql.js';
import type { ContactFilter, ContactSort } from './contact.model.js';

/** The columns of a contact's record, over the alias `t`. */
export const contactColumns = selectList('Contact', 't', ['emailLower', 'searchText', 'tagIds', 'scoreFactors', 'deletedAt']);

export const contactListing: ListSpec<keyof typeof ContactSort> = {
  table: 'contacts',
  columns: contactColumns,
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    firstName: byText('first_name'),
    lastName: byText('last_name'),
    email: { by: 't.email_lower', type: 'text', nullable: true },
    company: byText('company'),
    leadScore: byNumber('lead_score'),
  },
  byDefault: ['createdAt', 'desc'],
};

type Conditions = { [K in keyof ContactFilter]-?: (value: NonNullable<ContactFilter[K]>, ctx: Context) => Sql };

const carriesAny = (names: string[]) => sql`exists (
  select 1 from contact_tags ct join tags g on g.account_id = ct.account_id and g.id = ct.tag_id
  where ct.account_id = t.account_id and ct.contact_id = t.id
  and lower(g.name collate "und-x-icu") = any(${names.map((name) => name.toLowerCase())}))`;

const conditions: Partial<Conditions> = {
  search: (text) => sql`t.search_text like ${searchPattern(text)}`,
  tag: (name) => carriesAny([name]),
  tags: (names) => carriesAny(names),
  source: (source) => sql`t.source = ${source}`,
  company: (company) => sql`lower(t.company collate "und-x-icu") = ${company.toLowerCase()}`,
  companyId: (id) => sql`t.company_id = ${id}::uuid`,
  assignedTo: (id) => sql`t.assigned_to = ${id}::uuid`,
  createdFrom: (moment, ctx) => since('t.created_at', moment, ctx),
  createdTo: (moment, ctx) => until('t.created_at', moment, ctx),
  updatedFrom: (moment, ctx) => since('t.updated_at', moment, ctx),
  updatedTo: (moment, ctx) => until('t.updated_at', moment, ctx),
  minScore: (score) => sql`t.lead_score >= ${score}::int`,
  masterStatus: (status) => sql`t.master_status = ${status}`,
  excludeMasterStatus: (status) => sql`t.master_status <> ${status}`,
  importId: (id) => sql`t.import_id = ${id}::uuid`,
};

/** A contact filter as SQL conditions over the alias `t`. */
export function contactConditions(ctx: Context, filter: ContactFilter | null | undefined): Sql[] {
  return Object.entries(filter ?? {}).flatMap(([name, value]) => {
    const build = conditions[name as keyof ContactFilter] as ((value: unknown, ctx: Context) => Sql) | undefined;
    return build && value !== null && value !== undefined ? [build(value, ctx)] : [];
  });
}
