import type { Context } from '../context/context.js';
import type { Sql } from '../database/sql.js';

/** What the values of a field are compared as; a name is text whatever its case, as is an e-mail address. */
export type FilterKind = 'text' | 'name' | 'uuid' | 'integer' | 'numeric' | 'boolean' | 'timestamptz' | 'date' | 'json';

/** A field that a condition may name, of whatever the condition is about. */
export interface KnownField {
  kind: FilterKind;
}

/** A field of a table's rows that a condition may name. */
export interface FilterField extends KnownField {
  /** The value of a row, over the alias `t`; null where there is none. */
  value(ctx: Context): Sql;
  /** Of a field with several values: whether one of them meets a condition over `value`. */
  some?(condition: Sql, ctx: Context): Sql;
  /** Of a name that the row has in lower case as well: that, over the alias `t`. */
  lowered?: Sql;
  /** Of a text of tens of kilobytes or more. */
  isLong?: boolean;
  /** Of a field that may be kept as a list of JSON, or as a text of any form: whether it holds one of these values. */
  holds?(values: readonly unknown[]): Sql;
}

export type FilterFields = Readonly<Record<string, FilterField>>;

const ofAll = ['eq', 'neq', 'in', 'not_in', 'is_empty'] as const;
const ofOrdered = ['gt', 'gte', 'lt', 'lte', 'between'] as const;
const ofTexts = ['contains', 'starts_with', 'ends_with'] as const;

/** How a field may be compared with a value. */
export type Operator = (typeof ofAll)[number] | (typeof ofOrdered)[number] | (typeof ofTexts)[number];

const ofKind = (kind: FilterKind): readonly Operator[] => {
  if (kind === 'text' || kind === 'name') return [...ofAll, ...ofTexts, ...ofOrdered];
  return kind === 'uuid' || kind === 'boolean' || kind === 'json' ? ofAll : [...ofAll, ...ofOrdered];
};

const operators = new Map<FilterKind, readonly Operator[]>();

/** The operators that fit the values of a kind. */
export function operatorsOf(kind: FilterKind): readonly Operator[] {
  const known = operators.get(kind) ?? ofKind(kind);
  operators.set(kind, known);
  return known;
}
