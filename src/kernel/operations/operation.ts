import {
  coerceInputValue,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isEnumType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
  type SelectionSetNode,
  typeFromAST,
  valueFromASTUntyped,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { Extensions } from 'type-graphql';
import { allow, type Needs, needsOf } from '../access/access.js';
import { badRequest, check, type Detail, invalid, invalidField } from '../base/errors.js';
import type { Context, RequestInfo } from '../context/context.js';
import { fromDatabase, isRetryable, mayRetry } from '../database/errors.js';
import { coercionDetail } from '../model/coercionMessages.js';
import { isRenamed } from '../model/enums.js';
import { type Claim, claimOf, keep, once, replayOf } from './idempotency.js';

/** Marks a mutation that talks to a vendor or loops over many records, and so manages its own transactions. */
export const Detached = () => Extensions({ detached: true });

type Variables = Record<string, unknown>;

/** A document made ready to run: what it needs, and its compiled form. */
export interface Operation {
  /** The same for the same document. */
  id: string;
  kind: OperationTypeNode;
  needs: Needs;
  detached: boolean;
  /** The root fields it runs, in order. */
  fields: string[];
  /** The name of the type that its first root field answers. */
  type: string;
  /** The variables as the resolvers get them. Throws 400 naming every field at fault. */
  coerce(variables: Variables): Variables;
  /** `root` is what a subscription's root field answers from: its event. */
  execute(ctx: Context, variables: Variables, root?: unknown): Promise<ExecutionResult> | ExecutionResult;
  /** What the resolver of its first root field answers, for variables that are that field's arguments. */
  resolve(ctx: Context, variables: Variables): unknown;
}

/**
 * One operation of a validated document, ready to run. Throws 400 where the document does not say which. Its executor is compiled
 * when it first runs: it takes several times the memory of the rest, and what a door prints never needs one.
 */
export function compile(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null, id = print(document)): Operation {
  const definition = getOperationAST(document, operationName);
  if (!definition) throw badRequest(operationName ? `There is no operation called ${operationName}` : 'Name the operation to run');
  const root = schema.getRootType(definition.operation)!.getFields();
  const fields = fieldsOf(document, definition.selectionSet);
  const detached = fields.some((name) => root[name]?.extensions.detached);
  if (detached && fields.length > 1) throw badRequest('A mutation that talks to a vendor stands alone in its document');
  const types = (definition.variableDefinitions ?? []).map((v) => ({
    name: v.variable.name.value,
    type: typeFromAST(schema, v.type as never) as GraphQLInputType,
    required: v.type.kind === Kind.NON_NULL_TYPE && !v.defaultValue,
    fallback: v.defaultValue && valueFromASTUntyped(v.defaultValue),
  }));
  let compiled: CompiledQuery | undefined;
  return {
    id,
    kind: definition.operation,
    needs: needsOf(schema, document),
    detached,
    fields,
    type: fields[0] && root[fields[0]] ? getNamedType(root[fields[0]]!.type).name : '',
    coerce: (variables) => coerce(schema, types, variables),
    execute: (ctx, variables, root) => {
      compiled ??= executorOf(schema, document, operationName);
      return compiled.query(root, ctx, variables);
    },
    resolve: resolverOf(root[fields[0]!], definition),
  };
}

const inWords = new WeakSet<DocumentNode>();

/** Has a document answer the words of enumerations where GraphQL names them otherwise (read-write, read_write). */
export function answerInWords(document: DocumentNode): DocumentNode {
  inWords.add(document);
  return document;
}

const wordSerializers = (schema: GraphQLSchema) => {
  const renamed = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && isRenamed(type));
  return Object.fromEntries(renamed.map(({ name }) => [name, (word: unknown) => word]));
};

function executorOf(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): CompiledQuery {
  const options = inWords.has(document) ? { customSerializers: wordSerializers(schema) } : {};
  const compiled = compileQuery(schema, document, operationName ?? undefined, options);
  if (!isCompiledQuery(compiled)) throw compiled.errors?.[0] ?? badRequest('The document cannot be run');
  return compiled as CompiledQuery;
}

/** A root field's resolver, called as the executor calls it. */
function resolverOf(field: GraphQLField<unknown, unknown> | undefined, { selectionSet }: OperationDefinitionNode): Operation['resolve'] {
  const names = field?.args.map(({ name }) => name) ?? [];
  return (ctx, variableValues) => {
    const info = { fieldNodes: selectionSet.selections, fragments: {}, variableValues };
    const given = names.filter((name) => variableValues[name] !== undefined);
    return field?.resolve?.(undefined, Object.fromEntries(given.map((name) => [name, variableValues[name]])), ctx, info as never);
  };
}

/** The names of the fields of a selection in order, those in fragments included. */
function fieldsOf(document: DocumentNode, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(document, selection.selectionSet);
    const fragment = document.definitions.find((d) => d.kind === Kind.FRAGMENT_DEFINITION && d.name.value === selection.name.value);
    return fragment && 'selectionSet' in fragment && fragment.selectionSet ? fieldsOf(document, fragment.selectionSet) : [];
  });
}

/** Maximum errors reported per request. */
const most = 100;

/** All type faults of the variables in one pass, each with the name of its field. */
function coerce(
  schema: GraphQLSchema,
  types: { name: string; type: GraphQLInputType; required: boolean; fallback?: unknown }[],
  variables: Variables,
) {
  const details: Detail[] = [];
  const coerced: Variables = {};
  for (const { name, type, required, fallback } of types) {
    if (variables[name] === undefined) {
      coerced[name] = fallback;
      if (required) details.push({ field: name, code: 'required', message: 'is required' });
      continue;
    }
    coerced[name] = coerceInputValue(variables[name], type, (path, value, { message }) => {
      details.push(coercionDetail(schema, type, name, { path, value, message }));
      // Enough to tell what is wrong. Looking on would cost the others more than the answer is worth: a body may hold millions.
      if (details.length === most) throw invalid(details);
    });
  }
  if (details.length > 0) throw invalid(details);
  return coerced;
}

/**
 * Runs an operation of one root field past the executor, for a door that takes print: a query's resolver prints, and what a
 * mutation's answers is printed as its record. What a resolver throws is thrown.
 */
export async function show(operation: Operation, ctx: Context, variables: Variables): Promise<unknown> {
  allow(ctx, operation.needs);
  const given = operation.coerce(variables);
  if (operation.kind !== OperationTypeNode.MUTATION) {
    ctx.takesPrint = true;
    return operation.resolve(ctx, given);
  }
  checkMutationId(ctx.request);
  return retried((isOptimistic) =>
    ctx.transaction(
      async (inside) => inside.print(operation.type, (await operation.resolve(inside, given)) as { id: string }),
      isOptimistic,
    ),
  );
}

class Rollback extends Error {
  constructor(readonly result: ExecutionResult) {
    super('rolled back');
  }
}

/**
 * Runs an operation: access, coercion, then the whole document (a mutation in one transaction with its outbox rows, any
 * error undoing all of it). Refusals are thrown; what resolvers throw comes back in `errors`, as in GraphQL.
 */
export async function run(operation: Operation, ctx: Context, variables: Variables): Promise<ExecutionResult> {
  allow(ctx, operation.needs);
  operation.coerce(variables);
  if (operation.kind === OperationTypeNode.SUBSCRIPTION)
    throw badRequest('Subscribe over WebSocket at /graphql, or over SSE at /graphql/stream');
  if (operation.kind !== OperationTypeNode.MUTATION) return operation.execute(ctx, variables);
  checkMutationId(ctx.request);
  const claim = claimOf(ctx, operation.id, variables);
  if (operation.detached)
    return claim ? once(ctx, claim, async () => operation.execute(ctx, variables)) : operation.execute(ctx, variables);
  return mutate(operation, ctx, variables, claim);
}

const mutationId = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/** What a client calls its mutation comes back in the events of it: 400 unless it is a line of at most 200 characters. */
function checkMutationId({ clientMutationId }: RequestInfo): void {
  check(clientMutationId === undefined || mutationId.test(clientMutationId), () =>
    invalidField('clientMutationId', 'invalid_format', 'must be a line of 1 to 200 characters'),
  );
}

/**
 * Does it again while the database says that the failure is transient; its faults are thrown as what they mean to the caller.
 * Only the first attempt is optimistic: the others hold what they are to change.
 */
async function retried<T>(work: (isOptimistic: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt === 1);
    } catch (error) {
      const faults = error instanceof Rollback ? error.result.errors?.map((e) => e.originalError) : [error];
      if (await mayRetry(faults?.find(isRetryable), attempt)) continue;
      throw fromDatabase(error) ?? error;
    }
  }
}

async function mutate(operation: Operation, ctx: Context, variables: Variables, claim?: Claim): Promise<ExecutionResult> {
  try {
    return await retried((isOptimistic) => inTransaction(operation, ctx, { variables, claim, isOptimistic }));
  } catch (error) {
    if (error instanceof Rollback) return error.result;
    throw error;
  }
}

interface Attempt {
  variables: Variables;
  claim?: Claim;
  isOptimistic: boolean;
}

function inTransaction(operation: Operation, ctx: Context, { variables, claim, isOptimistic }: Attempt): Promise<ExecutionResult> {
  return ctx.transaction(async (inside) => {
    const replay = claim && (await replayOf(inside, claim));
    if (replay) return replay;
    const result = await operation.execute(inside, variables);
    if (result.errors?.length) throw new Rollback(result);
    if (claim) await keep(inside, claim, result);
    return result;
  }, isOptimistic);
}

/** The error behind an execution error, as the caller may see it; undefined when it is a fault of ours. */
export const causeOf = (error: GraphQLError) => fromDatabase(error.originalError ?? error);
