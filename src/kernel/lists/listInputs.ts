import {
  type GraphQLField,
  type GraphQLFieldConfigMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { Context } from '../context/context.js';
import { isConnection } from '../model/connection.js';
import type { AnyTable } from '../tables/table.js';
import { aggregateField } from './aggregateTypes.js';
import { ListTypes } from './listTypes.js';

/**
 * Gives every list of a schema its typed conditions and sort keys, by the table of its records, and a root field beside it that aggregates.
 */
export function typeLists(schema: GraphQLSchema): GraphQLSchema {
  const types = new ListTypes(schema);
  for (const field of listsOf(schema)) {
    const table = tableOf(field);
    for (const arg of field.args) {
      if (arg.name === 'where') arg.type = types.of(table);
      if (arg.name === 'orderBy') arg.type = new GraphQLList(new GraphQLNonNull(types.orderOf(table)));
    }
  }
  const { query, types: all, ...config } = schema.toConfig();
  const { fields, ...roots } = query!.toConfig();
  const widened = new GraphQLObjectType({ ...roots, fields: { ...fields, ...aggregates(schema) } });
  return new GraphQLSchema({ ...config, query: widened, types: all.filter((type) => type !== query) });
}

/** A root field for each list of all records of a type, which answers what it finds in numbers: `dealAggregate`. */
function aggregates(schema: GraphQLSchema): GraphQLFieldConfigMap<unknown, Context> {
  const lists = Object.values(schema.getQueryType()!.getFields()).filter(({ args, extensions }) => extensions.reads && args.some(isWhere));
  return Object.fromEntries(
    lists.map((list) => {
      const table = tableOf(list);
      const { name } = table.type;
      return [`${name.charAt(0).toLowerCase()}${name.slice(1)}Aggregate`, aggregateField(schema, list, table)];
    }),
  );
}

const isWhere = ({ name }: { name: string }) => name === 'where';

/** The fields that answer pages with the arguments of lists. */
function listsOf(schema: GraphQLSchema): GraphQLField<unknown, unknown>[] {
  const types = Object.values(schema.getTypeMap()).filter((type): type is GraphQLObjectType => isObjectType(type));
  return types.flatMap((type) => Object.values(type.getFields()).filter(({ args }) => args.some(isWhere)));
}

/** The table that a list reads. Throws for one whose records have none. */
function tableOf({ name, type }: GraphQLField<unknown, unknown>): AnyTable {
  const page = getNamedType(type);
  const table = isConnection(page) && getNamedType(page.getFields().nodes!.type).extensions.table;
  if (!table) throw new Error(`${name} is a list of records without a table`);
  return table as AnyTable;
}
