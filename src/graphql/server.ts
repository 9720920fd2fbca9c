import { ApolloServer, type ApolloServerPlugin, type BaseContext } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';
import type { RateGate } from '../http/limits.js';
import type { Context } from '../kernel/context.js';
import { AppError } from '../kernel/errors.js';
import type { Bucket } from '../kernel/limits.js';
import { type Operation, run } from '../kernel/operation.js';
import type { Documents } from './documents.js';
import { formatError, printErrors, toGraphQLError } from './errors.js';

/** Apollo answers HTTP, parses and validates; the compiled operation does the work. */
export interface GraphQLContext extends BaseContext {
  ctx: Context;
  gate: RateGate;
}

function compiledExecution(schema: GraphQLSchema, documents: Documents): ApolloServerPlugin<GraphQLContext> {
  return {
    async requestDidStart() {
      return {
        async responseForOperation({ document, operationName, source, request, contextValue, response }) {
          const { ctx } = contextValue;
          const reply = (singleResult: object) => ({
            http: response.http,
            body: { kind: 'single' as const, singleResult: singleResult as never },
          });
          try {
            const operation = documents.get(document, operationName, source);
            await spendFields(schema, operation, contextValue);
            return reply(printErrors(await run(operation, ctx, request.variables ?? {}), ctx));
          } catch (error) {
            const refusal = refusalOf(error, ctx);
            if (refusal.code === 'unauthenticated' || refusal.code === 'rate_limited') response.http.status = refusal.status;
            if (refusal.retryAfter) response.http.headers.set('retry-after', String(refusal.retryAfter));
            return reply({ errors: [toGraphQLError(refusal, ctx.request.id).toJSON()] });
          }
        },
      };
    },
  };
}

function refusalOf(error: unknown, ctx: Context): AppError {
  if (error instanceof AppError) return error;
  ctx.app.log.error({ err: error, requestId: ctx.request.id }, 'unhandled error in an operation');
  return new AppError('internal_error', 'Internal server error');
}

/** Each root field spends its named buckets, so that aliases do not multiply what a limit allows. */
async function spendFields(schema: GraphQLSchema, operation: Operation, { ctx, gate }: GraphQLContext) {
  const root = schema.getRootType(operation.kind)!.getFields();
  for (const name of operation.fields) {
    const buckets = root[name]?.extensions.buckets as Bucket[] | undefined;
    if (buckets) await gate.field(ctx, name, buckets);
  }
}

/** Apollo Server over the compiled schema; `introspection` is decided per request by the access of its caller. */
export function graphqlServer(schema: GraphQLSchema, documents: Documents): ApolloServer<GraphQLContext> {
  return new ApolloServer<GraphQLContext>({
    schema,
    introspection: true,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    // the start of the process does, and in order: Apollo would send the signal a second time
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: 5000 },
    formatError,
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginLandingPageDisabled(), compiledExecution(schema, documents)],
  });
}
