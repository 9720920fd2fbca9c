import { invalidChoice, invalidField } from '../base/errors.js';
import type { Context, FilterField } from '../context/context.js';
import { joinSql, type Sql, sql } from '../database/sql.js';
import { among, customField, equal, inText, ordered } from './filterValues.js';

const orderings = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
const ops = ['eq', 'neq', ...Object.keys(orderings), 'in', 'not_in', 'contains', 'starts_with', 'is_null', 'is_not_null'];
const most = 200;

type Fields = Readonly<Record<string, FilterField>>;

/**
 * A condition tree `{and: […]}`, `{or: […]}`, `{not: …}` or `{field, op, value}` as SQL over the alias `t`. Only the given
 * fields can be named, `customFields.<key>` besides, which compares as a number with a number. Throws 400 naming the place that is wrong.
 */
export function filterSql(ctx: Context, fields: Fields, tree: unknown): Sql {
  let seen = 0;
  const walk = (node: unknown, at: string, depth: number): Sql => {
    if (++seen > most || depth > 16) throw invalidField(at, 'too_large', `is too large; at most ${most} conditions, 16 levels`);
    if (typeof node !== 'object' || node === null || Array.isArray(node))
      throw invalidField(at, 'invalid_type', 'must be a condition object');
    checkMembers(node, at);
    const { and, or, not, field, op = 'eq', value } = node as Record<string, unknown>;
    if (and !== undefined) return group(and, ' and ', `${at}.and`, depth);
    if (or !== undefined) return group(or, ' or ', `${at}.or`, depth);
    if (not !== undefined) return isNot(walk(not, `${at}.not`, depth + 1));
    return leaf(ctx, fields, { field, op, value }, at);
  };
  const group = (nodes: unknown, word: string, at: string, depth: number): Sql => {
    if (!Array.isArray(nodes) || nodes.length === 0) throw invalidField(at, 'invalid_type', 'must be a list of conditions');
    const parts = nodes.map((n, i) => walk(n, `${at}.${i}`, depth + 1));
    return sql`(${joinSql(parts, word)})`;
  };
  return walk(tree, 'filters', 0);
}

/** What is not understood must not be passed over: less would be asked than was meant, and more would be found. */
function checkMembers(node: object, at: string): void {
  const given = Object.keys(node);
  const unknown = given.find((name) => !['and', 'or', 'not', 'field', 'op', 'value'].includes(name));
  if (unknown) throw invalidField(`${at}.${unknown}`, 'unknown_field', 'is no part of a condition');
  const group = given.find((name) => ['and', 'or', 'not'].includes(name));
  if (group && given.length > 1) throw invalidField(at, 'conflicting', `must be one condition: ${group}, or another`);
}

type Leaf = Record<'field' | 'op' | 'value', unknown>;

/** The opposite, which holds too where a row has no value: it is not equal, and none of a list. */
const isNot = (condition: Sql): Sql => sql`not coalesce(${condition}, false)`;

function leaf(ctx: Context, fields: Fields, node: Leaf, at: string): Sql {
  const { op, value } = node;
  if (typeof op !== 'string' || !ops.includes(op)) throw invalidChoice(`${at}.op`, ops);
  const field = fieldOf(fields, node, at);
  const compared = { ...field, value: field.value(ctx) };
  const place = { ctx, at: `${at}.value` };
  const one = (condition: Sql): Sql => field.some?.(condition, ctx) ?? condition;
  const isThere = one(field.some ? sql`true` : sql`${compared.value} is not null`);
  const isEqual = () => (value === null ? isNot(isThere) : one(equal(compared, value, place)));
  const isAmong = () => {
    const values = listOf(value, place.at);
    const found = one(among(compared, values, place));
    return values.includes(null) ? sql`(${found} or ${isNot(isThere)})` : found;
  };
  const answers: Record<string, () => Sql> = {
    is_null: () => isNot(isThere),
    is_not_null: () => isThere,
    eq: isEqual,
    neq: () => isNot(isEqual()),
    in: isAmong,
    not_in: () => isNot(isAmong()),
  };
  if (answers[op]) return answers[op]();
  if (op === 'contains' || op === 'starts_with') return one(inText(compared, op, value, place));
  return one(ordered(compared, orderings[op as keyof typeof orderings], value, place));
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  throw invalidField(at, Array.isArray(value) ? 'too_many' : 'invalid_type', `must be a list of at most ${most} values`);
}

const custom = 'customFields.';

function fieldOf(fields: Fields, { field, value }: Leaf, at: string): FilterField {
  if (typeof field !== 'string') throw invalidField(`${at}.field`, 'invalid_type', 'must name a field');
  if (field.startsWith(custom) && field.length > custom.length) return customField(field.slice(custom.length), value);
  if (Object.hasOwn(fields, field)) return fields[field]!;
  const names = Object.keys(fields);
  throw invalidField(`${at}.field`, 'not_allowed', `must be one of ${names.join(', ')} or customFields.<key>`, names);
}

/** For each field of a filter, what it asks of a row over the alias `t`. */
export type Conditions<F> = { [K in keyof F]-?: (value: NonNullable<F[K]>, ctx: Context) => Sql };

/** The conditions of the fields that a filter gives. */
export const conditionsOf = <F extends object>(all: Conditions<F>, ctx: Context, filter: F | null | undefined): Sql[] =>
  Object.entries(filter ?? {}).flatMap(([name, value]) => {
    const build = all[name as keyof F] as ((value: unknown, ctx: Context) => Sql) | undefined;
    return build && value !== null && value !== undefined ? [build(value, ctx)] : [];
  });
