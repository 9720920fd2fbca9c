import type { Context } from '../context/context.js';
import { inOrder } from '../context/loaders.js';
import { type Kind, listOf, type RowOf, type Shape, uuid } from '../database/kinds.js';
import { rawSql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { TableRows } from '../database/tableRows.js';

/**
 * Rows of a table by their ids, for many keys in one statement: those that relations lead to, null for one that is gone. For loaders, and
 * for reads of one with what the table's own columns do not say.
 */
export function rowsByIds<S extends Shape & { id: Kind<string> }>({
  name,
  key,
  live,
  shape,
  columns,
  counts,
}: TableRows<S>): (ctx: Context, ids: readonly string[]) => Promise<(RowOf<S> | null)[]> {
  const id = rawSql(`t.${key}`);
  const byIds = statement({
    name: `${name}ById`,
    takes: { ids: listOf(uuid) },
    row: shape,
    shared: true,
    counts,
    text: ({ account, ids }) =>
      sql`select ${columns} from ${rawSql(name)} t where t.account_id = ${account} and ${id} = any(${ids}) and ${live}`,
  });
  return async (ctx, ids) => inOrder(ids, await ctx.rows(byIds, { ids }), (row) => row.id);
}
