import { GraphQLID, isScalarType } from 'graphql';
import { Float, ID, Int } from 'type-graphql';
import { numberForm } from '../base/money.js';
import { formsOf } from '../base/unicode.js';
import type { Context } from '../context/context.js';
import { columnName, rawSql, type Sql, sql } from '../database/sql.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { DateTime, Day, Decimal } from '../model/scalars.js';
import type { FilterField, FilterFields, FilterKind } from './filterField.js';
import type { AnyTable, Computed } from './table.js';

type Class = abstract new (...args: never[]) => object;

const kinds = new Map<unknown, FilterKind>([
  [DateTime, 'timestamptz'],
  [Day, 'date'],
  [Decimal, 'numeric'],
  [Float, 'numeric'],
  [Int, 'integer'],
  [Boolean, 'boolean'],
  [ID, 'uuid'],
  [GraphQLID, 'uuid'],
  [String, 'text'],
]);

/** What the values of a type are compared as: an enumeration as its words, what is no scalar of its own as JSON. */
const kindOfType = (type: unknown): FilterKind =>
  kinds.get(type) ?? (typeof type === 'object' && type !== null && !isScalarType(type) ? 'text' : 'json');

/** What one value of a field of a model is compared as. */
export const kindOfRule = ({ type, isCaseless }: FieldRule): FilterKind => (isCaseless ? 'name' : kindOfType(type()));

const known = new WeakMap<AnyTable, FilterFields>();

/**
 * The fields of a table's records as conditions know them: every field of the record that is a column or computed, by the lines of
 * its model, so that a new one needs no second line. Those of several values that are kept elsewhere the table tells as `several`.
 */
export function filterFieldsOf(table: AnyTable): FilterFields {
  const made = known.get(table) ?? { ...rulesFields(table), ...computedFields(table), ...table.options.several };
  known.set(table, made);
  return made;
}

const rulesFields = (table: AnyTable): Record<string, FilterField> =>
  Object.fromEntries(
    rulesOf(table.type).flatMap((rule): [string, FilterField][] => {
      const field = single(table, rule);
      return field ? [[rule.name, field], ...within(table, rule)] : [];
    }),
  );

function single(table: AnyTable, rule: FieldRule): FilterField | undefined {
  const kind = kindOfRule(rule);
  const value = valueIn(table, rule.name, kind);
  if (!value) return undefined;
  const lowered = table.options.lowered?.[rule.name];
  if (!rule.list || kind === 'json') return { kind, value, isLong: rule.isLong, ...(lowered && { lowered }) };
  const some: FilterField['some'] = (condition, ctx) => sql`exists (select 1 from unnest(${value(ctx)}) g(value) where ${condition})`;
  return { kind, value: () => sql`g.value`, some };
}

/** How a computed value is compared that is of another type in a row: an exact number is text there, and an object json. */
const casts: Partial<Record<FilterKind, string>> = { numeric: 'numeric', json: 'jsonb' };

/** What a field of a row is, over the alias `t`. */
function valueIn(table: AnyTable, name: string, kind: FilterKind): FilterField['value'] | undefined {
  const column = table.columnOf(name);
  if (column) return () => rawSql(column);
  if (!table.computed[name]) return undefined;
  const computed = (ctx: Context) => table.computedOf(ctx, name) as Sql;
  const cast = casts[kind];
  return cast ? (ctx) => sql`(${computed(ctx)})::${rawSql(cast)}` : computed;
}

/** What is computed of a record besides the lines of its model, where it is a scalar and not only shown. */
const computedFields = (table: AnyTable): Record<string, FilterField> => {
  const ruled = new Set(rulesOf(table.type).map(({ name }) => name));
  const computed = Object.entries(table.computed as Record<string, Computed>).filter(
    ([name, { type, isShown }]) => type && !isShown && !ruled.has(name),
  );
  return Object.fromEntries(
    computed.flatMap(([name, { type }]): [string, FilterField][] => {
      const kind = kinds.get(type!());
      return kind ? [[name, { kind, value: valueIn(table, name, kind)! }]] : [];
    }),
  );
};

/** The members of an object that is kept or computed as JSON: `attribution.utm_source`. */
function within(table: AnyTable, { name, type, list }: FieldRule): [string, FilterField][] {
  const inner = type();
  const whole = valueIn(table, name, 'json');
  if (!whole || list || typeof inner !== 'function' || kinds.has(inner)) return [];
  return rulesOf(inner as Class).map((rule) => {
    const kind = rule.list ? 'json' : kindOfRule(rule);
    const member = (ctx: Context) => sql`(${whole(ctx)} ${rawSql(kind === 'json' ? '->' : '->>')} ${rawSql(`'${rule.name}'`)})`;
    return [
      `${name}.${rule.name}`,
      { kind, value: kind === 'json' || kind === 'text' || kind === 'name' ? member : (ctx) => sql`${member(ctx)}::${rawSql(kind)}` },
    ];
  });
}

/** The fields of a class's records that hang on a row, over an alias, each under the name of the whole: `products.name`. */
export function fieldsWithin(
  name: string,
  type: Class,
  alias: string,
  some: NonNullable<FilterField['some']>,
): Record<string, FilterField> {
  const columns = rulesOf(type).map((rule): [string, FilterField] => [
    `${name}.${rule.name}`,
    { kind: rule.list ? 'json' : kindOfRule(rule), value: () => rawSql(`${alias}.${columnName(rule.name)}`), some },
  ]);
  return Object.fromEntries(columns);
}

/** What a custom field is compared as: a number with a number, or with numbers. */
export const customKind = (value: unknown): 'text' | 'numeric' =>
  (Array.isArray(value) && value.length > 0 ? value : [value]).every((one) => typeof one === 'number') ? 'numeric' : 'text';

/** What a custom field may hold where a value is asked for: a text also as it was given, since older ones are kept in any form. */
export const formsOfCustom = (value: unknown): unknown[] => (typeof value === 'string' ? formsOf(value) : [value]);

/** The custom field of a key, as what it is compared with says. */
export function customField(key: string, value: unknown): FilterField {
  const text = sql`(t.custom_fields ->> ${key})`;
  const holds = (asked: readonly unknown[]) => {
    const values = asked.flatMap(formsOfCustom);
    if (values.length === 1) return sql`t.custom_fields @> ${JSON.stringify({ [key]: values })}::jsonb`;
    // The items of a list, or what is none.
    const items = sql`jsonb_path_query(t.custom_fields -> ${key}, 'lax $[*]') i(v)`;
    const texts = values.map((value) => JSON.stringify(value));
    return sql`exists (select 1 from ${items} where i.v = any(${texts}::text[]::jsonb[]))`;
  };
  if (customKind(value) === 'text') return { kind: 'text', value: () => text, holds };
  // Null where it is written as no number.
  const number = sql`substring(${text} from ${rawSql(`'${numberForm}'`)})::numeric`;
  return { kind: 'numeric', value: () => number, holds };
}
