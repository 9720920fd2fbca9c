import { type GraphQLField, GraphQLSchema, getNamedType, isInputObjectType } from 'graphql';
import { buildSchemaSync, getMetadataStorage } from 'type-graphql';
import { classMark, markOf } from '../kernel/access/access.js';
import { rulesOf } from '../kernel/model/fieldRules.js';
import { DateTime, Json } from '../kernel/model/scalars.js';
import type { Module } from '../kernel/module/module.js';

/** The one schema behind both doors. Fails the boot when a root field states no access or says not what it is. */
export function buildSchema(modules: readonly Module[]): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: modules.flatMap((m) => m.resolvers) as never,
    validate: false,
    scalarsMap: [
      { type: Date, scalar: DateTime },
      { type: Object, scalar: Json },
    ],
    // Every subscription brings its own source; TypeGraphQL asks for this one all the same.
    pubSub: {
      publish: () => undefined,
      subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
    },
  });
  markRootFields(schema);
  markInputFields(schema);
  describeRoots(schema);
  return schema;
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
    for (const arg of Object.values(root.getFields()).flatMap(({ args }) => args)) {
      const type = getNamedType(arg.type);
      if (isInputObjectType(type)) arg.description ??= type.description;
    }
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
