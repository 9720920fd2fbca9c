import {
  type DocumentNode,
  execute,
  GraphQLBoolean,
  type GraphQLSchema,
  getOperationAST,
  isEnumType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { badRequest } from '../base/errors.js';
import { defined } from '../base/objects.js';
import type { Context } from '../context/context.js';
import { isInWords, isRenamed } from '../model/enums.js';
import { passedOn, withoutLiterals } from './literals.js';
import { isUncompilable } from './uncompilable.js';

type Variables = Record<string, unknown>;

/** A document that is compiled: it answers by its resolvers. */
export interface Executor {
  /** `variables` as they were sent, and `coerced` as `coerce` of the operation gave them. */
  query(root: unknown, ctx: Context, variables: Variables, coerced: Variables): ReturnType<CompiledQuery['query']>;
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
  const free = withoutLiterals(schema, withoutTypes(alone));
  const compiled = compileQuery(schema, free.document, undefined, options);
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0] ?? badRequest('The document cannot be run');
  return { query: (root, ctx, _variables, coerced) => compiled.query(root, ctx, free.addTo(defined(coerced))) };
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

/**
 * The document with its variables as JSON, which is passed on as it is: they are coerced before. The compiler would write default values
 * into its code, never end with an input type that leads back to itself, and double the code with each list of lists. It has to know
 * which are booleans: directives take nothing else.
 */
const withoutTypes = (document: DocumentNode): DocumentNode =>
  visit(document, {
    VariableDefinition: (node) => (isBoolean(node.type) ? undefined : { ...node, defaultValue: undefined, type: passedOn }),
  });

function isBoolean(type: TypeNode): boolean {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  return named.kind === Kind.NAMED_TYPE && named.name.value === GraphQLBoolean.name;
}
