import { GraphQLID, isScalarType } from 'graphql';
import { Float, ID, Int } from 'type-graphql';
import type { Filterable, FilterField } from '../context/context.js';
import type { FilterKind } from '../context/filterable.js';
import { columnName, rawSql } from '../database/sql.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { DateTime, Day, Decimal } from '../model/scalars.js';
import type { Table } from './table.js';

/** What of a table tells what its records are. */
type Source = Pick<Table, 'name' | 'type' | 'columnOf' | 'computed' | 'sorts'>;
type Class = abstract new (...args: never[]) => object;
type Fields = Record<string, FilterField>;

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

/** What the values of a line are compared as: an enumeration as its words, what is no scalar of its own as JSON. */
function kindOf(rule: FieldRule): FilterKind {
  const type = rule.type();
  if (rule.list) return 'json';
  return kinds.get(type) ?? (typeof type === 'object' && !isScalarType(type) ? 'text' : 'json');
}

/**
 * The records of a table as filters know them: every field of the record, by the lines of its model, so that a new one needs no
 * second line here. Fields of several values, such as a contact's tags, are told in `several`. Throws for a field of neither kind.
 */
export function filterableOf(table: Source, several: Fields = {}): Filterable {
  const fields: Fields = {};
  for (const rule of rulesOf(table.type)) {
    const known = several[rule.name] ?? single(table, rule);
    if (!known) throw new Error(`Filters do not know what ${table.type.name}.${rule.name} is`);
    fields[rule.name] = known;
    if (!several[rule.name]) Object.assign(fields, within(table, rule));
  }
  return { table: table.name, fields: { ...fields, ...several }, sorts: Object.keys(table.sorts) };
}

function single(table: Source, rule: FieldRule): FilterField | undefined {
  const column = table.columnOf(rule.name);
  if (column) return { kind: kindOf(rule), value: () => rawSql(column) };
  const computed = table.computed[rule.name]?.sql;
  if (!computed) return undefined;
  return { kind: kindOf(rule), value: (ctx) => (typeof computed === 'function' ? computed(ctx) : computed) };
}

/** The members of an object that is kept as JSON: `attribution.utm_source`. */
function within(table: Source, { name, type, list }: FieldRule): Fields {
  const inner = type();
  const column = table.columnOf(name);
  if (!column || list || typeof inner !== 'function' || kinds.has(inner)) return {};
  return Object.fromEntries(
    rulesOf(inner as Class).map((rule): [string, FilterField] => {
      const kind = kindOf(rule) === 'json' ? 'json' : 'text';
      const reach = kind === 'json' ? '->' : '->>';
      return [`${name}.${rule.name}`, { kind, value: () => rawSql(`(${column} ${reach} '${rule.name}')`) }];
    }),
  );
}

/** The fields of a class's records that hang on a row, over an alias, each under the name of the whole: `products.name`. */
export function fieldsWithin(name: string, type: Class, alias: string, some: NonNullable<FilterField['some']>): Fields {
  const columns = rulesOf(type).map((rule): [string, FilterField] => [
    `${name}.${rule.name}`,
    { kind: kindOf(rule), value: () => rawSql(`${alias}.${columnName(rule.name)}`), some },
  ]);
  return Object.fromEntries(columns);
}
