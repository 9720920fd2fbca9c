import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { extensionsOf } from '../http/errors.js';
import { type AppError, internalError } from '../kernel/base/errors.js';
import type { Context } from '../kernel/context/context.js';
import { answerTo } from '../kernel/context/unavailableLog.js';
import { causeOf } from '../kernel/operations/operation.js';
import { mostErrors } from '../kernel/operations/outcomes.js';

/** An error of ours as GraphQL prints it: `extensions` carry code, status, field, details, requestId. */
export function toGraphQLError(error: AppError, requestId: string, at?: Pick<GraphQLError, 'path' | 'nodes'>): GraphQLError {
  return new GraphQLError(error.message, { extensions: extensionsOf(error, requestId), path: at?.path, nodes: at?.nodes });
}

/** The printable errors of a result; what is a fault of ours is logged and masked; why something is unavailable is told to the log. */
export function printErrors(result: ExecutionResult, ctx: Context): ExecutionResult {
  if (!result.errors?.length) return result;
  const errors = result.errors.slice(0, mostErrors).map((error) => {
    const answer = answerTo(ctx, error.originalError ?? error, causeOf(error), 'unhandled error in a resolver');
    return toGraphQLError(answer, ctx.request.id, error);
  });
  return { ...result, errors };
}

const requestErrors = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** Apollo's own errors (parse, validation, guards) in our codes. */
export function formatError(formatted: GraphQLFormattedError): GraphQLFormattedError {
  const { code, ...rest } = formatted.extensions ?? {};
  if (rest.status) return { ...formatted, extensions: { code, ...withoutStack(rest) } };
  const ours = requestErrors.has(String(code)) ? { code: 'invalid_request', status: 400 } : { code: 'internal_error', status: 500 };
  const message = ours.status === 500 ? internalError().message : formatted.message;
  return { message, locations: formatted.locations, extensions: ours };
}

const withoutStack = ({ stacktrace: _stack, ...rest }: Record<string, unknown>) => rest;
