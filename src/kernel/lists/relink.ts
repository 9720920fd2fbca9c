import type { Context } from '../context/context.js';
import { instant, nullable, type RowOf, type Shape, uuid } from '../database/kinds.js';
import { columnName, emptySql, rawSql, type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { Changes } from '../events/facts.js';

/** Records that name others by their ids, and how a change of one is told. */
interface Linked<S extends Shape> {
  table: string;
  row: S;
  /** The columns of the row, over the alias `t`. */
  columns: Sql;
  tell(ctx: Context, row: RowOf<S>, changes: Changes): Promise<void>;
}

/** Has the records that name one record by `field` name another instead, or none, and tells it of each that lives. */
export function relinks<S extends Shape>({ table, row, columns, tell }: Linked<S>, field: string) {
  const column = rawSql(columnName(field));
  const ends = { from: uuid, to: nullable(uuid) };
  const stamped = { ...ends, now: instant };
  const isStamped = 'updatedAt' in row;
  const relink = statement({
    name: `relink ${table} ${field}`,
    takes: isStamped ? stamped : (ends as typeof stamped),
    row,
    changes: true,
    text: ({ account, from, to, now }) => sql`
      update ${rawSql(table)} t set ${column} = ${to}${isStamped ? sql`, updated_at = ${now}` : emptySql}
      where t.account_id = ${account} and t.${column} = ${from} returning ${columns}`,
  });
  return async (ctx: Context, from: string, to: string | null = null): Promise<void> => {
    const rows = (await ctx.rows(relink, { from, to, now: ctx.now() })) as (RowOf<S> & { deletedAt?: Date | null })[];
    // All at once, so that what others do about it is done for all of them together.
    await Promise.all(rows.filter(({ deletedAt }) => !deletedAt).map((changed) => tell(ctx, changed, { [field]: { from, to } })));
  };
}
