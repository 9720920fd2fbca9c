import { accountSql, emptySql, keptTotal, rawSql, type Sql, sql } from '../database/sql.js';
import type { AnyTable } from './table.js';

/**
 * The rows that meet a condition, by what other records hold of them: all contacts that carry a tag stand in `contact_tags`, all that
 * have a deal in `deals`. They are counted there, and not looked at one by one.
 */
export interface KeySet {
  /**
   * A select of `key`: the keys of all rows that meet the condition, deleted or not, in any order, some of them several times or null.
   * A foreign key holds each: it is that of a row which is there.
   */
  keys: Sql;
  /** Where the keys are those of the rows that do not meet it. */
  isNone?: boolean;
  /** Whether a row alone tells that it meets the condition: nothing else is looked at for each. */
  isOfRow?: boolean;
  /** The table that holds them, where most of it may belong to few rows: all contacts to each of five users. */
  among?: AnyTable;
}

const known = new WeakMap<Sql, KeySet>();

/** A condition over the alias `t` that a key set says, too. */
export function saidByKeys(condition: Sql, set: KeySet | undefined): Sql {
  if (set) known.set(condition, set);
  return condition;
}

/** The key set that says the same as a condition; undefined where none does. */
export const keySetOf = (condition: Sql): KeySet | undefined => known.get(condition);

/** The opposite of a key set. */
export const noneOf = (set: KeySet | undefined): KeySet | undefined => set && { ...set, isNone: !set.isNone };

/** A table that holds the keys of rows beside those of others. */
export interface Between {
  table: string;
  of: string;
  to: string;
}

/** The keys that a table holds beside some others, of which a select tells. */
export const keysBetween = ({ table, of, to }: Between, account: Sql, others: Sql): Sql =>
  sql`select b.${rawSql(of)} as key from ${rawSql(table)} b where b.account_id = ${account} and b.${rawSql(to)} = any(array(${others}))`;

/** A list that one key set narrows. */
export interface ByKeys {
  /** How many rows it has, null where looking at each row takes less time. */
  count: Sql;
  /** How many it has without the condition, and which these are, over the alias `t`. */
  all: Sql;
  listed: Sql;
  /** Whether a row of these meets it: looked up for each that is asked about, whatever the statistics say. */
  holds: Sql;
}

/** The keys are read among other records where there are so many rows for each of these, or more. */
const rowsEach = 2;

/** What a table lists, narrowed by a condition that a key set says. Undefined where that does not help. */
export function byKeys(table: AnyTable, account: string, condition: Sql): ByKeys | undefined {
  const set = keySetOf(condition);
  if (!set) return undefined;
  const { keys, isNone, among } = set;
  if (!table.isCounted || among?.isCounted === false) return undefined;
  const [name, id, all] = [rawSql(table.name), table.id, keptTotal(accountSql(account), table.name)];
  const own = sql`t.account_id = ${account}::uuid`;
  const different = sql`select count(*) from (select distinct k.key from (${keys}) k where k.key is not null) d`;
  // Rows that the list does not show are few, or none, and stand in an index of their own where there may be many.
  const unlisted = sql`select count(*) from ${name} t where ${own} and not (${table.listed}) and ${id} in (select k.key from (${keys}) k)`;
  const found = sql`(${different}) - (${unlisted})`;
  const count = isNone ? sql`${all} - (${found})` : found;
  const fits = among && sql`${keptTotal(accountSql(account), among.name)} * ${rawSql(String(rowsEach))} <= ${all}`;
  return {
    count: fits ? sql`(case when ${fits} then ${count} end)` : sql`(${count})`,
    all,
    listed: sql`${own} and ${table.listed}`,
    holds: set.isOfRow
      ? condition
      : sql`${isNone ? rawSql('not ') : emptySql}exists (select 1 from (${keys}) k where k.key = ${id} offset 0)`,
  };
}
