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
  /** `coerced` are the variables as `coerce` of the operation gave them; without them the executor coerces by itself. */
  query(root: unknown, ctx: Context, variables: Variables, coerced?: Variables): ReturnType<CompiledQuery['query']>;
}

const wordSerializers = (schema: GraphQLSchema) => {
  const renamed = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && isRenamed(type));
  return Object.fromEntries(renamed.map(({ name }) => [name, (word: unknown) => word]));
};

/** Compiles one operation of a validated document. */
export function executorOf(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): Executor {
  const options = isInWords(document) ? { customSerializers: wordSerializers(schema) } : {};
  const inputs = inputVariables(schema, document);
  const compiled = compileQuery(schema, inputs.size > 0 ? withoutTypes(document, inputs) : document, operationName ?? undefined, options);
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0] ?? badRequest('The document cannot be run');
  if (inputs.size === 0) return compiled as Executor;
  return { query: (root, ctx, variables, coerced) => compiled.query(root, ctx, withInputs(inputs, variables, coerced)) };
}

interface Typed {
  type: GraphQLInputType;
  fallback: unknown;
}

/**
 * The variables that are input objects: they are coerced once, with every fault of theirs named, and not again by the compiled
 * document. Its compiler would never end with a type that leads back to itself.
 */
function inputVariables(schema: GraphQLSchema, { definitions }: DocumentNode): Map<string, Typed> {
  const variables = definitions.flatMap((d) => (d.kind === Kind.OPERATION_DEFINITION ? (d.variableDefinitions ?? []) : []));
  return new Map(
    variables.flatMap((node: VariableDefinitionNode): [string, Typed][] => {
      const type = typeFromAST(schema, node.type as never) as GraphQLInputType | undefined;
      if (!type || !isInputObjectType(getNamedType(type))) return [];
      return [[node.variable.name.value, { type, fallback: valueFromAST(node.defaultValue, type) }]];
    }),
  );
}

/** The document with these variables as JSON, which is passed on as it is. */
const withoutTypes = (document: DocumentNode, variables: ReadonlyMap<string, unknown>): DocumentNode =>
  visit(document, {
    VariableDefinition: (node) =>
      variables.has(node.variable.name.value)
        ? { ...node, defaultValue: undefined, type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Json.name } } }
        : undefined,
  });

function withInputs(types: ReadonlyMap<string, Typed>, variables: Variables, coerced?: Variables): Variables {
  const all = { ...variables };
  for (const [name, { type, fallback }] of types) {
    const value = all[name] === undefined ? fallback : coerced ? coerced[name] : coerceInputValue(all[name], type);
    if (value !== undefined) all[name] = value;
  }
  return all;
}
