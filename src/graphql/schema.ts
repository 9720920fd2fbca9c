import {
  type GraphQLField,
  GraphQLID,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { buildSchemaSync, getMetadataStorage } from 'type-graphql';
import { classMark, markOf } from '../kernel/access/access.js';
import { plainAmount } from '../kernel/base/money.js';
import { defined } from '../kernel/base/objects.js';
import { declareKinds } from '../kernel/feed/eventFields.js';
import { typeLists } from '../kernel/lists/listInputs.js';
import { answerFields, computedFields, type DeclaredField, relationFields } from '../kernel/lists/relationFields.js';
import { isConnection } from '../kernel/model/connection.js';
import { memberOf, rulesOf } from '../kernel/model/fieldRules.js';
import { typeOfNode } from '../kernel/model/node.js';
import { DateTime, Json } from '../kernel/model/scalars.js';
import { type Module, nodesOf } from '../kernel/module/module.js';
import { markDetached } from '../kernel/operations/detached.js';
import { nameMutations } from '../kernel/operations/mutationNames.js';
import { explainEnums } from './enumMeanings.js';
import { withPlannedInputs } from './inputs.js';
import { withLive } from './live.types.js';
import { countRecords } from './records.js';

/** The one schema behind REST and GraphQL. Fails the boot when a root field has no access mark or no description. */
export function buildSchema(modules: readonly Module[]): GraphQLSchema {
  const feeds = modules.flatMap(({ events = [] }) => events);
  declareKinds(feeds.map((feed) => feed.of));
  const declared = modules.flatMap(declaredFields);
  const resolvers = [...modules.flatMap((m) => m.resolvers), ...[...feeds, ...declared].map(({ resolver }) => resolver)];
  const built = withPlannedInputs(() =>
    buildSchemaSync({
      resolvers: resolvers as never,
      validate: false,
      // It would ask for the whole introspection; Apollo validates the schema when it starts, and so does the check.
      skipCheck: true,
      scalarsMap: [
        { type: Date, scalar: DateTime },
        { type: Object, scalar: Json },
      ],
      // Every subscription brings its own source; TypeGraphQL asks for this one all the same.
      pubSub: {
        publish: () => undefined,
        subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
      },
    }),
  );
  markRootFields(built);
  markResolvedFields(built);
  markTables(built, modules);
  markDeclaredFields(built, declared);
  markPages(built);
  markInputFields(built);
  describeRoots(built);
  describeIds(built);
  leavePlainFields(built);
  resolveAmounts(built);
  markDetached(built);
  nameMutations(built);
  const schema = typeLists(built);
  countRecords(schema);
  markNodes(schema, modules);
  explainEnums(schema, feeds);
  return withLive(schema, new Set(feeds.map(({ of }) => of.type)));
}

/** The fields that a module's declarations make: one for each end of a relation, for what is computed, and for what an answer leads to. */
const declaredFields = ({ tables = [], relations = [], answers = [] }: Module) => [
  ...tables.flatMap(computedFields),
  ...relations.flatMap(relationFields),
  ...answers.flatMap(answerFields),
];

/** The record types know their tables: reads of them are printed by the database. */
function markTables(schema: GraphQLSchema, modules: readonly Module[]) {
  for (const table of modules.flatMap(({ tables = [] }) => tables)) {
    const type = schema.getType(table.type.name);
    if (type) type.extensions = { ...type.extensions, table };
  }
}

/** A page tells of its records, be it only how many there are: it needs what they need. */
function markPages(schema: GraphQLSchema) {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isConnection(type)) continue;
    const { nodes, edges } = type.getFields();
    const { scope } = getNamedType(nodes!.type).extensions;
    for (const page of [type, getNamedType(edges!.type)]) page.extensions = { ...page.extensions, ...(scope ? { scope } : {}) };
  }
}

/** What is said of a declared field besides its type: by it the field is printed, and is part of the REST record. */
function markDeclaredFields(schema: GraphQLSchema, declared: readonly DeclaredField[]) {
  for (const { of, name, extensions } of declared) {
    const field = (schema.getType(of.type.name) as GraphQLObjectType).getFields()[name]!;
    field.extensions = { ...field.extensions, ...defined(extensions) };
  }
}

/** A field with a resolver is what that answers, and not the column of its name. */
function markResolvedFields(schema: GraphQLSchema) {
  const storage = getMetadataStorage();
  for (const { methodName, schemaName, getObjectType } of storage.fieldResolvers) {
    const type = getObjectType && schema.getType((getObjectType() as { name: string }).name);
    const field = isObjectType(type) ? type.getFields()[schemaName ?? methodName] : undefined;
    if (field) field.extensions = { ...field.extensions, isResolved: true };
  }
}

/** TypeGraphQL leaves the roots without a word, and an input argument is what its type says. */
function describeRoots(schema: GraphQLSchema) {
  const roots = [
    [schema.getQueryType(), 'What can be read'],
    [schema.getMutationType(), 'What can be done: a document as a whole, or nothing of it'],
    [schema.getSubscriptionType(), 'What can be watched, from now on or from a place in the feed'],
  ] as const;
  for (const [root, description] of roots) {
    if (!root) continue;
    root.description = description;
    for (const field of Object.values(root.getFields())) {
      for (const arg of field.args) {
        const type = getNamedType(arg.type);
        if (isInputObjectType(type)) arg.description ??= type.description;
        if (type === GraphQLID) arg.description ??= `The ${ownerOf(field, arg.name)}'s id`;
      }
    }
  }
}

/** Whose id an argument is: `tagId` a tag's; `id` that of the record which the field answers, else of its resolver's type. */
function ownerOf(field: GraphQLField<unknown, unknown>, argument: string): string {
  if (argument !== 'id') return argument.replace(/Id$/, '');
  const answer = getNullableType(field.type);
  if (isObjectType(answer) && answer.getFields().id) return nounOf(answer.name);
  const { queries, mutations, subscriptions, resolverClasses } = getMetadataStorage();
  const handler = [...queries, ...mutations, ...subscriptions].find(({ schemaName }) => schemaName === field.name);
  const type = resolverClasses.find(({ target }) => target === handler?.target)?.getObjectType?.() as { name: string } | undefined;
  if (!type) throw new Error(`${field.name} does not say what its id is of`);
  return nounOf(type.name);
}

/** CustomField → custom field, ApiKey → API key. */
const nounOf = (type: string) =>
  type
    .replace(/(?!^)[A-Z]/g, ' $&')
    .toLowerCase()
    .replace(/^api\b/, 'API');

/** Every type that is a node is read from somewhere by its ids. A row says its type at once: the executor waits for no promise of it. */
function markNodes(schema: GraphQLSchema, modules: readonly Module[]) {
  const sources = nodesOf(modules);
  const node = schema.getType('Node') as GraphQLInterfaceType;
  node.resolveType = typeOfNode;
  const { objects } = schema.getImplementations(node);
  const lost = objects.filter(({ name }) => !sources.has(name)).map(({ name }) => name);
  if (lost.length > 0) throw new Error(`No module declares a table or node source for: ${lost.join(', ')}`);
}

/** The exact form of an amount is that of the row, where amounts are text. */
function resolveAmounts(schema: GraphQLSchema) {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const name = field.extensions.exactOf as string | undefined;
      if (name && !field.extensions.isResolved) field.resolve = (row) => plainAmount((row as Record<string, string | number | null>)[name]);
    }
  }
}

/** A record's id says whose it is. */
function describeIds(schema: GraphQLSchema) {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const { id } = type.getFields();
    if (id && !id.description) id.description = `The ${nounOf(type.name)}'s id, a UUID`;
  }
}

/** TypeGraphQL leaves out the extensions of the fields that an input inherits: they get their rules back. */
function markInputFields(schema: GraphQLSchema) {
  for (const { name, target } of getMetadataStorage().inputTypes) {
    const type = schema.getType(name);
    if (!isInputObjectType(type)) continue;
    const fields = type.getFields();
    for (const rule of rulesOf(target)) {
      const field = fields[rule.name];
      if (field) field.extensions = { ...field.extensions, rule };
    }
  }
}

/**
 * TypeGraphQL gives every field a resolver, also where it only reads a property of its record. The executor does that itself,
 * in half the time.
 */
function leavePlainFields(schema: GraphQLSchema) {
  const storage = getMetadataStorage();
  const names = new Map(storage.objectTypes.map(({ target, name }) => [target, name]));
  const resolved = new Set(storage.fieldResolvers.map((one) => `${names.get(one.getObjectType!())}.${one.schemaName}`));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || roots.includes(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (resolved.has(`${type.name}.${field.name}`)) continue;
      const member = memberOf(field);
      field.resolve = member === field.name ? undefined : (row) => (row as Record<string, unknown>)[member];
    }
  }
}

/** A class's mark holds for each of its root fields that states none of its own. */
function markRootFields(schema: GraphQLSchema) {
  const storage = getMetadataStorage();
  const handlers = [
    ...storage.queries.map((h) => ({ ...h, root: schema.getQueryType() })),
    ...storage.mutations.map((h) => ({ ...h, root: schema.getMutationType() })),
    ...storage.subscriptions.map((h) => ({ ...h, root: schema.getSubscriptionType() })),
  ];
  for (const { target, schemaName, root } of handlers) {
    const field = root?.getFields()[schemaName] as GraphQLField<unknown, unknown> | undefined;
    if (!field) continue;
    field.extensions = { access: classMark(target), ...field.extensions };
    markOf(field);
    if (!field.description) throw new Error(`${schemaName} has no description`);
  }
}
