/** Every error a caller can meet, with its HTTP status. The contract's "Errors" section names most of the codes; the rest are in DECISIONS.md. */
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
  precondition_required: 428,
  rate_limited: 429,
  internal_error: 500,
  vendor_unavailable: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** One field to blame and what is wrong with it. */
export interface Detail {
  field: string;
  message: string;
}

interface Extras {
  details?: Detail[];
  /** Seconds until a retry makes sense. */
  retryAfter?: number;
  /** More members of the body, where the contract shows some (a template's uses, an impact's counts). */
  more?: Record<string, unknown>;
}

/** An error that carries its own code and status; both doors print it, nothing else decides a status. */
export class AppError extends Error {
  readonly status: number;
  readonly details?: Detail[];
  readonly retryAfter?: number;
  readonly more?: Record<string, unknown>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    extras: Extras = {},
  ) {
    super(message);
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
export const invalidField = (field: string, message: string) => invalid([{ field, message }]);
/** 400 with no field to blame. */
export const badRequest = (message: string) => new AppError('invalid_request', message);
/** 422: a rule across fields or records is broken. */
export const unprocessable = (field: string, message: string, more?: Record<string, unknown>) =>
  new AppError('validation_failed', `${field} ${message}`, { details: [{ field, message }], more });
export const unauthenticated = (message = 'Authentication is required') => new AppError('unauthenticated', message);
export const denied = (message: string) => new AppError('permission_denied', message);
export const notFound = (what: string) => new AppError('not_found', `${what} not found`);
export const conflict = (message: string, field?: string) =>
  new AppError('conflict', message, field ? { details: [{ field, message }] } : {});
export const paymentRequired = (message: string) => new AppError('payment_required', message);
export const tooLarge = (field: string, message: string) =>
  new AppError('payload_too_large', `${field} ${message}`, { details: [{ field, message }] });
export const unavailable = (message = 'The service is temporarily unavailable', retryAfter = 1) =>
  new AppError('unavailable', message, { retryAfter });

/** Throws `otherwise()` unless `condition` holds: the first lines of a service function. */
export function check(condition: unknown, otherwise: () => AppError): asserts condition {
  if (!condition) throw otherwise();
}

/** The value, or 404 when there is none: a foreign record is "not found", decided here. */
export function found<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw notFound(what);
  return value;
}
