import type { Context } from '../../kernel/context/context.js';
import { integer, text, uuid, word } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
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

/** What may name a field by its path: the documents of each kind as one text. Names come from here, never from a caller. */
const referrers = [
  ['smart_list', 'smart_lists', 'filters', (entity: Sql) => sql`t.entity_type = ${entity}`],
  ['form', 'forms', 'jsonb_build_array(fields, settings)', () => sql`t.archived_at is null`],
  ['workflow', 'workflows', 'jsonb_build_array(trigger, actions)', () => sql`t.deleted_at is null`],
  ['automation', 'automations', 'jsonb_build_array(trigger, trigger_conditions, actions, graph, nodes)', () => sql`t.deleted_at is null`],
  ['template', 'templates', 'to_jsonb(merge_fields)', () => sql`t.archived_at is null`],
] as const;

const most = 100;

/** A path like `customFields.tier` or `contact.customFields.tier`, as a text of its own or inside of one. */
const pathPattern = ({ entityType, fieldKey }: Place) =>
  `(^|[^A-Za-z0-9_.]|\\m${entityType}\\.)customFields\\.${fieldKey}($|[^A-Za-z0-9_-])`;

const referring = statement({
  name: 'customFieldReferrers',
  takes: { entity: text, key: text, pattern: text, caller: uuid },
  row: { type: word<CustomFieldDependency['type']>(), recordId: uuid, name: text, total: integer },
  text: ({ account, entity, key, pattern, caller }) => {
    // A colleague's own list counts, but how it is called is theirs.
    const listName = sql`case when t.shared or t.created_by = ${caller} then t.name else 'A private list' end`;
    const parts = referrers.map(([type, table, document, live]) => {
      const named = sql`${rawSql(`(${document})`)}::text ~ ${pattern}`;
      // { cf: { tier: … } } and { customFields: { tier: … } } name it as a member.
      const keyed = sql`jsonb_path_exists(${rawSql(document)}, '$.** ? (@.type() == "object").keyvalue() ? (@.key == "cf" || @.key == "customFields").value
        ? (@.type() == "object").keyvalue() ? (@.key == $key)', jsonb_build_object('key', ${key}), true)`;
      const name = type === 'smart_list' ? listName : sql`t.name`;
      return sql`select ${type}::text as type, t.id as "recordId", ${name} as name from ${rawSql(table)} t
        where t.account_id = ${account} and ${live(entity)} and (${named} or ${keyed})`;
    });
    const all = parts.reduce((left, right) => sql`${left} union all ${right}`);
    return sql`select *, (count(*) over ())::int as total from (${all}) d order by type, name collate "und-x-icu", "recordId" limit ${most}::int`;
  },
});

/** What refers to the field: saved filters, forms, workflows, automations and templates that name its path. */
export async function dependenciesOf(ctx: Context, place: Place): Promise<DependencySummary> {
  const { entityType: entity, fieldKey: key } = place;
  const found = await ctx.rows(referring, { entity, key, pattern: pathPattern(place), caller: ctx.person });
  return { dependencyCount: found[0]?.total ?? 0, dependencies: found.map(({ type, recordId, name }) => ({ type, recordId, name })) };
}
