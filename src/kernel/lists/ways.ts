import { allOf, joinSql, rawSql, type Sql, sql } from '../database/sql.js';

const known = new WeakMap<Sql, readonly Sql[]>();

/**
 * A condition over the alias `t` that a row of a table meets in one of several ways, of which each is found by an index of its own: by
 * its title, or by the name of its contact. An `or` over all would look at every row that one index finds with the conditions of the
 * others. `own` says which rows are looked among.
 */
export function inAnyWay(table: string, own: Sql, ways: readonly Sql[]): Sql {
  const rows = ways.map((way) => sql`select t.id from ${rawSql(table)} t where ${own} and ${way}`);
  const condition = sql`t.id in (${joinSql(rows, ' union ')})`;
  known.set(condition, ways);
  return condition;
}

/** The ways in which a row meets all of some conditions; undefined where there is but one. */
export function waysOf(conditions: readonly Sql[]): Sql[] | undefined {
  const some = conditions.find((condition) => known.has(condition));
  const others = conditions.filter((condition) => condition !== some);
  return some && known.get(some)!.map((way) => allOf([...others, way]));
}
