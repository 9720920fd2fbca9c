import { nilId } from '../../kernel/base/ids.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, json, listOf, nullable, text, uuid, word } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { filterableTable } from '../../kernel/tables/filterSql.js';
import { Records } from '../../kernel/tables/filterTree.js';
import type { AnyTable } from '../../kernel/tables/table.js';
import type { CustomFieldDependency, DependencySummary } from './customField.model.js';
import { Naming, type Place } from './customField.naming.js';

/** The tables whose rows carry each kind's fields. */
const tables = { contact: 'contacts', deal: 'deals', company: 'companies' } as const;

/** A statement for each kind's table. */
export const statementsFor = <S>(make: (table: string) => S): Record<keyof typeof tables, S> => ({
  contact: make(tables.contact),
  deal: make(tables.deal),
  company: make(tables.company),
});

/** Records that one statement looks at: of very many, whose fields are large, a look at all takes longer than a statement may. */
const mostLooked = 5000;

// Deleted records count too: they can be restored, with their values.
const valueCount = statementsFor((table) =>
  statement({
    name: `countCustomField ${table}`,
    takes: { key: text, after: uuid },
    row: { count: integer, last: nullable(uuid) },
    text: ({ account, key, after }) => sql`
      with looked as materialized (select id, jsonb_exists(custom_fields, ${key}) as has from ${rawSql(table)}
        where account_id = ${account} and id > ${after} order by id limit ${mostLooked}::int)
      select count(*) filter (where l.has)::int as count,
        case when count(*) = ${mostLooked}::int then (select m.id from looked m order by m.id desc limit 1) end as last
      from looked l`,
  }),
);

/** How many records have a value of the field, counted some at a time. */
export async function countValues(ctx: Context, { entityType, fieldKey }: Place): Promise<number> {
  let total = 0;
  for (let after: string | null = nilId; after !== null; ) {
    const [row]: { count: number; last: string | null }[] = await ctx.rows(valueCount[entityType], { key: fieldKey, after });
    total += row!.count;
    after = row!.last;
  }
  return total;
}

const most = 100;

/** A path like `customFields.tier` or `contact.customFields.tier`, as a text of its own or inside of one. */
const pathPattern = ({ entityType, fieldKey }: Place) =>
  `(^|[^A-Za-z0-9_.]|\\m${entityType}\\.)customFields\\.${fieldKey}($|[^A-Za-z0-9_-])`;

/** A path in whatever words stand before it. */
const anyPath = ({ fieldKey }: Place) => `customFields\\.${fieldKey}($|[^A-Za-z0-9_-])`;

/**
 * Whether a document of a row names the field: by a path, or as a member, as { cf: { tier: … } }, { customFields: { tier: … } } and
 * { field: "customFields", value: { tier: … } } do.
 */
const names = (document: string, pattern: Sql, key: Sql) => sql`(${rawSql(`(${document})`)}::text ~ ${pattern}
  or jsonb_path_exists(${rawSql(document)}, '$.** ? (@.type() == "object").keyvalue() ? (@.key == "cf" || @.key == "customFields").value
    ? (@.type() == "object").keyvalue() ? (@.key == $key)', jsonb_build_object('key', ${key}), true)
  or jsonb_path_exists(${rawSql(document)}, '$.** ? (@.field == "customFields" || @.fieldName == "customFields" || @.fieldKey == "customFields").value
    ? (@.type() == "object").keyvalue() ? (@.key == $key)', jsonb_build_object('key', ${key}), true))`;

// Nobody could change the private list of somebody who was removed: it waits for their return, and counts again from then on.
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
  const isAsked = field === `customFields.${place.fieldKey}` || [cf, customFields, field === 'customFields' && value].some(isHeld);
  if (isAsked && table.name === tables[place.entityType]) return true;
  return Object.values(node).some((inner) => asksFor(ctx, table, inner, place));
}

/** The saved lists that ask for the field, whosever records they are of: a list of deals may ask for their contacts'. */
async function listsAsking(ctx: Context, place: Place): Promise<string[]> {
  const key = place.fieldKey;
  const found = await ctx.rows(listsNaming, { key, pattern: anyPath(place) });
  const isAsking = (table: AnyTable | undefined, filters: unknown) => table && asksFor(ctx, table, filters, place);
  return found.filter(({ entity, filters }) => isAsking(filterableTable(ctx, entity), filters)).map(({ id }) => id);
}

/**
 * What workflows and automations say, in parts: their drafts, and the versions of automations by which runs begin, or still go.
 * @param document what is made of the document of each
 */
const reacting = (account: Sql, document: (of: string) => Sql) => sql`
  select t.id as part, t.id as owner, 'workflow'::text as type, t.trigger_event as event, ${document('jsonb_build_array(t.trigger, t.actions)')} as document
  from workflows t where t.account_id = ${account} and t.deleted_at is null
  union all
  select t.id, t.id, 'automation', coalesce(t.trigger_event, t.trigger->>'event'),
    ${document('jsonb_build_array(t.trigger, t.trigger_conditions, t.actions, t.graph, t.nodes)')}
  from automations t where t.account_id = ${account} and t.deleted_at is null
  union all
  select v.id, t.id, 'automation', v.graph->>'event', ${document('v.graph')}
  from automations t join automation_versions v on v.account_id = t.account_id and v.automation_id = t.id
  where t.account_id = ${account} and t.deleted_at is null and (t.active and v.version = t.published_version or exists (
    select 1 from automation_runs r where r.account_id = v.account_id and r.automation_id = v.automation_id and r.version = v.version
      and r.status in ('running', 'waiting')))`;

const reactingNaming = statement({
  name: 'reactingNamingField',
  takes: { key: text, pattern: text },
  row: { part: uuid },
  text: ({ account, key, pattern }) =>
    sql`select d.part from (${reacting(account, (document) => names(document, pattern, key))}) d where d.document`,
});

const reactingParts = statement({
  name: 'reactingParts',
  takes: { parts: listOf(uuid) },
  row: { owner: uuid, type: text, event: nullable(text), document: json<unknown>() },
  text: ({ account, parts }) => sql`
    select d.owner, d.type, d.event, d.document from (${reacting(account, rawSql)}) d where d.part = any(${parts})`,
});

/** Documents that are read at a time: one may have some megabytes. */
const mostParts = 10;

/** The workflows and automations that name the field, of whichever record they say it. */
async function reactingTo(ctx: Context, place: Place): Promise<string[]> {
  const candidates = await ctx.rows(reactingNaming, { key: place.fieldKey, pattern: anyPath(place) });
  const naming = new Naming(ctx, place);
  const found = new Set<string>();
  for (let n = 0; n < candidates.length; n += mostParts) {
    const parts = candidates.slice(n, n + mostParts).map(({ part }) => part);
    for (const { owner, type, event, document } of await ctx.rows(reactingParts, { parts })) {
      // An automation that no event starts is about contacts; of a workflow without a trigger nobody knows.
      const about = event === null ? (type === 'automation' ? 'Contact' : undefined) : naming.typeOf(event);
      if (naming.isIn(document, about)) found.add(owner);
    }
  }
  return [...found];
}

type Referrer = [type: CustomFieldDependency['type'], name: string, table: string, condition: Sql];

/** What else names the field in its own words, each with how it is called, from a table and with what must hold of its rows. */
const otherReferrers = ({ key, path, pattern, entity }: Record<'key' | 'path' | 'pattern' | 'entity', Sql>): Referrer[] => [
  ['form', 't.name', 'forms', sql`t.archived_at is null and ${names('jsonb_build_array(t.fields, t.settings)', pattern, key)}`],
  // The record of a template is that of the workflow which mails it: of any kind.
  [
    'template',
    't.name',
    'templates',
    sql`t.archived_at is null and (${names('to_jsonb(t.merge_fields)', pattern, key)} or 'record.' || ${path} = any(t.merge_fields))`,
  ],
  // Sequences and imports are about contacts alone.
  [
    'sequence',
    't.name',
    'sequences',
    sql`${entity} = 'contact' and exists (
        select 1 from sequence_steps p where p.account_id = t.account_id and p.sequence_id = t.id
          and (p.subject ~ ${pattern} or p.body ~ ${pattern}) and (p.version = t.version or exists (
            select 1 from enrollments e where e.account_id = t.account_id and e.sequence_id = t.id and e.version = p.version
              and e.status in ('active', 'paused') and e.current_step < p.step_order)))`,
  ],
  [
    'import',
    `coalesce(t.name, 'An import without a name')`,
    'imports',
    sql`${entity} = 'contact' and t.total_rows > 0 and t.status in ('pending', 'processing', 'failed')
        and jsonb_path_exists(t.mapping, '$.* ? (@ == $path)', jsonb_build_object('path', ${path}))`,
  ],
];

const referring = statement({
  name: 'customFieldReferrers',
  takes: { key: text, path: text, pattern: text, entity: text, found: listOf(uuid), caller: uuid },
  row: { type: word<CustomFieldDependency['type']>(), recordId: uuid, name: text, total: integer },
  text: ({ account, found, caller, ...place }) => {
    const rows = (...[type, name, table, condition]: Referrer) => sql`select ${rawSql(`'${type}'`)}::text as type,
      t.id as "recordId", ${rawSql(name)} as name from ${rawSql(table)} t where t.account_id = ${account} and ${condition}`;
    const isFound = sql`t.id = any(${found})`;
    // A colleague's own list counts, but how it is called is theirs.
    const saved = sql`select 'smart_list' as type, t.id as "recordId",
      case when t.shared or t.created_by = ${caller} then t.name else 'A private list' end as name
      from smart_lists t where t.account_id = ${account} and ${isFound}`;
    const parts = [
      rows('workflow', 't.name', 'workflows', isFound),
      rows('automation', 't.name', 'automations', isFound),
      ...otherReferrers(place).map((of) => rows(...of)),
    ];
    const all = parts.reduce((left, right) => sql`${left} union all ${right}`, saved);
    return sql`select *, (count(*) over ())::int as total from (${all}) d order by type, name collate "und-x-icu", "recordId" limit ${most}::int`;
  },
});

/**
 * What refers to the field: saved filters, forms, workflows, automations (drafts, and what of them runs), templates, the own words of
 * sequences (those that are under way included) and imports that are not completed.
 */
export async function dependenciesOf(ctx: Context, place: Place): Promise<DependencySummary> {
  const foundIds = [...(await listsAsking(ctx, place)), ...(await reactingTo(ctx, place))];
  const { fieldKey: key, entityType: entity } = place;
  const words = { key, path: `customFields.${key}`, pattern: pathPattern(place), entity };
  const found = await ctx.rows(referring, { ...words, found: foundIds, caller: ctx.person });
  return { dependencyCount: found[0]?.total ?? 0, dependencies: found.map(({ type, recordId, name }) => ({ type, recordId, name })) };
}
