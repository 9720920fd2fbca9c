import type { Shape } from '../database/kinds.js';
import type { Sql } from '../database/sql.js';
import type { SortOrder } from '../model/connection.js';

/** A sort key: the expression that its index holds, over the alias `t`. */
export interface SortKey {
  by: string;
  type: KeyType;
  nullable?: boolean;
  /** What comes before it, in the same direction and with the same index; never null, nor is the key then. */
  lead?: { by: string; type: KeyType };
  /** A sort that goes column by column, as over a board. */
  board?: Board;
}

/** The columns of a board: their rows are read in order from an index on the column, one column after the other. */
export interface Board {
  /** A select of the columns' `id` and `rank`. */
  columns: (account: string) => Sql;
  /** A row's column, over the alias `t`, and its place in it. */
  column: string;
  place: string;
}

// Places are numeric(30, 15): below 10^15.
export const columnBase = '(g.rank * 1e16)';

/** Column by column, in each by place. */
export const byBoard = (board: Board): SortKey => ({ by: `${columnBase} + ${board.place}`, type: 'numeric', board });

export type KeyType = 'text' | 'timestamptz' | 'date' | 'integer' | 'numeric' | 'boolean';

/** What a list of one table is made of. */
export interface ListSpec<S extends string> {
  table: string;
  /** The column that is a row's id within its account; `id` unless told. */
  key?: string;
  /** The columns of a row, over the alias `t`, and what they are. */
  columns: Sql;
  row?: Shape;
  /** The same as the columns of the REST record, by `printed`: then PostgreSQL writes the record and nobody here reads it. */
  record?: Sql;
  /** Which rows count as live; "not deleted" unless told. */
  live?: Sql;
  /** Whether triggers keep its total; true unless told. */
  counted?: boolean;
  sorts: Record<S, SortKey>;
  byDefault: readonly [S, SortOrder];
}

export const byText = (column: string, nullable = true): SortKey => ({
  by: `lower(t.${column} collate "und-x-icu") collate "C"`,
  type: 'text',
  nullable,
});
export const byTime = (column: string, nullable = false): SortKey => ({ by: `t.${column}`, type: 'timestamptz', nullable });
export const byNumber = (column: string, type: 'integer' | 'numeric' = 'integer', nullable = false): SortKey => ({
  by: `t.${column}`,
  type,
  nullable,
});
