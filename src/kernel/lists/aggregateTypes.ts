import {
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
} from 'graphql';
import type { Context } from '../context/context.js';
import { selectionOf } from '../model/connection.js';
import { Day, Decimal } from '../model/scalars.js';
import type { FilterField } from '../tables/filterField.js';
import type { ToOne } from '../tables/relation.js';
import type { AnyTable } from '../tables/table.js';
import { type AggregateArgs, aggregateOf, boundsOf, groupsOf, mostGroups, mostKeys, numbersOf, periods } from './aggregate.js';
import { recordLoader } from './relationRows.js';

type Fields = GraphQLFieldConfigMap<unknown, Context>;
type Shown = Record<string, GraphQLField<unknown, unknown>>;

/** It takes as long as reading so many records, however few groups it answers. */
const weight = 10_000;

const GroupPeriod = new GraphQLEnumType({
  name: 'GroupPeriod',
  description: "A stretch of time of which dates are put into one group, in the workspace's time zone; a week begins on Monday",
  values: Object.fromEntries(periods.map((period) => [period, { description: `Those of one ${period}` }])),
});

/** Parts of an answer that are no records: they cost nothing besides them. */
const structure = { isStructure: true };

/** The root field that answers what a list finds in numbers, made of the fields of its table. */
export function aggregateField(
  schema: GraphQLSchema,
  list: GraphQLField<unknown, unknown>,
  table: AnyTable,
): GraphQLFieldConfig<unknown, Context> {
  const { name } = table.type;
  const record = schema.getType(name) as GraphQLObjectType;
  const arg = (wanted: string) => list.args.find((one) => one.name === wanted) as GraphQLArgument;
  const type = aggregateType(record, table);
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
    description: `${name} records in numbers, over all that the list of the same arguments finds: as a whole, or in at most ${mostGroups} groups`,
    args: {
      filter: { type: arg('filter').type, description: arg('filter').description },
      where: { type: arg('where').type, description: arg('where').description },
      groupBy: {
        type: new GraphQLList(new GraphQLNonNull(groupInput(record, table))),
        description: `At most ${mostKeys} fields that the records are grouped by; by default all of them are one group`,
      },
    },
    extensions: { access: list.extensions.access, holds: mostGroups, weighs: weight },
    resolve: (_root, args, ctx, info) => aggregateOf(ctx, table, args as AggregateArgs, selectionOf(info)),
  };
}

function groupInput(record: GraphQLObjectType, table: AnyTable): GraphQLInputObjectType {
  const shown = record.getFields();
  const field = new GraphQLEnumType({
    name: `${record.name}GroupField`,
    description: `The fields that ${record.name} records are grouped by`,
    values: Object.fromEntries(groupsOf(table).map(([name]) => [name, { description: shown[name]?.description }])),
  });
  return new GraphQLInputObjectType({
    name: `${record.name}GroupBy`,
    description: `What ${record.name} records are grouped by: those of one value are a group, and those without one`,
    fields: {
      field: { type: new GraphQLNonNull(field), description: 'The field' },
      by: { type: GroupPeriod, description: 'Of a date: how long a group is; a day by default' },
    },
  });
}

function aggregateType(record: GraphQLObjectType, table: AnyTable): GraphQLObjectType {
  const { name } = record;
  const shown = record.getFields() as Shown;
  const part = (suffix: string, description: string, fields: Fields) =>
    new GraphQLObjectType({ name: `${name}${suffix}`, description, fields, extensions: structure });
  const key = part(
    'GroupKey',
    `The values that a group of ${name} records has in common; null where there is none`,
    keyFields(shown, table),
  );
  const bounds = part('Bounds', `The least or the greatest values of ${name} records`, figureFields(shown, boundsOf(table), boundType));
  const numbers = numbersOf(table);
  const figures =
    numbers.length > 0 &&
    part(
      'Figures',
      `Figures over ${name} records`,
      figureFields(shown, numbers, () => Decimal),
    );
  const one = (type: GraphQLObjectType, description: string) => ({ type: new GraphQLNonNull(type), description });
  const { scope } = record.extensions;
  return new GraphQLObjectType({
    name: `${name}Aggregate`,
    description: `A group of ${name} records in numbers`,
    extensions: scope ? { scope } : {},
    fields: {
      key: one(key, 'What the records of the group have in common'),
      count: { type: new GraphQLNonNull(GraphQLInt), description: 'How many there are' },
      ...(figures && {
        sum: one(figures, 'The sums of their values'),
        avg: one(figures, 'The averages of their values, rounded to six places; those without a value do not count'),
      }),
      min: one(bounds, 'The least of their values'),
      max: one(bounds, 'The greatest of their values'),
    },
  });
}

/** What groups are told by: a date by the first day of its period, a reference by its id and as the record. */
function keyFields(shown: Shown, table: AnyTable): Fields {
  const fields: Fields = {};
  for (const [name, field] of groupsOf(table)) {
    const isDate = field.kind === 'timestamptz' || field.kind === 'date';
    const type = isDate ? Day : (getNullableType(shown[name]!.type) as GraphQLOutputType);
    fields[name] = { type, description: isDate ? `The first day. ${shown[name]!.description}` : shown[name]!.description };
  }
  for (const { name, description, type, extensions } of Object.values(shown)) {
    const relation = extensions.relation as ToOne | undefined;
    if (relation?.kind !== 'one' || !fields[relation.key]) continue;
    const resolve: Fields[string]['resolve'] = (key, _args, ctx) =>
      recordLoader(ctx, relation).maybe((key as Record<string, string | null>)[relation.key] ?? null);
    fields[name] = { type: getNullableType(type) as GraphQLOutputType, description, resolve };
  }
  return fields;
}

const boundType = (shown: GraphQLField<unknown, unknown>) => getNullableType(shown.type) as GraphQLOutputType;

/** Figures of fields; of an amount exactly as well, as its record shows it. */
function figureFields(
  shown: Shown,
  fields: readonly [name: string, field: FilterField][],
  typeOf: (shown: GraphQLField<unknown, unknown>) => GraphQLOutputType,
): Fields {
  const made: Fields = {};
  for (const [name] of fields) {
    const { description } = shown[name]!;
    made[name] = { type: typeOf(shown[name]!), description };
    const exact = shown[`${name}Exact`];
    if (exact)
      made[`${name}Exact`] = {
        type: GraphQLString,
        description: exact.description,
        resolve: (row) => (row as Record<string, string | null>)[name] ?? null,
      };
  }
  return made;
}
