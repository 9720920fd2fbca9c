import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
  print,
} from 'graphql';
import { Extensions } from 'type-graphql';
import { type Asker, type Needs, needsOf } from '../access/access.js';
import { allowDocument } from '../access/allowDocument.js';
import { badRequest, check, unavailable } from '../base/errors.js';
import { answerSize, type PrintedData } from '../base/jsonText.js';
import type { Context } from '../context/context.js';
import { momentReader } from '../context/moment.js';
import type { Printer } from '../context/printer.js';
import { fromDatabase, wasRefused } from '../database/errors.js';
import { fieldsToRun } from '../model/selections.js';
import { NeedsTurn } from '../writes/unitOfWork.js';
import { type Answer, executeDetached } from './detached.js';
import { type Executor, executorOf } from './executor.js';
import { type Claim, claimOf, replayOf, runClaimed, storeOutcome } from './idempotency.js';
import { onceForAddress, publicClaimOf } from './idempotency.public.js';
import { checkMutationId } from './mutationNames.js';
import { withRetries } from './ownTransaction.js';
import { recordMutation } from './recordMutation.js';
import { coerce, variablesOf } from './variables.js';

/** Marks a mutation that talks to a vendor or loops over many records, and so manages its own transactions. */
export const Detached = () => Extensions({ detached: true });

/**
 * Marks one that manages its transactions where it stands alone in its document, since there may be very much of it; beside others it
 * is part of their transaction.
 */
export const DetachedAlone = () => Extensions({ detached: 'alone' });

/**
 * Marks a mutation that changes records without a limit to their number, all or none of them: the transaction of its document may take
 * two minutes instead of five seconds, whatever begins it. Where they turn out to be very many, it is taken back and done again in the
 * account's turn.
 */
export const TakesLong = () => Extensions({ takesLong: true });

/** Marks a mutation whose effect is the calling session's: under an `Idempotency-Key` it is done once for each session of the person. */
export const OfSession = () => Extensions({ ofSession: true });

/** Marks a mutation that opens a session, whose token comes as a cookie: for transports that can set one. */
export const OpensSession = () => Extensions({ opensSession: true });

type Variables = Record<string, unknown>;

interface Given {
  /** What `coerce` made of the variables, where that is known. */
  coerced?: Variables;
  /** What a subscription's root field answers from, its event; the value of a mutation's only field, where that is known (`Answer`). */
  root?: unknown;
}

/** A document made ready to run: what it needs, and its compiled form. */
export interface Operation {
  /** Identifies the document: equal for equal ones. */
  id: string;
  kind: OperationTypeNode;
  needs: Needs;
  /** Throws 401 or 403, naming the field at fault, unless the caller may run it. */
  allow(asker: Asker): void;
  detached: boolean;
  /** Whether its transaction may take two minutes. */
  takesLong: boolean;
  /** Whether it is the calling session that it changes. */
  ofSession: boolean;
  /** Whether it opens a session, which comes as a cookie. */
  opensSession: boolean;
  /** The root fields it runs, in order, each response name once; `__typename` is none. */
  fields: string[];
  /** The root field that it runs alone. */
  only?: FieldNode;
  /** The variables as the resolvers get them. Throws 400 naming every field at fault. */
  coerce(variables: Variables): Variables;
  execute(ctx: Context, variables: Variables, given?: Given): Promise<ExecutionResult> | ExecutionResult;
  /** Reads what its root fields tell of the moment, before a query is run field by field. */
  readMoment?: (ctx: Context) => Promise<void>;
  /** Answers a query as one statement prints it; undefined where it is run field by field. */
  print?: Printer;
}

/**
 * One operation of a validated document, ready to run. Throws 400 where the document does not say which. Its executor is compiled
 * when it first runs: it takes several times the memory of the rest, and a query that `print` answers never needs it.
 */
export function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operationName, id = print(document), printer }: { operationName?: string | null; id?: string; printer?: Printer } = {},
): Operation {
  const definition = getOperationAST(document, operationName);
  if (!definition) throw badRequest(operationName ? `There is no operation called ${operationName}` : 'Name the operation to run');
  const root = schema.getRootType(definition.operation)!.getFields();
  const nodes = fieldsToRun(document, definition);
  const fields = nodes.map(({ name }) => name.value);
  const isAlone = fields.length === 1;
  const isDetached = fields.some((name) => (isAlone ? root[name]?.extensions.detached : root[name]?.extensions.detached === true));
  if (isDetached && !isAlone) throw badRequest('This mutation manages its own transactions and must be the only field of its document');
  const types = variablesOf(schema, document, definition);
  const needs = needsOf(schema, document);
  let compiled: Executor | undefined;
  const record = recordMutation(schema, document, executorOf);
  return {
    id,
    kind: definition.operation,
    needs,
    allow: (asker) => allowDocument(asker, needs, { schema, document, operation: definition }),
    detached: isDetached,
    takesLong: fields.some((name) => root[name]?.extensions.takesLong),
    ofSession: fields.some((name) => root[name]?.extensions.ofSession),
    opensSession: fields.some((name) => root[name]?.extensions.opensSession),
    fields,
    only: isAlone ? nodes[0] : undefined,
    readMoment: definition.operation === OperationTypeNode.QUERY ? momentReader(schema, fields) : undefined,
    coerce: (variables) => coerce(schema, types, variables),
    execute: (ctx, variables, { root, coerced = coerce(schema, types, variables) } = {}) => {
      if (record) return record(ctx, variables, { coerced, root });
      compiled ??= executorOf(schema, document, operationName);
      return compiled.query(root, ctx, variables, coerced);
    },
    print: printer,
  };
}

/**
 * A query as text; undefined where it is run field by field, so also where the database refuses the statement: resolvers tell of
 * it by field. A database that is not there is not asked twice.
 */
async function printed(operation: Operation, ctx: Context, variables: Variables): Promise<PrintedData | undefined> {
  try {
    return await operation.print?.(ctx, variables);
  } catch (error) {
    if (wasRefused(error)) return undefined;
    throw fromDatabase(error) ?? error;
  }
}

class Rollback extends Error {
  constructor(readonly result: ExecutionResult) {
    super('rolled back');
  }
}

/** Decides whether the caller may, then performs the operation. */
export async function run(operation: Operation, ctx: Context, variables: Variables): Promise<ExecutionResult> {
  operation.allow(ctx);
  return perform(operation, ctx, variables);
}

/**
 * Performs an operation that its caller may ask for, as was decided already: coercion, then the whole document (a mutation in one
 * transaction with its outbox rows, any error undoing all of it). Refusals are thrown; what resolvers throw comes back in `errors`, as
 * in GraphQL.
 */
export async function perform(operation: Operation, ctx: Context, variables: Variables): Promise<ExecutionResult> {
  const coerced = operation.coerce(variables);
  if (operation.kind === OperationTypeNode.SUBSCRIPTION)
    throw badRequest('Subscribe over WebSocket at /graphql, or over SSE at /graphql/stream');
  if (operation.kind !== OperationTypeNode.MUTATION) {
    const data = await printed(operation, ctx, coerced);
    if (data) return { data };
    await operation.readMoment?.(ctx);
    return operation.execute(ctx, variables, { coerced });
  }
  checkMutationId(ctx.request);
  const given = { variables, coerced };
  const alone = () => executeDetached(ctx, (inside, root?: Answer) => operation.execute(inside, variables, { coerced, root }));
  if (operation.needs.public) {
    const claim = publicClaimOf(ctx, operation, variables);
    const work = () => (operation.detached ? alone() : mutate(operation, ctx, given));
    return claim ? onceForAddress(ctx, claim, work) : work();
  }
  const claim = claimOf(ctx, operation, variables);
  if (operation.detached) return claim ? runClaimed(ctx, claim, alone) : alone();
  return mutate(operation, ctx, { ...given, claim });
}

const faultsOf = (error: unknown) => (error instanceof Rollback ? (error.result.errors?.map((e) => e.originalError) ?? []) : [error]);

interface Asked {
  variables: Variables;
  coerced: Variables;
  claim?: Claim;
}

async function mutate(operation: Operation, ctx: Context, asked: Asked): Promise<ExecutionResult> {
  try {
    return await attempts(operation, ctx, asked).catch((error: unknown) => {
      if (!faultsOf(error).some((fault) => fault instanceof NeedsTurn)) throw error;
      return inTurn(ctx, () => attempts(operation, ctx, asked, true));
    });
  } catch (error) {
    if (error instanceof Rollback) return error.result;
    throw error;
  }
}

/**
 * Waits for the account's turn to change very many records at once, since that holds a connection for long: few at a time in this
 * process, one of an account. Throws 503 where the server stops meanwhile.
 */
const inTurn = <T>({ app, caller }: Context, work: () => Promise<T>): Promise<T> =>
  app.longWrites.run(caller.account.id, async () => {
    check(!app.stopping, () => unavailable('The server is stopping'));
    return work();
  });

const attempts = (operation: Operation, ctx: Context, asked: Asked, hasTurn = false) =>
  withRetries((isOptimistic) => inTransaction(operation, ctx, { ...asked, isOptimistic, hasTurn }), faultsOf);

type Attempt = Asked & { isOptimistic: boolean; hasTurn: boolean };

function inTransaction(operation: Operation, ctx: Context, attempt: Attempt): Promise<ExecutionResult> {
  const { variables, coerced, claim, isOptimistic, hasTurn } = attempt;
  const { budget } = ctx.request;
  let isExecuted = false;
  const work = async (inside: Context) => {
    isExecuted = false;
    budget?.restart();
    const replay = claim && (await replayOf(inside, claim));
    if (replay) return replay;
    const result = await operation.execute(inside, variables, { coerced });
    if (result.errors?.length) throw new Rollback(result);
    // An answer that is too large is refused while nothing is done yet.
    budget?.print(answerSize(result.data, budget.mostBytes));
    if (claim) await storeOutcome(inside, claim, result);
    else await inside.request.claim?.keep(inside.unit!, result);
    isExecuted = true;
    return result;
  };
  return ctx.transaction(work, { isOptimistic, mayTakeLong: operation.takesLong, hasTurn }).catch((error: unknown) => {
    throw isExecuted ? (refusedAtEnd(operation, error) ?? error) : error;
  });
}

/**
 * What the database refuses of a mutation when its rows are written together, at the end: an error of that mutation, where there is one.
 */
function refusedAtEnd({ only }: Operation, error: unknown): Rollback | undefined {
  const known = fromDatabase(error);
  if (!only || !known || known.status >= 500) return undefined;
  const path = [(only.alias ?? only.name).value];
  return new Rollback({ data: null, errors: [new GraphQLError(known.message, { nodes: only, path, originalError: known })] });
}

/** The error behind an execution error, as the caller may see it; undefined when it is a fault of ours. */
export const causeOf = (error: GraphQLError) => fromDatabase(error.originalError ?? error);
