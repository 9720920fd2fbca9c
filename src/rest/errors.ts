import { AppError } from '../kernel/base/errors.js';

/** "assignedTo" → "assigned_to", "tags.0" → "tag_names.0". */
function clientName(field: string, names: ReadonlyMap<string, string>): string {
  const [head = '', ...inside] = field.split('.');
  return names.get(field) ?? [names.get(head) ?? head, ...inside].join('.');
}

/** The error as the client is told it, with its fields under the names that the client used. */
export function inClientNames(error: AppError, names: ReadonlyMap<string, string>): AppError {
  const details = error.details?.map((d) => ({ ...d, field: clientName(d.field, names) }));
  if (!details || details.every((d, i) => d.field === error.details![i]!.field)) return error;
  const message = details.map((d) => `${d.field} ${d.message}`).join('; ');
  return new AppError(error.code, message, { details, retryAfter: error.retryAfter, more: error.more });
}
