import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { instant, nullable, records, text, uuid } from '../../kernel/database/kinds.js';
import { accountSql, allOf, joinSql, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { formsOfCustom } from '../../kernel/tables/filterFields.js';
import { filterSql } from '../../kernel/tables/filterSql.js';
import { byNumber, byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import type { ParameterConditions } from '../../kernel/tables/parameterConditions.js';
import { keysBetween, saidByKeys } from '../../kernel/tables/rowCondition.js';
import { matches } from '../../kernel/tables/searchPatterns.js';
import { savedFilter } from '../smartLists/smartList.service.js';
import { tagOrder, tagRow, tagTable } from '../tags/tag.table.js';
import { Contact, ContactConnection, type ContactFilter, ContactList, type ContactSort, type Reachability } from './contact.model.js';
import { hasDeal, smartView } from './contact.views.js';

/** What `tag_ids` repeats. */
export const contactTagsJoin = { table: 'contact_tags', of: 'contact_id', to: 'tag_id' } as const;

/** Whether a contact carries one of the tags, alias `g`, that meet a condition. The search index holds them by id. */
function carries(condition: Sql, { caller }: Context): Sql {
  const account = accountSql(caller.account.id);
  const tags = sql`select g.id from tags g where g.account_id = ${account} and ${condition}`;
  return saidByKeys(sql`t.tag_ids && array(${tags})`, { keys: keysBetween(contactTagsJoin, account, tags), isOfRow: true });
}

const carriesAny = (names: string[], ctx: Context) =>
  carries(sql`lower(g.name collate "und-x-icu") = any(${names.map((name) => name.toLowerCase())})`, ctx);

const bySms = sql`(t.phone is not null and not t.opted_out_sms)`;
const byEmail = sql`(t.email is not null and not t.opted_out_email)`;
const mayContact = sql`not coalesce(t.do_not_contact, false)`;

const reachable: Record<keyof typeof Reachability, Sql> = {
  sms: sql`${mayContact} and ${bySms}`,
  email: sql`${mayContact} and ${byEmail}`,
  both: sql`${mayContact} and ${bySms} and ${byEmail}`,
  // The condition of an index, contacts_unreachable.
  none: sql`not (${mayContact} and (${bySms} or ${byEmail}))`,
};

/** A custom field that is, or as a list holds, what a query string can say: text, or the number or truth value it spells. */
function customField(key: string, value: unknown): Sql {
  check(['string', 'number', 'boolean'].includes(typeof value), () =>
    invalidField(`cf.${key}`, 'invalid_type', 'must be text, a number, true or false'),
  );
  const text = String(value);
  // A number as JSON writes it: 01234 is a text. Its digits stay as they are, since the database compares all of them.
  const isSpelled = /^(true|false|-?(0|[1-9]\d{0,399})(\.\d{1,400})?([eE][+-]?\d{1,3})?)$/.test(text);
  const spelled = [...formsOfCustom(text).map((form) => JSON.stringify(form)), ...(isSpelled ? [text] : [])];
  const kept = spelled.flatMap((form) => [form, `[${form}]`]);
  const forms = kept.map((form) => sql`t.custom_fields @> ${`{${JSON.stringify(key)}:${form}}`}::jsonb`);
  return sql`(${joinSql(forms, ' or ')})`;
}

/** Contacts with at least one live deal that matches all that is given. */
function dealContext(filter: ContactFilter, { caller }: Context): Sql[] {
  const { dealContextOwners: owners, dealContextStages: stages, dealContextStatuses: statuses } = filter;
  const parts = [
    ...(owners ? [sql`d.assigned_to = any(${owners}::uuid[])`] : []),
    ...(stages ? [sql`d.stage_id = any(${stages}::uuid[])`] : []),
    ...(statuses ? [sql`d.status = any(${statuses})`] : []),
  ];
  if (parts.length === 0) return [];
  return [hasDeal(caller.account, allOf(parts))];
}

const conditions: ParameterConditions<ContactFilter> = {
  ...{ smartListId: null, dealContextOwners: null, dealContextStages: null, dealContextStatuses: null },
  search: (text, ctx) => matches(sql`t.search_text`, text, ctx),
  tag: (name, ctx) => carriesAny([name], ctx),
  tags: carriesAny,
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
  smartView: (view, ctx) => smartView(view, ctx),
  reachability: (way) => reachable[way],
  cf: (values) => allOf(Object.entries(values).map(([key, value]) => customField(key, value))),
  filters: (tree, ctx) => filterSql(ctx, contactTable, tree),
};

/** What to call a contact, the same as the field `name`. */
function nameOfContact({ firstName, lastName, company, email, phone }: Contact): string | null {
  return [firstName, lastName].filter(Boolean).join(' ') || company || email || phone;
}

/** A contact as it is kept. */
export const contactRow = modelRow('Contact', Contact, {
  scoredAt: nullable(instant),
  landline: nullable(text),
  deletedAt: nullable(instant),
  importId: nullable(uuid),
  mergedIntoId: nullable(uuid),
});

export const contactTable = table({
  row: contactRow,
  withoutEvents: ['leadScore', 'scoredAt', 'lastActivityAt', 'lastContactedAt'],
  list: ContactList,
  page: ContactConnection,
  computed: {
    name: {
      sql: sql`coalesce(nullif(concat_ws(' ', t.first_name, t.last_name), ''), t.company, t.email, t.phone)`,
      of: nameOfContact,
      type: () => String,
      isNullable: true,
      description: 'What to call the contact: first and last name, else company, e-mail address or phone number',
    },
  },
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
  lowered: { email: sql`t.email_lower` },
  several: {
    tags: {
      kind: 'name',
      value: () => sql`g.name`,
      some: carries,
    },
  },
  conditions,
  isSortedByFilter: true,
  asked: async (ctx, { filter }, own) => {
    const saved = await savedFilter<keyof typeof ContactSort>(ctx, 'contact', filter?.smartListId);
    return { ...saved, conditions: [...own, ...dealContext(filter ?? {}, ctx), ...saved.conditions] };
  },
});

const tags = sql`(
  select coalesce(json_agg(r order by ${rawSql(tagOrder('r'))}), '[]') from (select t.account_id, t.tag_ids) p cross join lateral (
    select ${tagTable.columns} from tags t where t.account_id = p.account_id and t.id = any(p.tag_ids)) r)`;

/** Contacts with their tags, by name. */
export const taggedContacts = contactTable.reading(
  { ...contactRow.shape, tags: records(tagRow.shape) },
  sql`${contactTable.columns}, ${tags} as tags`,
);
