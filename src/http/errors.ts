import type { AppError } from '../kernel/base/errors.js';

/** An error as REST prints it: the flat body of the contract's "Errors". */
export function errorBody(error: AppError, requestId: string) {
  const { message, code, details, retryAfter, more } = error;
  return { error: message, code, ...(details && { details }), requestId, ...(retryAfter !== undefined && { retryAfter }), ...more };
}

/** What GraphQL tells of an error besides its message. */
export function extensionsOf({ code, status, field, details, retryAfter, more }: AppError, requestId: string) {
  return { code, status, ...(field && { field }), ...(details && { details }), ...(retryAfter && { retryAfter }), requestId, ...more };
}

/** An error as GraphQL prints it, for what is refused before a document is looked at. */
export const graphqlErrorBody = (error: AppError, requestId: string) => ({
  errors: [{ message: error.message, extensions: extensionsOf(error, requestId) }],
});
