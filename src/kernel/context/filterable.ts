import type { Sql } from '../database/sql.js';

/** What the values of a field are compared as; a name is text whatever its case. */
export type FilterKind = 'text' | 'name' | 'uuid' | 'integer' | 'numeric' | 'boolean' | 'timestamptz' | 'date' | 'json';

/** A field that a filter may name. */
export interface FilterFieldOf<C> {
  kind: FilterKind;
  /** The value of a row, over the alias `t`; null where there is none. */
  value(ctx: C): Sql;
  /** Of a field with several values: whether one of them meets a condition over `value`. */
  some?(condition: Sql, ctx: C): Sql;
  /** Of a field that may be kept as a list of JSON: whether it holds a value. */
  holds?(value: unknown): Sql;
}

/** Records that a filter can be kept for. */
export interface FilterableOf<C> {
  table: string;
  fields: Readonly<Record<string, FilterFieldOf<C>>>;
  /** The sort keys of their list. */
  sorts: readonly string[];
}
