import {
  coerceInputValue,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { badRequest } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { isInWords, isRenamed } from '../model/enums.js';
import { Json } from '../model/scalars.js';

type Variables = Record<string, unknown>;

/** A document that is compiled: it answers by its resolvers. */
export interface Executor {
  query(root: unknown, ctx: Context, variables: Variables): ReturnType<CompiledQuery['query']>;
}

const wordSerializers = (schema: GraphQLSchema) => {
  const renamed = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && isRenamed(type));
  return Object.fromEntries(renamed.map(({ name }) => [name, (word: unknown) => word]));
};

/** Compiles one operation of a validated document. */
export function executorOf(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): Executor {
  const options = isInWords(document) ? { customSerializers: wordSerializers(schema) } : {};
  const recursive = recursiveVariables(schema, document);
  const compiled = compileQuery(
    schema,
    recursive.size > 0 ? withoutTypes(document, recursive) : document,
    operationName ?? undefined,
    options,
  );
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0] ?? badRequest('The document cannot be run');
  if (recursive.size === 0) return compiled as Executor;
  return { query: (root, ctx, variables) => compiled.query(root, ctx, coerced(recursive, variables)) };
}

interface Typed {
  type: GraphQLInputType;
  fallback: unknown;
}

/** The variables whose types lead back to themselves: the compiler of documents would never end with them. */
function recursiveVariables(schema: GraphQLSchema, { definitions }: DocumentNode): Map<string, Typed> {
  const variables = definitions.flatMap((d) => (d.kind === Kind.OPERATION_DEFINITION ? (d.variableDefinitions ?? []) : []));
  return new Map(
    variables.flatMap((node: VariableDefinitionNode): [string, Typed][] => {
      const type = typeFromAST(schema, node.type as never) as GraphQLInputType | undefined;
      if (!type || !isRecursive(type)) return [];
      return [[node.variable.name.value, { type, fallback: valueFromAST(node.defaultValue, type) }]];
    }),
  );
}

/** Whether an input type can hold itself, at any depth. */
function isRecursive(type: GraphQLInputType, within: readonly GraphQLInputType[] = []): boolean {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return false;
  if (within.includes(named)) return true;
  return Object.values(named.getFields()).some((field) => isRecursive(field.type, [...within, named]));
}

/** The document with these variables as JSON, which is passed on as it is. */
const withoutTypes = (document: DocumentNode, variables: ReadonlyMap<string, unknown>): DocumentNode =>
  visit(document, {
    VariableDefinition: (node) =>
      variables.has(node.variable.name.value)
        ? { ...node, defaultValue: undefined, type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Json.name } } }
        : undefined,
  });

function coerced(types: ReadonlyMap<string, Typed>, variables: Variables): Variables {
  const all = { ...variables };
  for (const [name, { type, fallback }] of types) {
    if (all[name] !== undefined) all[name] = coerceInputValue(all[name], type);
    else if (fallback !== undefined) all[name] = fallback;
  }
  return all;
}
