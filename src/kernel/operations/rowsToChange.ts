import type { Brought } from '../context/rows.js';
import { listOf, type RowOf, type Shape, text, uuid } from '../database/kinds.js';
import { rawSql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { TableRows } from '../database/tableRows.js';

interface Options {
  /** Whether those may be changed, too, that a read by id does not find: to bring back what is deleted. */
  withDeleted?: boolean;
}

/** How rows of a table are read to be changed: those that a read by id finds. */
export function rowsToChange<S extends Shape & { id: unknown }>(
  rows: TableRows<S>,
  { withDeleted = false }: Options = {},
): Brought<RowOf<S>> {
  const { name: table, what, key, shape, columns, counts } = rows;
  const name = withDeleted ? `${table}WithDeleted` : table;
  const found = withDeleted ? sql`true` : rows.found;
  const [from, id] = [rawSql(table), rawSql(`t.${key}`)];
  const versioned = sql`${columns}, t.xmin::text as xmin`;
  const look = statement({
    name: `look at ${name}`,
    takes: { ids: listOf(uuid) },
    row: { ...shape, xmin: text },
    shared: true,
    counts,
    // Whoever looks has asked whether they may.
    beside: true,
    text: ({ account, ids }) =>
      sql`select ${versioned} from ${from} t where t.account_id = ${account} and ${id} = any(${ids}) and ${found}`,
  });
  const lock = statement({
    name: `lock ${name}`,
    takes: { ids: listOf(uuid) },
    row: { id: uuid },
    locks: true,
    // In one order, so that two writers of the same rows wait for each other instead of for ever.
    text: ({ account, ids }) =>
      sql`select ${id} as id from ${from} t where t.account_id = ${account} and ${id} = any(${ids}) and ${found} order by 1 for update`,
  });
  const whole = sql`(select row_to_json(own) from (select ${versioned}) own)`;
  return { table, what, key, reads: `${table} ${columns.text}`, look, lock, whole } as Brought<RowOf<S>>;
}
