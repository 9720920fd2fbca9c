import type { components } from '../generated/client/rest.js';

/** The codes of errors, the same over GraphQL (`extensions.code`) and REST (`code`). */
export type ErrorCode = components['schemas']['Error']['code'];

/** One field to blame. */
export type FieldFault = NonNullable<components['schemas']['Error']['details']>[number];

/** `members`: all that the server told of the error, with what only some operations tell: `blockers`, `uses`, `impact`. */
type Base = { message: string; requestId?: string; members?: Members };
type WithDetails = 'transport_conflict' | 'conflict' | 'payload_too_large' | 'precondition_required';
type Other = Exclude<ErrorCode, WithDetails | 'invalid_request' | 'validation_failed' | 'rate_limited' | 'unavailable'>;

/**
 * What went wrong, to switch over by `code`. `no_answer` is none of the server's: the connection failed, or what came was no
 * answer of this server.
 */
export type CrmError =
  | (Base & { code: 'invalid_request' | 'validation_failed'; details: readonly FieldFault[] })
  | (Base & { code: WithDetails /** The fields to blame, where there are any. */; details?: readonly FieldFault[] })
  | (Base & { code: 'rate_limited' | 'unavailable' /** Seconds until a retry makes sense. */; retryAfter: number })
  | (Base & { code: Other })
  | (Base & { code: 'no_answer'; cause: unknown });

/** What an object tells, by name. */
export type Members = Readonly<Record<string, unknown>>;

/** The body that clients keep as text of an answer that is no 200. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {}
}

/** What the server closes a WebSocket for, and words for it where it gave none. */
const closeCodes: Readonly<Record<string, ErrorCode>> = { 4401: 'unauthenticated', 4403: 'permission_denied', 4429: 'rate_limited' };
const closeWords: Readonly<Record<string, string>> = { 4401: 'Not authenticated', 4403: 'Permission denied', 4429: 'Too many requests' };

/** The members of an error that the end of a WebSocket stands for: its event, or Apollo's Error with its code and reason. */
function membersOfClose({ code: own, reason: why, message }: Members): Members | undefined {
  const [, code = String(own), reason = why] = /^Socket closed with event (\d+) ?(.*)$/s.exec(String(message)) ?? [];
  if (!Number(code) || typeof reason !== 'string') return undefined;
  // A close cannot tell how long to wait.
  return { code: closeCodes[code], message: reason || closeWords[code] || `The connection was closed (${code})`, retryAfter: 60 };
}

/**
 * The members of an error in whatever a client throws or answers: a REST body, an error of GraphQL, an error of Apollo, urql or
 * graphql-request, the end of a WebSocket.
 */
function membersOf(thrown: Members & { extensions?: Members }): Members | undefined {
  const { extensions, errors, graphQLErrors, networkError, bodyText, body, response } = thrown;
  // An answer has extensions, too, without a code.
  if (typeof extensions?.code === 'string') return { ...extensions, message: thrown.message };
  if (typeof thrown.code === 'string' && typeof thrown.error === 'string') return { ...thrown, message: thrown.error };
  const [first] = [thrown, errors, graphQLErrors].filter(Array.isArray).flat();
  const inner = first ?? networkError ?? parsed(bodyText ?? body) ?? response;
  return membersOfClose(thrown) ?? (inner && typeof inner === 'object' ? membersOf(Object(inner)) : undefined);
}

/**
 * What went wrong. `retryAfter` is the header of that name, where what was thrown does not have it. A WebSocket that the server
 * closed because the sign-in has ended, its rights have changed or too much was asked (4401, 4403, 4429) is told by the codes of these.
 */
export function errorOf(thrown: unknown, retryAfter?: string | null): CrmError {
  const members = membersOf(Object(thrown));
  const said = members?.message ?? (thrown as Error | undefined)?.message ?? (typeof thrown === 'string' ? thrown : 'There was no answer');
  const base = { message: String(said), requestId: members?.requestId as string | undefined, members };
  const { code, details } = (members ?? {}) as { code?: ErrorCode; details?: FieldFault[] };
  if (!code) return { ...base, code: 'no_answer', cause: thrown };
  const wait = Number(members?.retryAfter ?? retryAfter ?? Object(thrown).response?.headers?.get?.('Retry-After') ?? 1);
  if (code === 'invalid_request' || code === 'validation_failed') return { ...base, code, details: details ?? [] };
  if (code === 'rate_limited' || code === 'unavailable') return { ...base, code, retryAfter: wait };
  return { ...base, code, ...(details && { details }) } as CrmError;
}
