import type { Brought } from '../context/context.js';
import { listOf, type RowOf, type Shape, text, uuid } from '../database/kinds.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';

interface Options {
  /** Which rows may be changed; those that are not deleted by default. */
  live?: Sql;
  /** The column that is a row's id within its account, `id` by default. */
  key?: string;
  /** What the rows are called, the table by default. */
  name?: string;
}

/** How rows of a table, alias `t`, are read to be changed. */
export function rowsToChange<S extends Shape & { id: unknown }>(
  table: string,
  row: S,
  columns: Sql,
  { live = sql`t.deleted_at is null`, key = 'id', name = table }: Options = {},
): Brought<RowOf<S>> {
  const [rows, id] = [rawSql(table), rawSql(`t.${key}`)];
  const versioned = sql`${columns}, t.xmin::text as xmin`;
  const look = statement({
    name: `look at ${name}`,
    takes: { ids: listOf(uuid) },
    row: { ...row, xmin: text },
    shared: true,
    // Whoever looks has asked whether they may.
    beside: true,
    text: ({ account, ids }) => sql`select ${versioned} from ${rows} t where t.account_id = ${account} and ${id} = any(${ids}) and ${live}`,
  });
  const lock = statement({
    name: `lock ${name}`,
    takes: { ids: listOf(uuid) },
    row: { id: uuid },
    locks: true,
    // In one order, so that two writers of the same rows wait for each other instead of for ever.
    text: ({ account, ids }) =>
      sql`select ${id} as id from ${rows} t where t.account_id = ${account} and ${id} = any(${ids}) and ${live} order by 1 for update`,
  });
  const whole = sql`(select row_to_json(own) from (select ${versioned}) own)`;
  return { table, key, reads: `${table} ${columns.text}`, look, lock, whole } as Brought<RowOf<S>>;
}
