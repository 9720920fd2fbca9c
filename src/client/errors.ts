import type { components } from '../generated/client/rest.js';

/** The codes of errors, the same over GraphQL (`extensions.code`) and REST (`code`). */
export type ErrorCode = components['schemas']['Error']['code'];

/** One field to blame. */
export type FieldFault = NonNullable<components['schemas']['Error']['details']>[number];

type Base = { message: string; requestId?: string };
type Other = Exclude<ErrorCode, 'invalid_request' | 'validation_failed' | 'rate_limited' | 'unavailable'>;

/**
 * What went wrong, to switch over by `code`. `no_answer` is none of the server's: the connection failed, or what came was no
 * answer of this server.
 */
export type CrmError =
  | (Base & { code: 'invalid_request' | 'validation_failed'; details: readonly FieldFault[] })
  | (Base & { code: 'rate_limited' | 'unavailable' /** Seconds until a retry makes sense. */; retryAfter: number })
  | (Base & { code: Other })
  | (Base & { code: 'no_answer'; cause: unknown });

type Told = 'code' | 'message' | 'error' | 'details' | 'retryAfter' | 'requestId';
type Members = Partial<Record<Told | 'extensions' | 'errors' | 'graphQLErrors' | 'bodyText', unknown>>;

/** The body that Apollo keeps as text of an answer that is no 200. */
function parsed(text: unknown): Members | undefined {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as Members) : undefined;
  } catch {
    return undefined;
  }
}

const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/** The members of an error in whatever a client throws or answers: a REST body, an error of GraphQL, an error of Apollo or urql. */
function membersOf(thrown: Members): Members | undefined {
  const extensions = thrown.extensions as Members | undefined;
  // An answer has extensions, too, without a code.
  if (typeof extensions?.code === 'string') return { ...extensions, message: thrown.message };
  if (typeof thrown.code === 'string' && typeof thrown.error === 'string') return { ...thrown, message: thrown.error };
  const inner = first(thrown) ?? first(thrown.errors) ?? first(thrown.graphQLErrors) ?? parsed(thrown.bodyText);
  return inner && typeof inner === 'object' ? membersOf(inner as Members) : undefined;
}

/** What went wrong. `retryAfter` is the header of that name, where the transport shows it. */
export function errorOf(thrown: unknown, retryAfter?: string | null): CrmError {
  const members = thrown && typeof thrown === 'object' ? membersOf(thrown as Members) : undefined;
  const said = members?.message ?? (thrown as Error | undefined)?.message;
  const base = { message: String(said ?? thrown), requestId: members?.requestId as string | undefined };
  const code = members?.code as ErrorCode | undefined;
  if (!code) return { ...base, code: 'no_answer', cause: thrown };
  if (code === 'invalid_request' || code === 'validation_failed')
    return { ...base, code, details: (members?.details ?? []) as FieldFault[] };
  if (code === 'rate_limited' || code === 'unavailable')
    return { ...base, code, retryAfter: Number(members?.retryAfter ?? retryAfter ?? 1) };
  return { ...base, code };
}
