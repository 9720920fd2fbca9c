import { allOf, joinSql, rawSql, type Sql, SqlValue, sql } from '../database/sql.js';
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

/** Which of a table's rows meet a condition, by a column of which triggers keep a total for each value (`keep_count_by`). */
export interface KeptTotal {
  table: string;
  /** Those with one of these values, where `''` is none at all; or all others. */
  of: readonly string[];
  isOthers?: boolean;
}

/** What is known of a condition besides its text: how its rows are counted, or found, without a look at each. */
export interface Known {
  keys?: KeySet;
  total?: KeptTotal;
  /** The condition of which this is the opposite: indexes tell the rows that meet it. */
  opposed?: Sql;
  /** The conditions of which a row meets one or more, each found by an index of its own. */
  ways?: readonly Sql[];
}

/**
 * A condition over the alias `t` of which more is known than its text says. Part of another condition, it is its text alone: what is
 * known is used where a list is narrowed by nothing else.
 */
export class RowCondition extends SqlValue {
  constructor(
    condition: Sql,
    readonly known: Known,
  ) {
    super(condition.strings, condition.values);
  }
}

/** What is known of a condition. */
export const knownOf = (condition: Sql): Known => (condition instanceof RowCondition ? condition.known : {});

/** A condition that a key set says, too. */
export const saidByKeys = (condition: Sql, keys: KeySet | undefined): Sql => (keys ? new RowCondition(condition, { keys }) : condition);

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

/** A condition that rows meet by a column of which totals are kept: a list that nothing else narrows has a total that is kept. */
export const withTotal = (condition: Sql, total: KeptTotal): Sql => new RowCondition(condition, { total });

/**
 * Whether a row does not meet a condition, of which indexes tell those that do: how many do not is the kept total without these, so that
 * the others, which may stand anywhere, are not looked at.
 */
export const opposite = (condition: Sql): Sql => new RowCondition(sql`(${condition}) is not true`, { opposed: condition });

/**
 * A condition that a row of a table meets in one of several ways, of which each is found by an index of its own: by its title, or by the
 * name of its contact. An `or` over all would look at every row that one index finds with the conditions of the others. `own` says which
 * rows are looked among.
 */
export function inAnyWay(table: string, own: Sql, ways: readonly Sql[]): Sql {
  const rows = ways.map((way) => sql`select t.id from ${rawSql(table)} t where ${own} and ${way}`);
  return new RowCondition(sql`t.id in (${joinSql(rows, ' union ')})`, { ways });
}

/** The ways in which a row meets all of some conditions; undefined where there is but one. */
export function waysOf(conditions: readonly Sql[]): Sql[] | undefined {
  const some = conditions.find((condition) => knownOf(condition).ways);
  const others = conditions.filter((condition) => condition !== some);
  return some && knownOf(some).ways?.map((way) => allOf([...others, way]));
}
