import {
  type GraphQLArgumentConfig,
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  getNamedType,
} from 'graphql';
import type { Context } from '../kernel/context/context.js';
import { isConnection, maxPageSize } from '../kernel/model/connection.js';

type Fields = GraphQLFieldConfigMap<unknown, Context>;

const required = <T extends GraphQLNullableType>(type: T) => new GraphQLNonNull(type);

/** The most lists of one live query. */
export const mostLists = 20;

const change = new GraphQLEnumType({
  name: 'LiveChange',
  description: 'What became of a record of a live list',
  values: {
    added: { description: 'It has come into the page' },
    changed: { description: 'Something of what was selected is another; it may stand elsewhere, too' },
    moved: { description: 'It is as it was, and stands elsewhere' },
  },
});

const have = new GraphQLInputObjectType({
  name: 'LiveHave',
  description: 'What a client has of one list of a live query',
  fields: {
    list: { type: required(GraphQLString), description: 'The name under which the list answers: its alias, or deals' },
    rows: {
      type: required(new GraphQLList(required(GraphQLString))),
      description: 'Its records in their order, each as its id, a space and its version',
    },
  },
});

/** The fields of a row that are no record. */
const rowFields: Fields = {
  recordId: { type: required(GraphQLID), description: 'The id of the record' },
  index: { type: required(GraphQLInt), description: 'Its place in the page, from 0, once all of this message is applied' },
  change: { type: required(change), description: 'What became of it' },
  version: { type: required(GraphQLString), description: 'The same for the same values of what is selected; send it back in after' },
};

const aPage = `Take the removed out, and the rows, too; then put each row in at its index, in their order. A moved row has no record: keep yours.`;

/** The live form of a page: what of it is another than before. */
function liveOf(field: GraphQLField<unknown, Context>): GraphQLObjectType {
  const page = getNamedType(field.type) as GraphQLObjectType;
  const record = getNamedType(page.getFields().nodes!.type) as GraphQLObjectType;
  const { scope } = record.extensions;
  const extensions = scope ? { scope } : {};
  const node = { type: record, description: 'The record as it is now; null where it only moved' };
  const row = new GraphQLObjectType({
    name: page.name.replace(/Connection$/, 'LiveEdge'),
    description: `What is new in a live page, changed or moved: a record of the type ${record.name}`,
    fields: { ...rowFields, node },
    extensions,
  });
  const { nodes: _nodes, edges: _edges, ...others } = page.toConfig().fields;
  return new GraphQLObjectType({
    name: page.name.replace(/Connection$/, 'LivePage'),
    description: `A page of ${record.name} records, kept up to date. ${aPage}`,
    fields: {
      isWhole: { type: required(GraphQLBoolean), description: 'Whether rows are the whole page, which replaces what you have' },
      rows: { type: required(new GraphQLList(required(row))), description: 'The records that are new, changed or moved, by their places' },
      removed: {
        type: required(new GraphQLList(required(GraphQLID))),
        description: 'The ids of records that are no longer in the page',
        extensions: { holds: maxPageSize },
      },
      ...others,
    },
    extensions,
  });
}

/** Whether a root field answers a page of records that events tell of. */
const isList = (field: GraphQLField<unknown, Context>, told: ReadonlySet<string>) => {
  const page = getNamedType(field.type);
  return isConnection(page) && told.has(getNamedType(page.getFields().nodes!.type).name) && field.args.some(({ name }) => name === 'where');
};

const argumentsOf = ({ args }: GraphQLField<unknown, Context>): Record<string, GraphQLArgumentConfig> =>
  Object.fromEntries(
    args.map(({ name, type, defaultValue, description, deprecationReason }) => [
      name,
      { type, defaultValue, description, deprecationReason },
    ]),
  );

const position: Fields[string] = {
  type: required(GraphQLID),
  description: 'The position in the feed of the workspace that this is at least the state of',
  extensions: { access: {} },
};

// What follows from the time alone is told by no event.
const description = `Lists that stay up to date: the result once, then what changed of it, as soon as something happened that may concern it.
After a cut pass what you have as after, and only the difference comes, from whichever process and however long it took.
What no event tells of shows with the next one: what follows from the time alone, and when somebody was last seen.
That a text message is on its way is not told: what becomes of it is.`;

/**
 * The schema with `subscription { live { deals { … } } }`: every list of records of the types that events tell of, as what changes of it.
 */
export function withLive(schema: GraphQLSchema, told: ReadonlySet<string>): GraphQLSchema {
  const lists = Object.values(schema.getQueryType()!.getFields()).filter((field) => isList(field, told));
  const pages = new Map(lists.map((field) => [getNamedType(field.type).name, liveOf(field)]));
  const live = new GraphQLObjectType({
    name: 'Live',
    description: 'What is watched: the lists of the queries, with the same arguments',
    fields: {
      position,
      ...Object.fromEntries(
        lists.map((field) => [
          field.name,
          {
            type: required(pages.get(getNamedType(field.type).name)!),
            args: argumentsOf(field),
            description: `${field.description}, kept up to date`,
            extensions: { access: field.extensions.access },
          },
        ]),
      ),
    },
    extensions: { isStructure: true },
  });
  const { subscription, types, ...config } = schema.toConfig();
  const { fields, ...roots } = subscription!.toConfig();
  const after = {
    type: new GraphQLList(required(have)),
    description: 'What you have of each list, to be told only the difference; without it all comes once',
  };
  const root: Fields[string] = {
    type: required(live),
    args: { after },
    description,
    // The transports serve it (graphql/live.ts).
    subscribe: () => {
      throw new Error('Subscriptions are served over WebSocket and Server-Sent Events');
    },
    extensions: { access: {}, isLive: true },
  };
  const widened = new GraphQLObjectType({ ...roots, fields: { ...fields, live: root } });
  return new GraphQLSchema({ ...config, subscription: widened, types: types.filter((type) => type !== subscription) });
}
