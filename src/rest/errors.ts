import { AppError } from '../kernel/errors.js';

/** The same error with its fields under the names that the client used. */
export function inClientNames(error: AppError, names: ReadonlyMap<string, string>): AppError {
  if (!error.details?.some((d) => names.has(d.field))) return error;
  const details = error.details.map((d) => ({ field: names.get(d.field) ?? d.field, message: d.message }));
  const message = details.map((d) => `${d.field} ${d.message}`).join('; ');
  return new AppError(error.code, message, { details, retryAfter: error.retryAfter, more: error.more });
}

/** Invalid input as 422 on the rows where the contract names only that. */
export function asUnprocessable(error: AppError): AppError {
  if (error.code !== 'invalid_request' || !error.details) return error;
  return new AppError('validation_failed', error.message, { details: error.details });
}
