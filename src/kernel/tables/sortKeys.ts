import type { Sql } from '../database/sql.js';
import type { SortOrder } from '../model/connection.js';

/** A sort key: the expression that its index holds, over the alias `t`. */
export interface SortKey {
  by: string;
  type: KeyType;
  nullable?: boolean;
  /** What comes before it, in the same direction and with the same index; never null, nor is the key then. */
  lead?: { by: string; type: KeyType };
  /** What `orderBy` says of it, where it is more than the field of its name. */
  description?: string;
  /** A sort that goes column by column, as over a board. */
  board?: Board;
}

/** A part of a list's order: an expression and its direction. */
export interface OrderKey {
  by: string;
  type: KeyType;
  nullable?: boolean;
  order: SortOrder;
}

/** A sort key as the parts of an order. */
export const orderKeys = ({ by, type, nullable, lead }: SortKey, order: SortOrder): OrderKey[] => [
  ...(lead ? [{ ...lead, order }] : []),
  { by, type, nullable, order },
];

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

/** What texts are sorted by, in an index and in a list that a record carries. */
export const textOrder = (column: string): string => `lower(${column} collate "und-x-icu")`;

export type KeyType = 'text' | 'timestamptz' | 'date' | 'integer' | 'numeric' | 'boolean';

/**
 * Text as ICU's root collation sorts it, ä beside a, without regard to case. lower() hands the collation on to whatever it is
 * compared with, so that the key in a cursor is compared as the index sorts.
 */
export const byText = (column: string, nullable = true): SortKey => ({
  by: textOrder(`t.${column}`),
  type: 'text',
  nullable,
});
export const byTime = (column: string, nullable = false): SortKey => ({ by: `t.${column}`, type: 'timestamptz', nullable });
export const byNumber = (column: string, type: 'integer' | 'numeric' = 'integer', nullable = false): SortKey => ({
  by: `t.${column}`,
  type,
  nullable,
});
