import { invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { accountSql, allOf, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import type { Operator } from './filterField.js';
import { readFilters } from './filterJson.js';
import type { Condition, ConditionPath } from './filterTree.js';
import { among, between, equal, inText, ordered } from './filterValues.js';
import { isThere, type Relation } from './relation.js';
import { type KeySet, keysBetween, knownOf, noneOf, saidByKeys } from './rowCondition.js';
import type { AnyTable } from './table.js';
import { readWhere } from './whereInput.js';

/**
 * A condition tree `{and: […]}`, `{or: […]}`, `{not: …}` or `{field, op, value}` as SQL over the alias `t`, as saved lists, bulk
 * edits and the parameter `filters` have it; `kernel/matching` evaluates the same over one record in memory. Throws 400 naming the place
 * that is wrong, 403 for what the caller may not see.
 */
export const filterSql = (ctx: Context, table: AnyTable, tree: unknown): Sql => sqlOf(ctx, readFilters(ctx, table, tree));

/** The typed `where` of a list as SQL over the alias `t`. Throws as `filterSql` does. */
export const whereSql = (ctx: Context, table: AnyTable, where: object): Sql => sqlOf(ctx, readWhere(ctx, table, where));

/** The table of the records that filters can be kept for under a name; undefined where there are none. */
export const filterableTable = (ctx: Context, entity: string): AnyTable | undefined =>
  ctx.app.registry.filterable.get(entity) as AnyTable | undefined;

function sqlOf(ctx: Context, condition: Condition): Sql {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return grouped(
        condition.of.map((one) => sqlOf(ctx, one)),
        condition.kind,
      );
    case 'not':
      return isNot(sqlOf(ctx, condition.of));
    case 'compared':
      return compared(ctx, condition);
    case 'related':
      return related(ctx, condition);
  }
}

/** Several conditions as one; one alone is said by the keys that say it. */
function grouped(conditions: Sql[], by: 'and' | 'or'): Sql {
  const [only] = conditions;
  const condition = sql`(${by === 'and' ? allOf(conditions) : joinSql(conditions, ' or ')})`;
  return conditions.length === 1 ? saidByKeys(condition, knownOf(only!).keys) : condition;
}

/** The opposite, which holds too where a row has no value: it is not equal, and none of a list. */
const isNot = (condition: Sql): Sql => saidByKeys(sql`not coalesce(${condition}, false)`, noneOf(knownOf(condition).keys));

const orderings = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function compared(ctx: Context, { field, operator, value, path }: Extract<Condition, { kind: 'compared' }>): Sql {
  const its = { ...field, value: field.value(ctx) };
  const place = { ctx, at: path.name };
  const one = (condition: Sql): Sql => field.some?.(condition, ctx) ?? condition;
  const isPresent = one(sql`${its.value} is not null`);
  const isEqual = () => (value === null ? isNot(isPresent) : one(equal(its, value, place)));
  const isAmong = () => {
    const values = checkedList(value, path);
    const found = one(among(its, values, { ctx, path }));
    return values.includes(null) ? sql`(${found} or ${isNot(isPresent)})` : found;
  };
  const answers: Partial<Record<Operator, () => Sql>> = {
    is_empty: () => (checkedFlag(value, path) ? isNot(isPresent) : isPresent),
    eq: isEqual,
    neq: () => isNot(isEqual()),
    in: isAmong,
    not_in: () => isNot(isAmong()),
    between: () => one(between(its, value, { ctx, path })),
  };
  const answer = answers[operator];
  if (answer) return answer();
  if (operator === 'contains' || operator === 'starts_with' || operator === 'ends_with') return one(inText(its, operator, value, place));
  return one(ordered(its, orderings[operator as keyof typeof orderings], value, place));
}

const most = 200;

/** The values that one of is asked for. Throws 400 where it is no list, or a long one. */
export function checkedList(value: unknown, { name }: ConditionPath): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  throw invalidField(name, Array.isArray(value) ? 'too_many' : 'invalid_type', `must be a list of at most ${most} values`);
}

/** What a condition that asks for a value at all says: true by default. Throws 400. */
export function checkedFlag(value: unknown, { name }: ConditionPath): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw invalidField(name, 'invalid_type', 'must be true or false');
  return value ?? true;
}

/**
 * Whether a relation leads from a row to a record that is there, that the caller may see, and that meets a condition: as a semi-join,
 * or an anti-join where none may. The records stand in a select of their own, so that its alias `t` is theirs.
 */
function related(ctx: Context, { relation, how, of }: Extract<Condition, { kind: 'related' }>): Sql {
  const { to, column } = relation;
  const account = accountSql(ctx.caller.account.id);
  const there = isThere(to, account, to.options.visible?.(ctx));
  const held = relation.kind === 'one' ? { key: `t.${to.key}`, join: undefined } : relation.held;
  const rows = (key: string, join = '') =>
    sql`select ${rawSql(key)} as key from ${rawSql(to.name)} t ${rawSql(join)} where ${there} and ${sqlOf(ctx, of)}`;
  const its = rawSql(`t.${column}`);
  const found = held
    ? sql`exists (select 1 from (${rows(held.key, held.join)}) x where x.key = ${its})`
    : sql`(${its} && array(${rows(`t.${to.key}`)}))`;
  const set = keySet(relation, account, rows);
  return how === 'none' ? saidByKeys(sql`not ${found}`, noneOf(set)) : saidByKeys(found, set);
}

/** The keys of all rows from which a relation to many leads to some of its targets. */
function keySet(relation: Relation, account: Sql, targets: (key: string, join?: string) => Sql): KeySet | undefined {
  if (relation.kind === 'one') return undefined;
  const { held, repeated, to, isLoose } = relation;
  if (isLoose) return undefined;
  if (held) return { keys: targets(held.key, held.join), among: to };
  return repeated && { keys: keysBetween(repeated, account, targets(`t.${to.key}`)), isOfRow: true };
}
