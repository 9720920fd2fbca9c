import { invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { checkListArgs } from '../model/connection.js';
import { rulesOf } from '../model/fieldRules.js';
import type { FilterField } from '../tables/filterField.js';
import { filterFieldsOf } from '../tables/filterFields.js';
import type { AnyTable } from '../tables/table.js';
import { inKnownZone, keptLocalSql } from '../tables/zones.js';
import { windowOf } from './window.js';

/** The most groups that an aggregate answers. */
export const mostGroups = 1000;

/** The most fields that records are grouped by. */
export const mostKeys = 2;

export const periods = ['day', 'week', 'month'] as const;

/** What records are grouped by: a field, or the day, week or month of a date. */
export interface GroupKey {
  field: string;
  by?: (typeof periods)[number] | null;
}

export interface AggregateArgs {
  filter?: object | null;
  where?: object | null;
  groupBy?: readonly GroupKey[] | null;
}

/** The records of one group in numbers, exact ones as text. */
export interface Aggregate {
  key: Record<string, unknown>;
  count: number;
  sum: Record<string, unknown>;
  avg: Record<string, unknown>;
  min: Record<string, unknown>;
  max: Record<string, unknown>;
}

const isNumber = ({ kind }: FilterField) => kind === 'integer' || kind === 'numeric';
const isDate = ({ kind }: FilterField) => kind === 'timestamptz' || kind === 'date';

/** The fields of a table's records of which there is one value each. */
const singleFields = (table: AnyTable): [name: string, field: FilterField][] =>
  Object.entries(filterFieldsOf(table)).filter(([name, field]) => !field.some && !name.includes('.'));

/** The fields that are added up and averaged. */
export const numbersOf = (table: AnyTable) => singleFields(table).filter(([, field]) => isNumber(field));

/** The fields of which there is a least and a greatest. */
export const boundsOf = (table: AnyTable) => singleFields(table).filter(([, field]) => isNumber(field) || isDate(field));

const isWords = ({ kind }: FilterField) => kind === 'text' || kind === 'name';

/** The longest text that groups are made by. */
const longestText = 500;

/** The fields that records are grouped by: what says of which sort a record is, dates, and references to other records. */
export function groupsOf(table: AnyTable): [name: string, field: FilterField][] {
  const rules = new Map(rulesOf(table.type).map((rule) => [rule.name, rule]));
  const isShort = (name: string) => {
    const rule = rules.get(name);
    if (!rule || rule.type() !== String) return true;
    // A long text says nothing of its length.
    return Object.keys(rule.schema).length > 0 && Number(rule.schema.maxLength ?? 0) <= longestText;
  };
  return singleFields(table).filter(([name, field]) => {
    if (isWords(field)) return isShort(name);
    return isDate(field) || field.kind === 'boolean' || (field.kind === 'uuid' && name !== 'id');
  });
}

/** Throws 400 naming the place for groups that there cannot be. */
function checkGroups(table: AnyTable, keys: readonly GroupKey[]): void {
  if (keys.length > mostKeys) throw invalidField('groupBy', 'too_many', `must be at most ${mostKeys} fields`);
  for (const [i, { field, by }] of keys.entries()) {
    if (by && !isDate(filterFieldsOf(table)[field]!))
      throw invalidField(`groupBy[${i}].by`, 'not_allowed', `applies to dates only; ${field} is not a date`);
    if (keys.findIndex((key) => key.field === field) < i) throw invalidField(`groupBy[${i}].field`, 'conflicting', 'is grouped by already');
  }
}

/**
 * The records that a list finds in numbers: those that are selected (`count`, `sum.value`), in groups in the order of their keys, a
 * group without a value last; one statement. Throws 400 naming the argument at fault, and for more groups than there may be.
 */
export async function aggregateOf(
  ctx: Context,
  table: AnyTable,
  args: AggregateArgs,
  selection: ReadonlySet<string>,
): Promise<Aggregate[]> {
  const keys = args.groupBy ?? [];
  checkListArgs(table.options.list, args, ctx);
  checkGroups(table, keys);
  const { where, total: counting } = await windowOf(ctx, table, args, { withTotal: true });
  const figures = figuresIn(table, selection);
  if (typeof counting !== 'string' && keys.length === 0 && figures.length === 0) {
    const none = rawSql(['key', ...ways].map((name) => `'${name}', json_build_object()`).join(', '));
    const total = sql`select json_build_array(json_build_object(${none}, 'count', ${counting}))::text`;
    return JSON.parse(await ctx.planned(total)) as Aggregate[];
  }
  const { timezone } = ctx.caller.account;
  const text = await inKnownZone(
    () => ctx.longRead(() => ctx.text(groupsSql(ctx, table, { where, keys, figures }))),
    () => invalidField('groupBy', 'not_allowed', `asks for days of ${timezone}, a time zone that the database does not know`),
  );
  const groups = JSON.parse(text) as Aggregate[];
  ctx.request.budget?.read(groups, text.length);
  if (groups.length > mostGroups)
    throw invalidField('groupBy', 'too_many', `makes more than ${mostGroups} groups; narrow the list, or group by less`);
  return groups;
}

const ways = ['sum', 'avg', 'min', 'max'] as const;
type Way = (typeof ways)[number];

interface Figure {
  way: Way;
  name: string;
  field: FilterField;
}

/** What is selected of sums, averages and bounds; the exact form of an amount is the same figure. */
function figuresIn(table: AnyTable, selection: ReadonlySet<string>): Figure[] {
  return ways.flatMap((way) => {
    const fields = way === 'sum' || way === 'avg' ? numbersOf(table) : boundsOf(table);
    const isAsked = (name: string) => selection.has(`${way}.${name}`) || selection.has(`${way}.${name}Exact`);
    return fields.filter(([name]) => isAsked(name)).map(([name, field]) => ({ way, name, field }));
  });
}

/** The places of an average behind the point. */
const places = 6;

function figureSql({ way, field }: Figure, value: Sql): Sql {
  if (!isNumber(field)) return sql`${rawSql(way)}(${value})`;
  const figure = sql`${rawSql(way)}((${value})::numeric)`;
  const rounded = way === 'avg' ? sql`round(${figure}, ${places}::int)` : figure;
  return sql`trim_scale(${rounded})::text`;
}

/** What a row's group is called. A day, week or month is that of the workspace, and is called by its first day. */
function keySql(ctx: Context, table: AnyTable, { field: name, by }: GroupKey): Sql {
  const field = filterFieldsOf(table)[name]!;
  const value = field.value(ctx);
  if (!isDate(field)) return value;
  const local = field.kind === 'date' ? sql`(${value})::timestamp` : keptLocalSql(value, ctx.caller.account.timezone);
  return sql`date_trunc(${by ?? 'day'}, ${local})::date`;
}

interface Asked {
  where: Sql;
  keys: readonly GroupKey[];
  figures: readonly Figure[];
}

function groupsSql(ctx: Context, table: AnyTable, { where, keys, figures }: Asked): Sql {
  const columns = [
    ...keys.map((key, i) => sql`${keySql(ctx, table, key)} as ${rawSql(`k${i}`)}`),
    ...figures.map(({ field }, i) => sql`${field.value(ctx)} as ${rawSql(`v${i}`)}`),
  ];
  const rows = sql`select ${columns.length > 0 ? joinSql(columns, ', ') : rawSql('1')} from ${rawSql(table.name)} t where ${where}`;
  const names = keys.map((_key, i) => `r.k${i}`).join(', ');
  const order = keys
    .map(({ field }, i) => `k${i}${isWords(filterFieldsOf(table)[field]!) ? ' collate "und-x-icu"' : ''} nulls last`)
    .join(', ');
  const told = [
    ...keys.map((_key, i) => rawSql(`r.k${i}`)),
    rawSql('count(*)::int as n'),
    ...figures.map((figure, i) => sql`${figureSql(figure, rawSql(`r.v${i}`))} as ${rawSql(`f${i}`)}`),
  ];
  const grouping = keys.length > 0 ? rawSql(`group by ${names} order by ${order} limit ${mostGroups + 1}`) : rawSql('');
  const object = (members: readonly [name: string, column: string][]) =>
    `json_build_object(${members.map(([name, column]) => `'${name}', g.${column}`).join(', ')})`;
  const parts = [
    `'key', ${object(keys.map(({ field }, i) => [field, `k${i}`]))}`,
    `'count', g.n`,
    ...ways.map((way) => `'${way}', ${object(figures.flatMap((one, i) => (one.way === way ? [[one.name, `f${i}`] as const] : [])))}`),
  ].join(', ');
  const inOrder = keys.length > 0 ? ` order by ${order.replaceAll(/\bk(\d)/g, 'g.k$1')}` : '';
  return sql`select coalesce(json_agg(${rawSql(`json_build_object(${parts})${inOrder}`)}), '[]')::text
    from (select ${joinSql(told, ', ')} from (${rows}) r ${grouping}) g`;
}
