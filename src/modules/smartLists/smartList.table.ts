import type { Context } from '../../kernel/context/context.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { SmartList, SmartListConnection, SmartListList } from './smartList.model.js';

/** The records that the caller may have lists about: a key only those of its scopes. */
export const entitiesOf = (ctx: Context): string[] => {
  const { scopes } = ctx.caller;
  return [...ctx.app.registry.filterable.keys()].filter((entity) => !scopes || scopes.includes(`${entity}s`));
};

/** Shared lists and one's own, over the alias `t`. */
export const visibleTo = (ctx: Context): Sql =>
  sql`(t.shared or t.created_by = ${ctx.caller.userId}::uuid) and t.entity_type = any(${entitiesOf(ctx)})`;

export const smartListTable = table({
  row: modelRow('SmartList', SmartList),
  list: SmartListList,
  page: SmartListConnection,
  what: 'Smart list',
  renamed: { entity: 'entity_type', order: 'sort_order', ownerId: 'created_by' },
  visible: visibleTo,
  counted: false,
  sorts: { name: byText('name', false), createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['name', 'asc'],
  conditions: {
    entity: (entity) => sql`t.entity_type = ${entity}`,
    search: (text) => contains('t.name', text),
    ownerId: (id) => sql`t.created_by = ${id}::uuid`,
  },
});
