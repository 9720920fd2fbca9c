import { invalidChoice, invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { isUuid, moment } from '../model/checks.js';
import type { FilterField } from '../model/filterable.js';
import { since, until } from './dateRanges.js';

const comparisons: Record<string, string> = { eq: '=', neq: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' };
const ops = [...Object.keys(comparisons), 'in', 'not_in', 'contains', 'starts_with', 'is_null', 'is_not_null'];
const most = 200;

/**
 * A condition tree `{and: […]}`, `{or: […]}`, `{not: …}` or `{field, op, value}` as SQL over the alias `t`. Only the given
 * fields can be named, `customFields.<key>` besides, which compares as a number with a number. Throws 400 naming the place that is wrong.
 */
export function filterSql(ctx: Context, fields: Record<string, FilterField>, tree: unknown): Sql {
  let seen = 0;
  const walk = (node: unknown, at: string, depth: number): Sql => {
    if (++seen > most || depth > 16) throw invalidField(at, 'too_large', `is too large; at most ${most} conditions, 16 levels`);
    if (typeof node !== 'object' || node === null || Array.isArray(node))
      throw invalidField(at, 'invalid_type', 'must be a condition object');
    checkMembers(node, at);
    const { and, or, not, field, op = 'eq', value } = node as Record<string, unknown>;
    if (and !== undefined) return group(and, ' and ', `${at}.and`, depth);
    if (or !== undefined) return group(or, ' or ', `${at}.or`, depth);
    if (not !== undefined) return sql`not coalesce(${walk(not, `${at}.not`, depth + 1)}, false)`;
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

/** Dates compare as in the date ranges of lists: a day is the whole of it, in the workspace's time zone. */
const onDates: Record<string, (column: string, moment: string, ctx: Context) => Sql> = {
  gte: since,
  lte: until,
  lt: (...of) => sql`not (${since(...of)})`,
  gt: (...of) => sql`not (${until(...of)})`,
  eq: (...of) => sql`(${since(...of)} and ${until(...of)})`,
  neq: (...of) => sql`not (${since(...of)} and ${until(...of)})`,
};

type Leaf = Record<'field' | 'op' | 'value', unknown>;

function leaf(ctx: Context, fields: Record<string, FilterField>, node: Leaf, at: string): Sql {
  const { field, op, value } = node;
  if (typeof op !== 'string' || !ops.includes(op)) throw invalidChoice(`${at}.op`, ops);
  const [column, type] = columnOf(fields, node, at);
  if (op === 'is_null') return sql`${column} is null`;
  if (op === 'is_not_null') return sql`${column} is not null`;
  if (op === 'contains' || op === 'starts_with') return inText(column, op, value, at);
  if (op === 'in' || op === 'not_in') return among(column, type, op, value, at);
  if (value === null && op === 'eq') return sql`${column} is null`;
  if (value === null && op === 'neq') return sql`${column} is not null`;
  if (type === 'timestamptz') return onDates[op]!(`t.${fields[field as string]![0]}`, literal(value, type, `${at}.value`), ctx);
  return sql`${column} ${rawSql(comparisons[op]!)} ${literal(value, type, `${at}.value`)}::${rawSql(type)}`;
}

function inText(column: Sql, op: string, value: unknown, at: string): Sql {
  if (typeof value !== 'string') throw invalidField(`${at}.value`, 'invalid_type', 'must be a string');
  const place = sql`strpos(lower(${column}::text), ${value.toLowerCase()})`;
  return op === 'contains' ? sql`${place} > 0` : sql`${place} = 1`;
}

function among(column: Sql, type: FilterField[1], op: string, value: unknown, at: string): Sql {
  if (!Array.isArray(value) || value.length > most)
    throw invalidField(`${at}.value`, Array.isArray(value) ? 'too_many' : 'invalid_type', `must be a list of at most ${most} values`);
  const values = value.map((item, i) => literal(item, type, `${at}.value.${i}`));
  const list = sql`${column} = any(${values}::${rawSql(type)}[])`;
  return op === 'in' ? list : sql`not coalesce(${list}, false)`;
}

function columnOf(fields: Record<string, FilterField>, { field, value }: Leaf, at: string): [Sql, FilterField[1]] {
  if (typeof field !== 'string') throw invalidField(`${at}.field`, 'invalid_type', 'must name a field');
  if (field.startsWith('customFields.')) {
    const text = sql`(t.custom_fields ->> ${field.slice('customFields.'.length)})`;
    if (typeof value !== 'number') return [text, 'text'];
    return [sql`(case when ${text} ~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' then ${text}::numeric end)`, 'numeric'];
  }
  const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!known) {
    const names = Object.keys(fields);
    throw invalidField(`${at}.field`, 'not_allowed', `must be one of ${names.join(', ')} or customFields.<key>`, names);
  }
  return [rawSql(`t.${known[0]}`), known[1]];
}

const tests: Record<FilterField[1], (text: string, report: () => void) => unknown> = {
  text: () => undefined,
  uuid: (text, report) => (isUuid(text) ? undefined : report()),
  integer: (text, report) => (/^-?\d{1,9}$/.test(text) ? undefined : report()),
  numeric: (text, report) => (/^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? undefined : report()),
  boolean: (text, report) => (/^(true|false)$/.test(text) ? undefined : report()),
  timestamptz: (text, report) => moment(text, '', () => report(), undefined as never) ?? report(),
};

const words: Record<FilterField[1], string> = {
  text: 'a text',
  uuid: 'a UUID',
  integer: 'an integer',
  numeric: 'a number',
  boolean: 'true or false',
  timestamptz: 'a day (YYYY-MM-DD) or an ISO 8601 date-time',
};

/** A scalar as text that PostgreSQL can read as the column's type. */
function literal(value: unknown, type: FilterField[1], at: string): string {
  const refuse = () => {
    throw invalidField(at, 'invalid_format', `must be ${words[type]}`);
  };
  if (!['string', 'number', 'boolean'].includes(typeof value)) refuse();
  const text = String(value);
  return String(tests[type](text, refuse) ?? text);
}

/** For each field of a filter, what it asks of a row over the alias `t`. */
export type Conditions<F> = { [K in keyof F]-?: (value: NonNullable<F[K]>, ctx: Context) => Sql };

/** The conditions of the fields that a filter gives. */
export const conditionsOf = <F extends object>(all: Conditions<F>, ctx: Context, filter: F | null | undefined): Sql[] =>
  Object.entries(filter ?? {}).flatMap(([name, value]) => {
    const build = all[name as keyof F] as ((value: unknown, ctx: Context) => Sql) | undefined;
    return build && value !== null && value !== undefined ? [build(value, ctx)] : [];
  });
