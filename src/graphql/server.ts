import { ApolloServer, type ApolloServerPlugin, type BaseContext, type GraphQLResponse, type HTTPGraphQLHead } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
  parse,
} from 'graphql';
import type { RateGate } from '../http/limits.js';
import type { Bucket } from '../kernel/access/rateLimits.js';
import { Budget } from '../kernel/base/budget.js';
import { type AppError, badRequest } from '../kernel/base/errors.js';
import { answerSize, Printed, printJson } from '../kernel/base/jsonText.js';
import { ownPlaceIn, stateOf } from '../kernel/base/trace.js';
import type { Context } from '../kernel/context/context.js';
import { answerTo } from '../kernel/context/unavailableLog.js';
import { fromDatabase } from '../kernel/database/errors.js';
import { type Operation, run } from '../kernel/operations/operation.js';
import { isDone } from '../kernel/operations/outcomes.js';
import type { Documents } from './documents.js';
import { formatError, printErrors, toGraphQLError } from './errors.js';
import { type Admission, admit } from './guards.js';
import { graphqlResponse, wantsGraphqlResponse } from './responseType.js';
import type { Request } from './subscriptions.js';

/** Apollo answers HTTP; the guards parse and validate, as for every transport; the compiled operation does the work. */
export interface GraphQLContext extends BaseContext {
  ctx: Context;
  gate: RateGate;
  /** Begins a subscription, where the transport can carry one. */
  subscribe?: (request: Request) => Promise<void>;
  /** The transport carries nothing else. */
  subscribesOnly?: boolean;
  /** The transport cannot set a cookie, and so cannot hand out a session. */
  setsNoCookie?: boolean;
}

/** Stands in for a document that was refused. */
const nothing = parse('{ __typename }');

function compiledExecution(schema: GraphQLSchema, documents: Documents): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart() {
      let admission: Admission;
      return {
        // A document that is there already is neither parsed nor validated by Apollo.
        async didResolveSource(incoming) {
          const { query = '', operationName, variables } = incoming.request;
          admission = admit(schema, { query, operationName, variables }, incoming.contextValue.ctx);
          (incoming as { document?: DocumentNode }).document = admission.document ?? nothing;
        },
        async willSendResponse({ request, response }) {
          statusByDraft(request.http?.headers.get('accept'), response);
        },
        async responseForOperation({ document, operationName, source, request, contextValue, response: { http } }) {
          const { ctx } = contextValue;
          nameMutation(ctx, request.extensions);
          const budget = budgetOf(admission, ctx);
          ctx.request.budget = budget;
          const variables = request.variables ?? {};
          const execution: Execution = { document, operationName, source, variables, admission, budget, contextValue, http };
          const result = admission.errors ? refused(admission.errors, execution) : await answered(schema, documents, execution);
          return { http, body: { kind: 'single', singleResult: { ...result, extensions: { cost: budget.cost } } as never } };
        },
      };
    },
  };
}

/** One operation of a request, with what answers it. */
interface Execution {
  document: DocumentNode;
  operationName: string | null;
  /** The text of the document. */
  source: string;
  variables: Record<string, unknown>;
  admission: Admission;
  budget: Budget;
  contextValue: GraphQLContext;
  /** The status and headers of the answer. */
  http: HTTPGraphQLHead;
}

const isMutation = ({ operation }: Admission) => operation?.operation === OperationTypeNode.MUTATION;

/** What an operation may spend. What a mutation reads to do its work is not counted. */
const budgetOf = (admission: Admission, { app }: Context): Budget =>
  new Budget(app.config.graphql, admission.estimated, !isMutation(admission));

/** The answer to what is refused as a whole. */
function refused(errors: readonly GraphQLError[], { contextValue, http }: Execution): object {
  const { code, status } = errors[0]!.extensions;
  // A browser comes back to a stream that ends with 200.
  const endsStream = contextValue.subscribesOnly && code !== 'permission_denied';
  http.status = endsStream || isForAll(code) ? Number(status) : 200;
  return { errors: errors.map((error) => error.toJSON()) };
}

/** The answer to what failed while it ran. */
function failed(error: unknown, { contextValue: { ctx }, http }: Execution): object {
  const refusal = refusalOf(error, ctx);
  noteRefusal(http, refusal);
  return { errors: [toGraphQLError(refusal, ctx.request.id).toJSON()] };
}

/** Runs an operation that the guards let in; undefined where it is a subscription that the transport now carries. */
async function executed(schema: GraphQLSchema, documents: Documents, execution: Execution): Promise<ExecutionResult | undefined> {
  const { document, operationName, source, variables, admission, budget, contextValue } = execution;
  const operation = documents.get(document, operationName, source);
  budget.isDetached = operation.detached;
  if (contextValue.setsNoCookie && operation.opensSession)
    throw badRequest('This opens a session, which comes as a cookie, and a WebSocket sets none: ask for it over HTTP');
  await spendFields(schema, operation, contextValue);
  if (await subscribed(contextValue, { operation, document, operationName, variables, cost: admission.estimated })) return undefined;
  return run(operation, contextValue.ctx, variables);
}

/** The answer of an operation that the guards let in: what it comes to, or what is wrong with it. */
async function answered(schema: GraphQLSchema, documents: Documents, execution: Execution): Promise<object> {
  const { admission, budget, contextValue, http } = execution;
  const { ctx } = contextValue;
  const overBudget = (refusal: AppError) => refused([toGraphQLError(refusal, ctx.request.id)], execution);
  try {
    const result = await executed(schema, documents, execution);
    if (!result) return { data: null };
    // What is done is told, with errors in the place of what it does not show.
    if (budget.refusal && !(budget.isDetached && isDone(result))) return overBudget(budget.refusal);
    const printable = printErrors(result, ctx);
    noteResolvers(http, printable);
    return await printed(printable, contextValue, (bytes) => (isMutation(admission) ? budget.note(bytes) : budget.print(bytes)));
  } catch (error) {
    return budget.refusal && error === budget.refusal ? overBudget(budget.refusal) : failed(error, execution);
  }
}

/** A result whose data `hold` allows by their bytes; over HTTP, which takes text, they are printed. */
async function printed(result: ExecutionResult, { subscribe, ctx }: GraphQLContext, hold: (bytes: number) => void): Promise<object> {
  const data: unknown = result.data;
  if (!data) return result;
  hold(answerSize(data, ctx.request.budget?.mostBytes));
  if (subscribe || data instanceof Printed) return result;
  const text = await printJson(data);
  hold(Buffer.byteLength(text));
  return { ...result, data: new Printed(text) };
}

/** Under its own media type an answer of GraphQL without data has the status of what is wrong (GraphQL over HTTP). */
function statusByDraft(accept: string | undefined, { http, body }: GraphQLResponse): void {
  if (body.kind !== 'single' || !wantsGraphqlResponse(accept)) return;
  http.headers.set('content-type', `${graphqlResponse}; charset=utf-8`);
  const { data, errors } = body.singleResult;
  if (data !== undefined || !errors?.length) return;
  http.status = http.status && http.status >= 400 ? http.status : Number(errors[0]!.extensions?.status ?? 400);
}

/** The text of an answer; Apollo's own is indented. */
function textOf({ errors, data, ...rest }: FormattedExecutionResult): string {
  let text = '';
  // Added up, since to join what is long copies it.
  for (const [name, value] of Object.entries({ errors, ...rest, data })) {
    if (value === undefined) continue;
    text += `${text ? ',' : '{'}"${name}":`;
    text += value instanceof Printed ? value.text : JSON.stringify(value);
  }
  return text ? `${text}}` : '{}';
}

/** What every HTTP client must see. Whatever else is refused before it runs is 200 under plain JSON (GraphQL over HTTP). */
const isForAll = (code: unknown) => code === 'unauthenticated' || code === 'rate_limited' || code === 'unavailable';

function noteRefusal(http: HTTPGraphQLHead, { code, status, retryAfter }: AppError): void {
  if (isForAll(code)) http.status = status;
  if (retryAfter) http.headers.set('retry-after', String(retryAfter));
}

/**
 * A limit that a resolver met (failed logins of one address) is as visible as one that refused the request. So is an outage
 * where no root field has a value; what is answered in part stays an answer.
 */
function noteResolvers(http: HTTPGraphQLHead, { data, errors }: ExecutionResult): void {
  const isEmpty = Object.values(data ?? {}).every((value) => value === null);
  const codes = isEmpty ? ['rate_limited', 'unavailable'] : ['rate_limited'];
  const told = errors?.find(({ extensions }) => codes.includes(String(extensions.code)));
  if (told) noteRefusal(http, told.extensions as never);
}

/**
 * What the client calls the mutation, and the trace that it is in, may stand in the extensions of the request, where headers cannot be set
 * for each.
 */
function nameMutation({ request, app }: Context, extensions: Record<string, unknown> | undefined): void {
  const { clientMutationId, traceparent, tracestate } = extensions ?? {};
  // The headers are of one trace, the extensions of another: no state of the one goes with the other.
  if (typeof traceparent === 'string' && !request.traceparent) {
    request.traceparent = ownPlaceIn(traceparent, app.clock);
    if (request.traceparent && typeof tracestate === 'string') request.tracestate = stateOf(tracestate);
  }
  if (clientMutationId === undefined || clientMutationId === null) return;
  // What is no text is no name: the operation refuses it.
  request.clientMutationId = typeof clientMutationId === 'string' ? clientMutationId : '';
}

/** Whether the operation was a subscription that the transport now carries. */
async function subscribed({ subscribe, subscribesOnly }: GraphQLContext, request: Request): Promise<boolean> {
  const isSubscription = request.operation.kind === OperationTypeNode.SUBSCRIPTION;
  if (subscribesOnly && !isSubscription) throw badRequest('Only subscriptions are served here; the rest is at /graphql');
  if (!isSubscription || !subscribe) return false;
  await subscribe(request);
  return true;
}

export function refusalOf(error: unknown, ctx: Context): AppError {
  const known = fromDatabase(error);
  // What the library itself finds wrong with a document or its variables: nothing of ours was called.
  if (!known && error instanceof GraphQLError && !error.originalError) return badRequest(error.message);
  return answerTo(ctx, error, known, 'unhandled error in an operation');
}

/** Each root field spends its named buckets, so that aliases do not multiply what a limit allows. */
async function spendFields(schema: GraphQLSchema, operation: Operation, { ctx, gate }: GraphQLContext) {
  const root = schema.getRootType(operation.kind)!.getFields();
  for (const name of operation.fields) {
    const buckets = root[name]?.extensions.buckets as Bucket[] | undefined;
    if (buckets) await gate.field(ctx, name, buckets);
  }
}

/** Apollo Server over the compiled schema: no batches, no mutation by GET, nothing that a form can send. */
export function graphqlServer(schema: GraphQLSchema, documents: Documents): ApolloServer<GraphQLContext> {
  return new ApolloServer<GraphQLContext>({
    schema,
    // Decided by the guards, per caller.
    introspection: true,
    documentStore: null,
    // The transports look documents up by their hashes (persisted.ts).
    persistedQueries: false,
    csrfPrevention: true,
    stringifyResult: textOf,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    // the start of the process does, and in order: Apollo would send the signal a second time
    stopOnTerminationSignals: false,
    formatError,
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginLandingPageDisabled(), compiledExecution(schema, documents)],
  });
}
