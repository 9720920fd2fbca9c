import {
  GraphQLBoolean,
  type GraphQLEnumType,
  type GraphQLField,
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isEnumType,
} from 'graphql';
import { memberOf } from '../model/fieldRules.js';
import { DateOrDateTime, Day, Decimal, Json, JsonObject } from '../model/scalars.js';
import { type FilterKind, type Operator, operatorsOf } from '../tables/filterField.js';
import { filterFieldsOf } from '../tables/filterFields.js';
import type { Relation } from '../tables/relation.js';
import type { SortKey } from '../tables/sortKeys.js';
import type { AnyTable } from '../tables/table.js';

/** What the values of each kind are called and written as. */
const values: Record<FilterKind, { name: string; type: GraphQLInputType; what: string }> = {
  text: { name: 'Text', type: GraphQLString, what: 'texts' },
  name: { name: 'Text', type: GraphQLString, what: 'texts' },
  uuid: { name: 'Id', type: GraphQLID, what: 'ids' },
  integer: { name: 'Int', type: GraphQLInt, what: 'whole numbers' },
  numeric: { name: 'Decimal', type: Decimal, what: 'numbers' },
  boolean: { name: 'Boolean', type: GraphQLBoolean, what: 'truth values' },
  timestamptz: { name: 'DateTime', type: DateOrDateTime, what: "moments, of which a day is the whole of it in the workspace's time zone," },
  date: { name: 'Date', type: Day, what: 'days' },
  json: { name: 'Json', type: Json, what: 'JSON values' },
};

const said: Record<Operator, string> = {
  eq: 'Is this; null: there is no value',
  neq: 'Is not this, or has no value; null: there is a value',
  in: 'Is one of these, at most 200; null among them: or has no value',
  not_in: 'Is none of these, at most 200, or has no value; null among them: and has a value',
  is_empty: 'true: has no value; false: has one',
  contains: 'Has this in it, whatever its case',
  starts_with: 'Begins with this, whatever its case',
  ends_with: 'Ends with this, whatever its case',
  gt: 'Is more, later or behind this',
  gte: 'Is this, or more, later or behind it',
  lt: 'Is less, earlier or before this',
  lte: 'Is this, or less, earlier or before it',
  between: 'Is one of these two, or between them',
};

type Fields = Record<string, GraphQLInputFieldConfig>;
const optional = (type: GraphQLInputType, description: string | undefined): GraphQLInputFieldConfig => ({ type, description });

/**
 * The input types of lists, made of what tables and relations declare: conditions for each record type, kind of value and enumeration, and
 * sort keys.
 */
export class ListTypes {
  readonly #types = new Map<string, GraphQLInputObjectType>();

  constructor(private readonly schema: GraphQLSchema) {}

  /** The conditions on the records of a table. */
  of(table: AnyTable): GraphQLInputObjectType {
    const { name } = table.type;
    return this.#input(`${name}Where`, `Conditions on ${name} records: all that are given hold`, () => {
      const self = this.of(table);
      const several = new GraphQLList(new GraphQLNonNull(self));
      return {
        and: optional(several, 'All of these hold'),
        or: optional(several, 'One of these holds, or several'),
        not: optional(self, 'This does not hold'),
        ...this.#fields(table),
      };
    });
  }

  /** The sort keys of a table. */
  orderOf(table: AnyTable): GraphQLInputObjectType {
    const { name } = table.type;
    const order = this.schema.getType('SortOrder') as GraphQLEnumType;
    const shown = (this.schema.getType(name) as GraphQLObjectType).getFields();
    const told = (key: string, { description }: SortKey) => description ?? shown[key]?.description ?? undefined;
    const keys = Object.entries<SortKey>(table.sorts).map(([key, sort]) => [key, optional(order, told(key, sort))] as const);
    return this.#input(`${name}OrderBy`, `A sort key of ${name} records and its direction: one of them`, () => Object.fromEntries(keys));
  }

  #input(name: string, description: string, fields: () => Fields): GraphQLInputObjectType {
    const made = this.#types.get(name) ?? new GraphQLInputObjectType({ name, description, fields });
    this.#types.set(name, made);
    return made;
  }

  #fields(table: AnyTable): Fields {
    const shown = (this.schema.getType(table.type.name) as GraphQLObjectType).getFields();
    const made: Fields = {};
    for (const field of Object.values(shown).filter(({ extensions }) => !extensions.exactOf)) {
      const type = this.#typeOf(table, field);
      if (type) made[memberOf(field)] = optional(type, field.description ?? '');
    }
    return made;
  }

  #typeOf(table: AnyTable, shown: GraphQLField<unknown, unknown>): GraphQLInputType | undefined {
    const { type, extensions } = shown;
    const name = memberOf(shown);
    const relation = extensions.relation as Relation | undefined;
    const field = filterFieldsOf(table)[name];
    if (relation?.kind === 'one') return this.of(relation.to);
    if (relation) return this.#many(relation, field?.kind, table);
    if (!field) return undefined;
    if (name === 'customFields') return JsonObject;
    const named = getNamedType(type);
    const members = Object.keys(filterFieldsOf(table)).filter((one) => one.startsWith(`${name}.`));
    return members.length > 0 ? this.#whole(table, name, named, members) : this.#compared(field.kind, named);
  }

  /** How a value is compared. */
  #compared(kind: FilterKind, named: GraphQLNamedType): GraphQLInputObjectType {
    const { name, type, what } = isEnumType(named)
      ? { name: named.name, type: named as GraphQLEnumType, what: `values of ${named.name}` }
      : values[kind];
    const operators = isEnumType(named) ? operatorsOf('boolean') : operatorsOf(kind);
    return this.#input(`${name}Where`, `How ${what} are compared: all that is given holds`, () => this.#operators(operators, type));
  }

  #operators(operators: readonly Operator[], type: GraphQLInputType): Fields {
    const list = new GraphQLList(type);
    const taken = (operator: Operator) => {
      if (operator === 'is_empty') return GraphQLBoolean;
      if (operator === 'between') return new GraphQLList(new GraphQLNonNull(type));
      return operator === 'in' || operator === 'not_in' ? list : type;
    };
    return Object.fromEntries(operators.map((operator) => [operator, optional(taken(operator), said[operator])]));
  }

  /** An object within a record: its members. */
  #whole(table: AnyTable, name: string, named: GraphQLNamedType, members: readonly string[]): GraphQLInputObjectType {
    return this.#input(`${named.name}Where`, `Conditions on the members of ${named.name}: all that are given hold`, () => {
      const shown = new Map(Object.values((named as GraphQLObjectType).getFields()).map((field) => [memberOf(field), field]));
      const parts = members.map((member) => {
        const own = member.slice(name.length + 1);
        const inner = shown.get(own)!;
        return [
          own,
          optional(this.#compared(filterFieldsOf(table)[member]!.kind, getNamedType(inner.type)), inner.description ?? ''),
        ] as const;
      });
      return { is_empty: optional(GraphQLBoolean, said.is_empty), ...Object.fromEntries(parts) };
    });
  }

  /** The records that a relation leads to; their names too, where the record has them as a field of several values. */
  #many({ to, name }: Relation, kind: FilterKind | undefined, table: AnyTable): GraphQLInputObjectType {
    const target = to.type.name;
    const own = kind ? `${table.type.name}${name.charAt(0).toUpperCase()}${name.slice(1)}` : `${target}Many`;
    return this.#input(`${own}Where`, `Whether there are ${target} records that meet conditions`, () => ({
      some: optional(this.of(to), 'At least one of them does'),
      none: optional(this.of(to), 'None of them does'),
      ...(kind ? this.#operators(operatorsOf(kind), GraphQLString) : {}),
    }));
  }
}
