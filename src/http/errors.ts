import type { AppError } from '../kernel/errors.js';

/** An error as REST prints it: the flat body of the contract's "Errors". */
export function errorBody(error: AppError, requestId: string) {
  const { message, code, details, retryAfter, more } = error;
  return { error: message, code, ...(details && { details }), requestId, ...(retryAfter !== undefined && { retryAfter }), ...more };
}
