import type { Context } from '../context/context.js';
import { instant, integer, listOf, nullable, type RowOf, type Shape, uuid } from '../database/kinds.js';
import { columnName, emptySql, rawSql, type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { TableRows } from '../database/tableRows.js';
import type { Changes } from '../events/changes.js';
import { changeAll, lockedUpTo } from './changeAll.js';

/** Records that name others by their ids, and how a change of one is told. */
export interface Linked<S extends Shape> {
  of: TableRows<S>;
  tell(ctx: Context, row: RowOf<S>, changes: Changes): Promise<void>;
  /** How many bytes a row has, over the alias `t`, where it may be large. */
  bytes?: Sql;
}

/** Has the records that name one record by `field` name another instead, or none, and tells it of each that lives. */
export function relinks<S extends Shape>({ of, tell, bytes = sql`0` }: Linked<S>, field: string) {
  const { name: table, shape: row, columns } = of;
  const column = rawSql(columnName(field));
  const linked = statement({
    name: `linked ${table} ${field}`,
    takes: { from: uuid, most: nullable(integer) },
    row: { id: uuid, bytes: integer },
    locks: true,
    text: ({ account, from, most }) => sql`
      select t.id, ${bytes} as bytes from ${rawSql(table)} t
      where t.account_id = ${account} and t.${column} = ${from} ${lockedUpTo(most)}`,
  });
  const ends = { ids: listOf(uuid), to: nullable(uuid) };
  const stamped = { ...ends, now: instant };
  const isStamped = 'updatedAt' in row;
  const relink = statement({
    name: `relink ${table} ${field}`,
    takes: isStamped ? stamped : (ends as typeof stamped),
    row,
    changes: true,
    text: ({ account, ids, to, now }) => sql`
      update ${rawSql(table)} t set ${column} = ${to}${isStamped ? sql`, updated_at = ${now}` : emptySql}
      where t.account_id = ${account} and t.id = any(${ids}) returning ${columns}`,
  });
  return (ctx: Context, from: string, to: string | null = null): Promise<void> =>
    changeAll(ctx, {
      find: (most) => ctx.rows(linked, { from, most }),
      change: (ids) => ctx.rows(relink, { ids, to, now: ctx.now() }) as Promise<(RowOf<S> & { deletedAt?: Date | null })[]>,
      tell: async (changed) => {
        if (!changed.deletedAt) await tell(ctx, changed, { [field]: { from, to } });
      },
    });
}
