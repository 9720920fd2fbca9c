import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { denied } from '../kernel/base/errors.js';
import { isAllowedOrigin, isOwnOrigin, type Ours } from './origin.js';

const openHeaders = 'Content-Type, Idempotency-Key, X-Request-Id';
/** Besides our own: what clients of GraphQL name themselves by, and what tracing in a browser adds to every request. */
const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Client-Mutation-Id', 'X-Request-Id', 'Last-Event-ID'],
  ...['Apollographql-Client-Name', 'Apollographql-Client-Version', 'Apollo-Require-Preflight', 'X-Apollo-Operation-Name'],
  ...['GraphQL-Client-Name', 'GraphQL-Client-Version', 'GraphQL-Require-Preflight', 'X-Requested-With'],
  ...['Traceparent', 'Tracestate', 'Baggage'],
].join(', ');
const exposedHeaders = [
  ...['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After', 'Idempotent-Replayed'],
  ...['X-Ignored-Fields', 'X-Total-Count', 'X-Page', 'X-Per-Page', 'X-Next-Cursor', 'Content-Disposition'],
].join(', ');

const isPreflight = ({ method, headers }: FastifyRequest) => method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/**
 * Says which foreign pages may read the answer, whatever it will be: those of the configured origins (`CORS_ORIGINS`; none unless
 * set), or on an open endpoint those of any origin, which then never come with credentials. Whether it was a preflight, which is then
 * answered: it spends no limit. Throws 403 for a preflight of another origin, which tells who builds the page what to set.
 */
export function crossOrigin(request: FastifyRequest, reply: FastifyReply, ours: Ours): boolean {
  const { open } = request.routeOptions.config;
  if (!open && !isConfigured(request, reply, ours)) {
    refuseForeign(request, ours);
    return false;
  }
  if (open) reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Access-Control-Expose-Headers', exposedHeaders);
  if (!isPreflight(request)) return false;
  reply.headers({ 'Access-Control-Allow-Methods': open ?? 'GET, HEAD, POST, PUT, PATCH, DELETE', 'Access-Control-Max-Age': '600' });
  reply.header('Access-Control-Allow-Headers', open ? openHeaders : allowedHeaders);
  return true;
}

/** Origins that the log has told of already. */
const told = new LRUCache<string, true>({ max: 100 });

/** A browser shows its page no more than that it was refused: the log says once why, and the answer to a preflight does. */
function refuseForeign(request: FastifyRequest, ours: Ours): void {
  const { origin, host } = request.headers;
  if (origin === undefined || origin === 'null' || isOwnOrigin(origin, host, ours)) return;
  const page = origin.slice(0, 200);
  if (!told.has(page)) request.ctx.app.log.info({ origin: page }, 'a page of another origin called: CORS_ORIGINS names those that may');
  told.set(page, true);
  if (isPreflight(request)) throw denied(`Pages of ${page} may not call: CORS_ORIGINS must name their origin`);
}

function isConfigured({ headers: { origin } }: FastifyRequest, reply: FastifyReply, ours: Ours): boolean {
  if (ours.corsOrigins.length === 0 && !ours.corsLocalhost) return false;
  reply.header('Vary', 'Origin');
  if (origin === undefined || !isAllowedOrigin(origin, ours)) return false;
  reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' });
  return true;
}
