import { accountSql, keptCount, keptTotal, rawSql, type Sql, sql } from '../database/sql.js';
import type { AnyTable } from './table.js';

/** Which of a table's rows meet a condition, by a column of which triggers keep a total for each value (`keep_count_by`). */
export interface KeptTotal {
  table: string;
  /** Those with one of these values, where `''` is none at all; or all others. */
  of: readonly string[];
  isOthers?: boolean;
}

const known = new WeakMap<Sql, KeptTotal>();

/** A condition over the alias `t` that rows meet by such a column alone: a list that nothing else narrows has a total that is kept. */
export function withTotal(condition: Sql, kept: KeptTotal): Sql {
  known.set(condition, kept);
  return condition;
}

/** The kept total of the rows that meet a condition; undefined where none is kept. */
export function keptTotalOf(condition: Sql, account: string): Sql | undefined {
  const kept = known.get(condition);
  if (!kept) return undefined;
  const { table, of, isOthers } = kept;
  const kinds = of.map((value) => `${table}:${value}`);
  const those = keptCount(accountSql(account), table, sql`any(${kinds})`);
  return isOthers ? sql`(${keptCount(accountSql(account), table, sql`${table}`)} - ${those})` : those;
}

const opposites = new WeakMap<Sql, Sql>();

/**
 * Whether a row does not meet a condition, of which indexes tell those that do: how many do not is the kept total without these, so that
 * the others, which may stand anywhere, are not looked at.
 */
export function opposite(condition: Sql): Sql {
  const opposed = sql`(${condition}) is not true`;
  opposites.set(opposed, condition);
  return opposed;
}

/** How many rows meet an opposite, counted by those that do not; undefined for another condition, and where no total is kept. */
export function countedByOthers({ name, listed, isCounted }: AnyTable, account: string, condition: Sql): Sql | undefined {
  const others = opposites.get(condition);
  if (!others || !isCounted) return undefined;
  const own = sql`t.account_id = ${accountSql(account)} and ${listed}`;
  return sql`select ${keptTotal(accountSql(account), name)} - (select count(*) from ${rawSql(name)} t where ${own} and ${others})`;
}
