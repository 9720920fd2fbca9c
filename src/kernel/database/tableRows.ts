import type { Shape } from './kinds.js';
import type { Sql } from './sql.js';

/** Rows of a table, over the alias `t`: which there are, and what is read of each. A `Table` is such, and what its `reading` answers. */
export interface TableRows<S extends Shape = Shape> {
  /** The table. */
  readonly name: string;
  /** How messages name one. */
  readonly what: string;
  /** The column that is a row's id within its account. */
  readonly key: string;
  /** Which there are: those that relations lead to. */
  readonly live: Sql;
  /** Which of them a read by id finds. */
  readonly found: Sql;
  readonly shape: S;
  readonly columns: Sql;
  /** Whether the columns count records of other tables, or sum them up, so that to read a row takes longer the more there are. */
  readonly counts: boolean;
}
