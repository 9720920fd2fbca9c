import type { Context } from '../../kernel/context/context.js';
import { instant, integer, json, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';
import type { CustomField } from '../customFields/customField.model.js';
import type { Import } from './import.model.js';
import { importTable } from './import.table.js';

const leading = statement({
  name: 'importsLeadingToField',
  takes: { from: text, to: text, most: nullable(integer) },
  row: { id: uuid, bytes: integer },
  locks: true,
  // Of two columns that lead to one field only one would count: such a mapping is left as it is, and keeps the key.
  text: ({ account, from, to, most }) => sql`
    select t.id, octet_length(t.mapping::text) as bytes from imports t
    where t.account_id = ${account} and t.status in ('pending', 'failed')
      and jsonb_path_exists(t.mapping, '$.* ? (@ == $path)', jsonb_build_object('path', ${from}))
      and not jsonb_path_exists(t.mapping, '$.* ? (@ == $path)', jsonb_build_object('path', ${to}))
    ${lockedUpTo(most)}`,
});

const lead = statement({
  name: 'leadImportsToField',
  takes: { ids: listOf(uuid), from: text, to: text, now: instant },
  row: { ...importTable.shape, was: json<Import['mapping']>() },
  changes: true,
  text: ({ account, ids, from, to, now }) => sql`
    update imports t set updated_at = ${now}, mapping = (
      select jsonb_object_agg(e.key, case when e.value = to_jsonb(${from}) then to_jsonb(${to}) else e.value end) from jsonb_each(b.mapping) e)
    from imports b
    where t.account_id = ${account} and t.id = any(${ids}) and b.account_id = t.account_id and b.id = t.id
    returning ${importTable.columns}, b.mapping as was`,
});

/**
 * The columns of imports follow a custom field of contacts to its new key, in those that are not being processed: nobody could take such
 * an import away. One whose rows are still being written is not there yet, so that nothing is told of it.
 */
export async function onCustomFieldUpdated(ctx: Context, { record, changes }: DomainEvent): Promise<void> {
  if (!changes?.fieldKey || changes.entityType || (record as CustomField).entityType !== 'contact') return;
  const { fieldKey } = changes;
  const [from, to] = [`customFields.${fieldKey.from}`, `customFields.${fieldKey.to}`];
  await changeAll(ctx, {
    find: (most) => ctx.rows(leading, { from, to, most }),
    change: (ids) => ctx.rows(lead, { ids, from, to, now: ctx.now() }),
    tell: async ({ was, ...known }) => {
      if (known.totalRows === 0) return;
      await ctx.emit({ name: 'import.updated', record: known, changes: { mapping: { from: was, to: known.mapping } } });
    },
  });
}
