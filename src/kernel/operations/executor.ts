import {
  coerceInputValue,
  type DocumentNode,
  execute,
  GraphQLBoolean,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  getOperationAST,
  isEnumType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { badRequest } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { isInWords, isRenamed } from '../model/enums.js';
import { passedOn, withoutLiterals } from './literals.js';
import { isUncompilable } from './uncompilable.js';

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

/** Makes one operation of a validated document ready to run. */
export function executorOf(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): Executor {
  const options = isInWords(document) ? { customSerializers: wordSerializers(schema) } : {};
  const operation = getOperationAST(document, operationName);
  if (!operation) throw badRequest('Name the operation to run');
  const alone = onlyOf(document, operation);
  // Documents of ours are none of these, and answered in words, which takes the compiler.
  if (!isInWords(document) && isUncompilable(schema, alone, operation)) return interpreted(schema, alone);
  const types = typesToCoerce(schema, operation);
  const free = withoutLiterals(schema, withoutTypes(alone, types));
  const compiled = compileQuery(schema, free.document, undefined, options);
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0] ?? badRequest('The document cannot be run');
  return {
    query: (root, ctx, variables, coerced) => compiled.query(root, ctx, free.addTo(withCoerced(types, variables, coerced))),
  };
}

/** A document without its other operations. */
const onlyOf = (document: DocumentNode, operation: OperationDefinitionNode): DocumentNode => ({
  ...document,
  definitions: document.definitions.filter((definition) => definition === operation || definition.kind !== Kind.OPERATION_DEFINITION),
});

/** Runs a document as graphql-js does, without making code of it: several times as slow. */
const interpreted = (schema: GraphQLSchema, document: DocumentNode): Executor => ({
  query: (rootValue, contextValue, variableValues) => execute({ schema, document, rootValue, contextValue, variableValues }),
});

interface Typed {
  type: GraphQLInputType;
  fallback: unknown;
}

/**
 * The variables that are coerced beforehand, with every fault of theirs named: the code of a compiled document would name the first. Its
 * compiler would write default values into the code, never end with an input type that leads back to itself, and double the code with
 * each list of lists. It has to know which are booleans: directives take nothing else.
 */
function typesToCoerce(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): Map<string, Typed> {
  return new Map(
    variableDefinitions.flatMap((node: VariableDefinitionNode): [string, Typed][] => {
      const type = typeFromAST(schema, node.type as never) as GraphQLInputType | undefined;
      if (!type) return [];
      return [[node.variable.name.value, { type, fallback: valueFromAST(node.defaultValue, type) }]];
    }),
  );
}

/** The document with its variables as JSON, which is passed on as it is. */
const withoutTypes = (document: DocumentNode, variables: ReadonlyMap<string, Typed>): DocumentNode =>
  visit(document, {
    VariableDefinition: (node) =>
      isOfDirectives(variables.get(node.variable.name.value)) ? undefined : { ...node, defaultValue: undefined, type: passedOn },
  });

const isOfDirectives = (variable?: Typed) => variable !== undefined && getNullableType(variable.type) === GraphQLBoolean;

function withCoerced(types: ReadonlyMap<string, Typed>, variables: Variables, coerced?: Variables): Variables {
  const all = { ...variables };
  for (const [name, { type, fallback }] of types) {
    const isGiven = Object.hasOwn(all, name) && all[name] !== undefined;
    const value = !isGiven ? fallback : coerced ? coerced[name] : coerceInputValue(all[name], type);
    if (value !== undefined) all[name] = value;
  }
  return all;
}
