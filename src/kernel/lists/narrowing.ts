import { accountSql, emptySql, keptCount, keptTotal, rawSql, type Sql, sql } from '../database/sql.js';
import { type KeptTotal, type KeySet, knownOf } from '../tables/rowCondition.js';
import type { AnyTable } from '../tables/table.js';

/** How a list that one condition narrows is counted, where that takes less than a look at its rows. */
export interface Narrowed {
  /** Its total, as triggers keep it: a scalar. */
  kept?: Sql;
  /** A select of how many rows it has. */
  counted?: Sql;
  byKeys?: ByKeys;
}

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

/** What a table lists, narrowed by one condition and nothing else. */
export function narrowedBy(table: AnyTable, account: string, condition: Sql): Narrowed {
  const { keys, total, opposed } = knownOf(condition);
  return {
    kept: total && keptTotalOf(total, account),
    counted: opposed && countedByOthers(table, account, opposed),
    byKeys: keys && byKeys(table, account, condition, keys),
  };
}

/** The keys are read among other records where there are so many rows for each of these, or more. */
const rowsEach = 2;

/** Undefined where the keys do not help. */
function byKeys(table: AnyTable, account: string, condition: Sql, { keys, isNone, isOfRow, among }: KeySet): ByKeys | undefined {
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
    holds: isOfRow ? condition : sql`${isNone ? rawSql('not ') : emptySql}exists (select 1 from (${keys}) k where k.key = ${id} offset 0)`,
  };
}

function keptTotalOf({ table, of, isOthers }: KeptTotal, account: string): Sql {
  const kinds = of.map((value) => `${table}:${value}`);
  const those = keptCount(accountSql(account), table, sql`any(${kinds})`);
  return isOthers ? sql`(${keptTotal(accountSql(account), table)} - ${those})` : those;
}

/** How many rows do not meet a condition, counted by those that do; undefined where no total is kept. */
function countedByOthers({ name, listed, isCounted }: AnyTable, account: string, condition: Sql): Sql | undefined {
  if (!isCounted) return undefined;
  const own = sql`t.account_id = ${accountSql(account)} and ${listed}`;
  return sql`select ${keptTotal(accountSql(account), name)} - (select count(*) from ${rawSql(name)} t where ${own} and ${condition})`;
}
