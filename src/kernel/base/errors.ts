/**
 * Every error a caller can meet, with its HTTP status. The contract's "Errors" section names most of the codes; the rest are in
 * docs/product-rules.md, "Errors".
 */
export const statusOf = {
  invalid_request: 400,
  transport_conflict: 400,
  unauthenticated: 401,
  payment_required: 402,
  permission_denied: 403,
  not_found: 404,
  line_not_found: 404,
  user_not_found: 404,
  conflict: 409,
  send_in_progress: 409,
  operation_key_conflict: 409,
  impact_confirmation_required: 409,
  not_configured: 409,
  credentials_changed: 409,
  gone: 410,
  payload_too_large: 413,
  validation_failed: 422,
  recipient_opted_out: 422,
  do_not_contact: 422,
  landline: 422,
  vendor_line_missing: 422,
  vendor_line_not_configured: 422,
  key_rejected: 422,
  bad_graph: 422,
  unreachable_node: 422,
  path_no_ending: 422,
  missing_ending: 422,
  bad_menu: 422,
  bad_timing: 422,
  bad_ring_seconds: 422,
  weights_not_100: 422,
  bad_forward_number: 422,
  empty_group: 422,
  member_no_phone: 422,
  number_claimed: 422,
  number_missing: 422,
  precondition_required: 428,
  rate_limited: 429,
  internal_error: 500,
  vendor_unavailable: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** What may be wrong with one field, for programs that branch on it; the detail's message says it to people. */
export const faultMeanings = {
  required: 'missing, null or empty where a value is needed',
  invalid_type: 'of another JSON type than the field takes',
  invalid_format: 'not written as the field wants it: an e-mail address, a UUID, a date',
  too_long: 'more characters than the field takes',
  too_short: 'fewer characters than the field takes',
  too_large: 'more bytes than the field takes',
  too_many: 'more items than the list takes',
  too_few: 'fewer items than the list takes',
  out_of_range: 'a number or a moment beyond its bounds, or with more places than are kept',
  not_allowed: 'not one of the values that are taken here; `options` lists them where there are few',
  not_found: 'names no record of the account',
  taken: 'another record has this value already',
  conflicting: 'contradicts another field of the request or of the record',
  incorrect: 'a password, a code or a token that is wrong, used or expired',
  unknown_field: 'no field of the input',
} as const;

export type FaultCode = keyof typeof faultMeanings;

/** What is wrong with one field: a code for programs, words that follow the field's name. */
export interface Fault {
  code: FaultCode;
  message: string;
  /** What would be valid, where that is few. */
  options?: readonly string[];
}

/** One field to blame and what is wrong with it. */
export interface Detail extends Fault {
  field: string;
}

/** More valid values than these are no help to anybody. */
const mostOptions = 50;

/** One field to blame; a long list of options is left out. */
export const detailOf = (field: string, { code, message, options }: Fault): Detail =>
  options && options.length <= mostOptions ? { field, code, message, options } : { field, code, message };

/** A value that is none of these. */
export const notOneOf = (options: readonly string[]): Fault => ({
  code: 'not_allowed',
  message: `must be one of ${options.join(', ')}`,
  options,
});

/** More members of an error's body; `options` are what would have been valid. */
type More = Record<string, unknown> & { options?: readonly string[] };

interface Extras {
  details?: Detail[];
  /** Seconds until a retry makes sense. */
  retryAfter?: number;
  /** More members of the body, where the contract shows some (a template's uses, an impact's counts). */
  more?: More;
  /** What was behind it, for the log alone: no caller sees it. */
  cause?: unknown;
}

/** An error that carries its own code and status. REST and GraphQL print it, and nothing else decides a status. */
export class AppError extends Error {
  readonly status: number;
  readonly details?: Detail[];
  readonly retryAfter?: number;
  readonly more?: More;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { cause, ...extras }: Extras = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = statusOf[code];
    Object.assign(this, extras);
  }

  /** The first field to blame, if there is one. */
  get field(): string | undefined {
    return this.details?.[0]?.field;
  }
}

const blame = (details: Detail[]) => details.map((d) => `${d.field} ${d.message}`).join('; ');

/** 400: the shape, type or value of one or more fields is wrong. */
export const invalid = (details: Detail[]) => new AppError('invalid_request', blame(details), { details });
/** 400 for one field: the message follows the field's name ("email must be an e-mail address"). */
export const invalidField = (field: string, code: FaultCode, message: string, options?: readonly string[]) =>
  invalid([detailOf(field, { code, message, options })]);
/** 400 for a field whose value is none of these. */
export const invalidChoice = (field: string, options: readonly string[]) => invalid([detailOf(field, notOneOf(options))]);
/** 400 with no field to blame. */
export const badRequest = (message: string) => new AppError('invalid_request', message);
/** 422: a rule across fields or records is broken. */
export const unprocessable = (field: string, code: FaultCode, message: string, more?: More) =>
  new AppError('validation_failed', `${field} ${message}`, { details: [detailOf(field, { code, message, options: more?.options })], more });
/** Invalid input as 422, where the contract names only that. */
export function asUnprocessable(error: AppError): AppError {
  if (error.code !== 'invalid_request' || !error.details) return error;
  return new AppError('validation_failed', error.message, { details: error.details });
}
export const unauthenticated = (message = 'Authentication is required') => new AppError('unauthenticated', message);
export const denied = (message: string) => new AppError('permission_denied', message);
export const notFound = (what: string) => new AppError('not_found', `${what} not found`);
/** 409: a field of the record, or of the request, stands against it now; the message follows its name. */
export const conflict = (field: string, message: string, code: FaultCode = 'conflicting') =>
  new AppError('conflict', `${field} ${message}`, { details: [{ field, code, message }] });
/** 409: another record has the value of the field already; the message follows the field's name. */
export const taken = (field: string, message = 'is taken already') => conflict(field, message, 'taken');
export const paymentRequired = (message: string) => new AppError('payment_required', message);
export const tooLarge = (field: string, message: string) =>
  new AppError('payload_too_large', `${field} ${message}`, { details: [{ field, code: 'too_large', message }] });
/** 500: a fault of ours, of which the log is told and nobody else. */
export const internalError = () => new AppError('internal_error', 'Internal server error');
/** 503: nothing is wrong with the request. `retryAfter` is in seconds; the log tells the `cause`, the caller never hears of it. */
export const unavailable = (message = 'The service is temporarily unavailable', retryAfter = 1, cause?: unknown) =>
  new AppError('unavailable', message, { retryAfter, cause });

/** Throws `otherwise()` unless `condition` holds: the first lines of a service function. */
export function check(condition: unknown, otherwise: () => AppError): asserts condition {
  if (!condition) throw otherwise();
}

/** The value, or 404 when there is none: a foreign record is "not found", decided here. */
export function found<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw notFound(what);
  return value;
}

/** What was looked for, or null where it is not there. */
export const orNull = <T>(looking: Promise<T>): Promise<T | null> =>
  looking.catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  });
