import { mayUse } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { emptySql, joinSql, likeText, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { lowered, words } from '../../kernel/tables/searchPatterns.js';
import type { AnyTable } from '../../kernel/tables/table.js';
import { companyTable } from '../companies/company.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { customFieldTable } from '../customFields/customField.table.js';
import { dealTable } from '../deals/deal.table.js';
import { formTable } from '../forms/form.table.js';
import { pipelineTable, stageTable } from '../pipelines/pipeline.table.js';
import { productTable } from '../products/product.table.js';
import { sequenceTable } from '../sequences/sequence.table.js';
import { smartListTable } from '../smartLists/smartList.table.js';
import { tagTable } from '../tags/tag.table.js';
import { templateTable } from '../templates/template.table.js';
import { userTable } from '../users/user.table.js';
import type { NameInput, ResolvedName, ResolveInput } from './automation.catalog.model.js';
import { automationTable } from './automation.table.js';

/** How records of a type are found by a name. */
interface Nameable {
  table: AnyTable;
  scope: string;
  /** What they are called, in SQL over the alias `t`. */
  name: string;
  /** What else they are known by. */
  also?: string;
  /** The column of what they belong to, and what that is called. */
  parent?: { column: string; table: string };
  /** Whether there may be so many that they are only found by their whole names. */
  isMany?: boolean;
  /** Of these, a text with an index of its trigrams that holds in lower case whatever they may be called. */
  searched?: Sql;
}

const nameables: Record<NameInput['type'], Nameable> = {
  contact: {
    ...{ table: contactTable, scope: 'contacts', name: `concat_ws(' ', t.first_name, t.last_name)`, also: 't.email' },
    ...{ isMany: true, searched: sql`t.search_text` },
  },
  company: { table: companyTable, scope: 'companies', name: 't.name', also: 't.domain', isMany: true },
  deal: { table: dealTable, scope: 'deals', name: 't.title', isMany: true, searched: words('t.title') },
  pipeline: { table: pipelineTable, scope: 'deals', name: 't.name' },
  stage: { table: stageTable, scope: 'deals', name: 't.name', parent: { column: 'pipeline_id', table: 'pipelines' } },
  tag: { table: tagTable, scope: 'tags', name: 't.name' },
  user: {
    table: userTable,
    scope: 'users',
    name: 't.name',
    also: 'coalesce(t.invited_email, (select u.email from users u where u.id = t.user_id))',
  },
  template: { table: templateTable, scope: 'emails', name: 't.name' },
  sequence: { table: sequenceTable, scope: 'emails', name: 't.name' },
  form: { table: formTable, scope: 'forms', name: 't.name', also: 't.slug' },
  product: { table: productTable, scope: 'products', name: 't.name', also: 't.sku' },
  automation: { table: automationTable, scope: 'automations', name: 't.name' },
  custom_field: { table: customFieldTable, scope: 'custom-fields', name: 't.label', also: 't.field_key' },
  smart_list: { table: smartListTable, scope: 'contacts', name: 't.name' },
};

/** Of one type, the most records that are looked at besides those of a whole name. */
const mostNear = 500;
const mostCandidates = 10;

const row = { id: uuid, name: text, also: nullable(text), parentId: nullable(uuid), parent: nullable(text) };
type Found = RowOf<typeof row>;

/** A name with three letters or digits in a row, by which an index of trigrams leads to few texts. */
const hasTrigram = /[\p{L}\p{N}]{3}/u;

/**
 * Leads an index to what some whole names may be of: a name that is compared is made anew for each record. Where a name is so short that
 * the index leads to all of them, nothing is asked besides.
 */
function mayHold(searched: Sql | undefined, wanted: readonly string[], patterns: readonly string[]): Sql {
  if (!searched || !wanted.every((name) => hasTrigram.test(name))) return emptySql;
  const ways = patterns.map((pattern) => sql`${searched} like ${pattern}`);
  return sql`and (${joinSql(ways, ' or ')})`;
}

/** The records of a type that some names may mean, those of a whole name first. */
async function candidatesOf(ctx: Context, type: NameInput['type'], names: readonly string[]): Promise<Found[]> {
  const { table, name, also = 'null::text', parent, isMany, searched } = nameables[type];
  const visible = table.options.visible?.(ctx);
  const wanted = names.map((given) => given.toLowerCase());
  const patterns = wanted.map((given) => `%${likeText(given)}%`);
  const [called, other] = [lowered('n.called'), lowered('n.other')];
  // What has no other name would be of neither kind, and so come first.
  const isWhole = sql`coalesce(${called} = any(${wanted}::text[]) or ${other} = any(${wanted}::text[]), false)`;
  const isNear = isMany ? isWhole : sql`(${isWhole} or ${called} like any(${patterns}::text[]))`;
  const owner = parent
    ? rawSql(`(select p.name from ${parent.table} p where p.account_id = t.account_id and p.id = t.${parent.column})`)
    : sql`null::text`;
  const ownerId = parent ? rawSql(`t.${parent.column}`) : sql`null::uuid`;
  // Without the offset PostgreSQL would make what a record is called anew wherever it is named.
  const found = sql`select ${table.id} as id, n.called as name, n.other as also, ${ownerId} as "parentId", ${owner} as parent
    from ${rawSql(table.name)} t cross join lateral (select ${rawSql(name)} as called, ${rawSql(also)} as other offset 0) n
    where t.account_id = ${ctx.caller.account.id}::uuid and ${table.listed} ${mayHold(searched, wanted, patterns)} and ${isNear}
    ${visible ? sql`and ${visible}` : emptySql} order by ${isWhole} desc, 2, 1 limit ${mostNear}::int`;
  return ctx.longRead(() => ctx.select(row, found));
}

const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase();

function resolved({ type, name, parent }: NameInput, found: readonly Found[]): ResolvedName {
  const within = parent ? found.filter((one) => same(one.parentId, parent) || same(one.parent, parent)) : found;
  const whole = within.filter((one) => same(one.name, name) || same(one.also, name));
  const near = whole.length > 0 ? whole : within.filter((one) => one.name.toLowerCase().includes(name.toLowerCase()));
  const candidates = near.slice(0, mostCandidates).map((one) => ({ recordId: one.id, name: one.name }));
  return { type, name, recordId: whole.length === 1 ? whole[0]!.id : null, candidates };
}

/**
 * Contract POST /automations/resolve: what names mean, in the order of the request, with one statement for each type. Of a
 * type that the caller may not read nothing is found.
 */
export async function resolveNames(ctx: Context, { items }: ResolveInput): Promise<ResolvedName[]> {
  const types = [...new Set(items.map(({ type }) => type))].filter((type) => mayUse(ctx.caller, { scope: nameables[type].scope }));
  const found = new Map<string, Found[]>();
  for (const type of types) {
    const names = items.filter((item) => item.type === type).map(({ name }) => name);
    found.set(type, await candidatesOf(ctx, type, names));
  }
  return items.map((item) => resolved(item, found.get(item.type) ?? []));
}
