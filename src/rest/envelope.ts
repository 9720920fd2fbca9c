import type { Printed } from '../kernel/base/jsonText.js';
import type { Row } from '../kernel/module/routes.js';

interface Connection {
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

/** A result in the list shape that the contract names for its row. */
export function envelope(row: Row, result: unknown, asked: { page?: number; perPage?: number }): Envelope {
  const headers: Record<string, string> = {};
  const reply = (body: unknown): Envelope => ({ status: statusFor(row, result), headers, body });
  switch (row.as) {
    case 'page': {
      const { nodes, meta } = paged(result as Connection, asked);
      const all = { ...meta, ...extrasOf(row, result) };
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
      if (row.pagingHeaders) Object.assign(headers, pagingHeaders(result as Connection, asked));
      return reply({ data: nodes });
    }
    case 'beside': {
      const { [row.data!]: data, ...beside } = result as Record<string, unknown>;
      return reply({ data, ...beside });
    }
    default:
      return reply({ data: row.spread ? spread(result, row.spread) : result });
  }
}

/** An object with the members of one of its members in its place. */
const spread = (result: unknown, name: string) => {
  const { [name]: inner, ...besides } = result as Record<string, unknown>;
  return { ...(inner as object), ...besides };
};

/** What the row shows besides the page, and what the query string asked for. */
function extrasOf(row: Row, result: unknown): Record<string, unknown> {
  const members = result as Record<string, unknown>;
  const asked = [...(row.beside ?? []), ...Object.keys(row.extras ?? {})].filter((name) => members[name] !== undefined);
  return Object.fromEntries(asked.map((name) => [name, members[name]]));
}

function statusFor(row: Row, result: unknown): number {
  for (const [flag, status] of Object.entries(row.statusWhen ?? {})) {
    if ((result as Record<string, unknown>)[flag] === true) return status;
  }
  return row.status;
}

function paged(connection: Connection, asked: { page?: number; perPage?: number }) {
  const perPage = asked.perPage ?? 50;
  const total = connection.totalCount ?? null;
  const meta = {
    page: asked.page ?? 1,
    per_page: perPage,
    total,
    totalPages: total === null ? null : Math.ceil(total / perPage),
    next_cursor: connection.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null,
  };
  return { nodes: connection.nodes, meta };
}

function pagingHeaders(connection: Connection, asked: { page?: number; perPage?: number }) {
  return {
    ...(connection.totalCount !== undefined && { 'X-Total-Count': String(connection.totalCount) }),
    'X-Page': String(asked.page ?? 1),
    'X-Per-Page': String(asked.perPage ?? 50),
  };
}
