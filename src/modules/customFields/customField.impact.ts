import type { Context } from '../../kernel/context/context.js';
import { integer, json, listOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { filterableTable } from '../../kernel/tables/filterSql.js';
import { Records } from '../../kernel/tables/filterTree.js';
import type { AnyTable } from '../../kernel/tables/table.js';
import type { CustomField, CustomFieldDependency, DependencySummary } from './customField.model.js';

type Place = Pick<CustomField, 'entityType' | 'fieldKey'>;

/** The tables whose rows carry each kind's fields. */
const tables = { contact: 'contacts', deal: 'deals', company: 'companies' } as const;

/** A statement for each kind's table. */
export const statementsFor = <S>(make: (table: string) => S): Record<keyof typeof tables, S> => ({
  contact: make(tables.contact),
  deal: make(tables.deal),
  company: make(tables.company),
});

// Deleted records count too: they can be restored, with their values.
const valueCount = statementsFor((table) =>
  statement({
    name: `countCustomField ${table}`,
    takes: { key: text },
    row: { count: integer },
    text: ({ account, key }) =>
      sql`select count(*)::int as count from ${rawSql(table)} where account_id = ${account} and jsonb_exists(custom_fields, ${key})`,
  }),
);

/** How many records have a value of the field. */
export async function countValues(ctx: Context, { entityType, fieldKey }: Place): Promise<number> {
  const [row] = await ctx.rows(valueCount[entityType], { key: fieldKey });
  return row!.count;
}

/** What may name a field by its path, besides saved lists: the documents of each kind as one text. Names come from here, never from a caller. */
const referrers = [
  ['form', 'forms', 'jsonb_build_array(fields, settings)', sql`t.archived_at is null`],
  ['workflow', 'workflows', 'jsonb_build_array(trigger, actions)', sql`t.deleted_at is null`],
  ['automation', 'automations', 'jsonb_build_array(trigger, trigger_conditions, actions, graph, nodes)', sql`t.deleted_at is null`],
  ['template', 'templates', 'to_jsonb(merge_fields)', sql`t.archived_at is null`],
] as const;

const most = 100;

/** A path like `customFields.tier` or `contact.customFields.tier`, as a text of its own or inside of one. */
const pathPattern = ({ entityType, fieldKey }: Place) =>
  `(^|[^A-Za-z0-9_.]|\\m${entityType}\\.)customFields\\.${fieldKey}($|[^A-Za-z0-9_-])`;

/** Whether a document of a row names the field: by a path, or as a member, as { cf: { tier: … } } and { customFields: { tier: … } } do. */
const names = (document: string, pattern: Sql, key: Sql) => sql`(${rawSql(`(${document})`)}::text ~ ${pattern}
  or jsonb_path_exists(${rawSql(document)}, '$.** ? (@.type() == "object").keyvalue() ? (@.key == "cf" || @.key == "customFields").value
    ? (@.type() == "object").keyvalue() ? (@.key == $key)', jsonb_build_object('key', ${key}), true))`;

// Nobody could change the own list of somebody who was removed: it waits for their return, and counts again from then on.
const listsNaming = statement({
  name: 'smartListsNamingField',
  takes: { key: text, pattern: text },
  row: { id: uuid, entity: text, filters: json<unknown>() },
  text: ({ account, key, pattern }) => sql`
    select t.id, t.entity_type as entity, t.filters from smart_lists t
    where t.account_id = ${account} and ${names('filters', pattern, key)} and (t.shared or not exists (
      select 1 from memberships m where m.account_id = t.account_id and m.user_id = t.created_by and m.status = 'removed'))`,
});

/** Whether conditions over a table's records ask for the field, of those themselves or of others that a relation leads to. */
function asksFor(ctx: Context, table: AnyTable, node: unknown, place: Place): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { field, value, cf, customFields } = node as Record<string, unknown>;
  const relation = typeof field === 'string' ? Records.of(ctx, table).relations.get(field) : undefined;
  if (relation) return asksFor(ctx, relation.to, value, place);
  const isHeld = (values: unknown) => typeof values === 'object' && values !== null && Object.hasOwn(values, place.fieldKey);
  const isAsked = field === `customFields.${place.fieldKey}` || isHeld(cf) || isHeld(customFields);
  if (isAsked && table.name === tables[place.entityType]) return true;
  return Object.values(node).some((inner) => asksFor(ctx, table, inner, place));
}

/** The saved lists that ask for the field, whosever records they are of: a list of deals may ask for their contacts'. */
async function listsAsking(ctx: Context, place: Place): Promise<string[]> {
  const key = place.fieldKey;
  const found = await ctx.rows(listsNaming, { key, pattern: `customFields\\.${key}($|[^A-Za-z0-9_-])` });
  const isAsking = (table: AnyTable | undefined, filters: unknown) => table && asksFor(ctx, table, filters, place);
  return found.filter(({ entity, filters }) => isAsking(filterableTable(ctx, entity), filters)).map(({ id }) => id);
}

const referring = statement({
  name: 'customFieldReferrers',
  takes: { key: text, pattern: text, lists: listOf(uuid), caller: uuid },
  row: { type: word<CustomFieldDependency['type']>(), recordId: uuid, name: text, total: integer },
  text: ({ account, key, pattern, lists, caller }) => {
    // A colleague's own list counts, but how it is called is theirs.
    const saved = sql`select 'smart_list' as type, t.id as "recordId",
      case when t.shared or t.created_by = ${caller} then t.name else 'A private list' end as name
      from smart_lists t where t.account_id = ${account} and t.id = any(${lists})`;
    const parts = referrers.map(
      ([type, table, document, live]) => sql`select ${type}::text as type, t.id as "recordId", t.name from ${rawSql(table)} t
        where t.account_id = ${account} and ${live} and ${names(document, pattern, key)}`,
    );
    const all = parts.reduce((left, right) => sql`${left} union all ${right}`, saved);
    return sql`select *, (count(*) over ())::int as total from (${all}) d order by type, name collate "und-x-icu", "recordId" limit ${most}::int`;
  },
});

/** What refers to the field: saved filters, forms, workflows, automations and templates that name its path. */
export async function dependenciesOf(ctx: Context, place: Place): Promise<DependencySummary> {
  const lists = await listsAsking(ctx, place);
  const found = await ctx.rows(referring, { key: place.fieldKey, pattern: pathPattern(place), lists, caller: ctx.person });
  return { dependencyCount: found[0]?.total ?? 0, dependencies: found.map(({ type, recordId, name }) => ({ type, recordId, name })) };
}
