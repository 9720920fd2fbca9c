import { Printed } from '../kernel/base/jsonText.js';
import type { Endpoint } from '../kernel/module/routes.js';

/** A page as its document answers it. */
export interface Connection {
  nodes: unknown[] | Printed;
  /** Absent where the caller does without it. */
  totalCount?: number;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

export interface Envelope {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** A body as JSON: what the database printed goes out as it stands, at the top or as a member of a member. */
export function jsonOf(body: unknown, depth = 2): string {
  if (body instanceof Printed) return body.text;
  if (depth === 0 || typeof body !== 'object' || body === null || Object.getPrototypeOf(body) !== Object.prototype)
    return JSON.stringify(body) ?? 'null';
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value, depth - 1)}`).join(',')}}`;
}

/** A result in the list shape that the contract names for its endpoint. */
export function envelope(endpoint: Endpoint, result: unknown, asked: { page?: number; perPage?: number }): Envelope {
  const headers: Record<string, string> = {};
  const reply = (body: unknown): Envelope => ({ status: statusFor(endpoint, result), headers, body });
  switch (endpoint.as) {
    case 'page': {
      const { nodes, meta } = paged(result as Connection, asked);
      const all = { ...meta, ...extrasOf(endpoint, result) };
      return reply({ data: { data: nodes, meta: all } });
    }
    case 'flatPage': {
      const { nodes, meta } = paged(result as Connection, asked);
      return reply({ data: nodes, meta });
    }
    case 'camelPage': {
      const { nodes, meta } = paged(result as Connection, asked);
      const { page, per_page: perPage, total, totalPages, next_cursor } = meta;
      return reply({ data: nodes, meta: { page, perPage, total, totalPages, next_cursor } });
    }
    case 'bare': {
      const nodes = Array.isArray(result) ? result : (result as Connection).nodes;
      if (endpoint.pagingHeaders) Object.assign(headers, pagingHeaders(result as Connection, asked));
      return reply({ data: nodes });
    }
    case 'beside': {
      const { [endpoint.data!]: data, ...beside } = result as Record<string, unknown>;
      return reply({ data, ...beside });
    }
    default:
      return reply({ data: endpoint.spread ? spread(result, endpoint.spread) : result });
  }
}

/** An object with the members of one of its members in its place. */
const spread = (result: unknown, name: string) => {
  const { [name]: inner, ...besides } = result as Record<string, unknown>;
  return { ...(inner as object), ...besides };
};

/** What the endpoint shows besides the page, and what the query string asked for. */
function extrasOf(endpoint: Endpoint, result: unknown): Record<string, unknown> {
  const members = result as Record<string, unknown>;
  const asked = [...(endpoint.beside ?? []), ...Object.keys(endpoint.extras ?? {})].filter((name) => members[name] !== undefined);
  return Object.fromEntries(asked.map((name) => [name, members[name]]));
}

function statusFor(endpoint: Endpoint, result: unknown): number {
  for (const [flag, status] of Object.entries(endpoint.statusWhen ?? {})) {
    if ((result as Record<string, unknown>)[flag] === true) return status;
  }
  return endpoint.status;
}

function paged(connection: Connection, asked: { page?: number; perPage?: number }) {
  const perPage = asked.perPage ?? 50;
  const total = connection.totalCount ?? null;
  const meta = {
    page: asked.page ?? 1,
    per_page: perPage,
    total,
    totalPages: total === null ? null : Math.ceil(total / perPage),
    next_cursor: nextCursor(connection),
  };
  return { nodes: connection.nodes, meta };
}

/** What `cursor` takes for the page after this one. */
export const nextCursor = ({ pageInfo }: Connection): string | null => (pageInfo.hasNextPage ? pageInfo.endCursor : null);

function pagingHeaders(connection: Connection, asked: { page?: number; perPage?: number }) {
  const cursor = nextCursor(connection);
  return {
    ...(connection.totalCount !== undefined && { 'X-Total-Count': String(connection.totalCount) }),
    ...(cursor !== null && { 'X-Next-Cursor': cursor }),
    'X-Page': String(asked.page ?? 1),
    'X-Per-Page': String(asked.perPage ?? 50),
  };
}
