import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { RateLimited } from '../kernel/access/rateLimits.js';
import { type AppError, badRequest, notFound, tooLarge, unavailable } from '../kernel/base/errors.js';
import { ownPlaceIn, stateOf } from '../kernel/base/trace.js';
import type { Identified, Identify } from '../kernel/context/callers.js';
import type { App, RequestInfo } from '../kernel/context/context.js';
import { Context } from '../kernel/context/context.js';
import { answerTo } from '../kernel/context/unavailableLog.js';
import { fromDatabase } from '../kernel/database/errors.js';
import type { Callback } from '../kernel/module/module.js';
import { errorPage } from '../kernel/module/page.js';
import { isTrustedProxy, withoutPort } from './address.js';
import { rawBody } from './callbacks.js';
import { Compression } from './compression.js';
import { crossOrigin } from './crossOrigin.js';
import { errorBody, graphqlErrorBody } from './errors.js';
import { ambiguity, clientLimits, drainBody, dropUnasked, jsonBodies, refuseAddress, refuseBroken, safetyHeaders } from './hardening.js';
import { RateGate } from './limits.js';
import { Metrics } from './metrics.js';
import { isLost, nowhere } from './nowhere.js';
import { originRefusal } from './origin.js';
import { probes } from './probes.js';

declare module 'fastify' {
  interface FastifyRequest {
    ctx: Context;
    gate: RateGate;
    /** The session of the cookie that came along, where it slid on by this request. */
    renewed?: Identified['renewed'];
  }
  interface FastifyContextConfig {
    /** The route's label in the metrics. */
    route?: string;
    /** The operation that an endpoint runs, and the named buckets that it spends besides the caller's. */
    operation?: string;
    buckets?: readonly import('../kernel/access/rateLimits.js').Bucket[];
    /** Neither asked for credentials nor limited, but for the named buckets. */
    bare?: boolean;
    /** What a callback asks before the body is read. */
    admits?: Callback['admits'];
    /** The method by which pages of any origin may call; credentials are not looked at. */
    open?: string;
    /** Errors are shown to a person, as a page. */
    page?: boolean;
    /** GraphQL requests of a session have a bucket of their own, and their errors GraphQL's body. */
    graphql?: boolean;
  }
}

export const sessionCookie = 'service_session';
/**
 * An answer that took longer renews no cookie: by then the browser may have that of another session, which came with another answer. The
 * next request a minute later renews it.
 */
const renewalMs = 2000;
const bodyLimit = 1024 * 1024;
const saneId = /^[\w.:-]{1,100}$/;

/** The HTTP server: request ids, who is calling, limits, errors, health and metrics. The APIs and the pages add their routes to it. */
export async function httpServer(app: App, identify: Identify, metrics: Metrics): Promise<FastifyInstance> {
  // What never comes so far as to be counted shows untouched limits.
  const unlimited = () => ({ ...safetyHeaders(app.config), ...new RateGate(app.limiter).headers() });
  const server = Fastify({
    loggerInstance: app.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    trustProxy: app.config.trustProxy ? isTrustedProxy(app.config.trustProxy) : false,
    genReqId: (request) => sane(request.headers['x-request-id']) ?? randomUUID(),
    requestTimeout: clientLimits.requestTimeout,
    maxRequestsPerSocket: clientLimits.maxRequestsPerSocket,
    clientErrorHandler: refuseBroken(unlimited),
    frameworkErrors: refuseAddress(unlimited),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    http: { headersTimeout: clientLimits.headersTimeout, connectionsCheckingInterval: clientLimits.connectionsCheckingInterval },
    forceCloseConnections: 'idle',
    // While it closes our own hook answers, with the body and the headers of every other refusal.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    // What is logged names its request by itself.
    childLoggerFactory: (logger) => logger,
  });
  // Most requests bring no cookie: they are read where they are asked for.
  await server.register(cookie, { hook: false });
  jsonBodies(server);
  addHooks(server, app, identify, metrics);
  server.setErrorHandler((error, request, reply) => void sendError(error, request, reply));
  server.setNotFoundHandler(() => {
    throw notFound('Endpoint');
  });
  probes(server, app, metrics);
  return server;
}

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join() : header);

const sane = (id: string | string[] | undefined) => (typeof id === 'string' && saneId.test(id) ? id : undefined);

function addHooks(server: FastifyInstance, app: App, identify: Identify, metrics: Metrics) {
  const safety = safetyHeaders(app.config);
  const compression = new Compression();
  server.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
    reply.headers(safety);
    const info: RequestInfo = { id: request.id, ip: withoutPort(request.ip), userAgent: request.headers['user-agent'] };
    if (request.method === 'POST') info.idempotencyKey = single(request.headers['idempotency-key']);
    info.clientMutationId = single(request.headers['x-client-mutation-id']);
    info.traceparent = ownPlaceIn(single(request.headers.traceparent), app.clock);
    if (info.traceparent) info.tracestate = stateOf(single(request.headers.tracestate));
    request.ctx = new Context(app, info, null);
    request.gate = new RateGate(app.limiter);
    const isPreflight = crossOrigin(request, reply, app.config);
    const broken = ambiguity(request.raw.rawHeaders);
    if (broken) throw broken;
    if (isPreflight) return reply.status(204).send();
    const { bare, admits, open, buckets, operation, graphql, route } = request.routeOptions.config;
    if (bare) {
      await request.gate.field(request.ctx, route ?? '', buckets ?? []);
      return admits?.(request.ctx, request.headers);
    }
    if (!open) {
      const { principal, refusal, renewed } = await identified(request, app, identify);
      info.refusal = refusal;
      request.renewed = renewed;
      request.ctx = new Context(app, info, principal);
    }
    await request.gate.enter(request.ctx, { buckets, operation, graphql });
    if (app.stopping) throw unavailable('The server is stopping');
  });
  server.addHook('onSend', async (request, reply, payload) => {
    const { bare, buckets } = request.routeOptions.config;
    if (!bare || buckets) reply.headers(request.gate.headers());
    drainBody(request, reply);
    // From here on it is the client who lets the other wait. Node sets it anew with the next request.
    request.raw.socket.setTimeout(clientLimits.answerTimeout);
    dropUnasked(request, payload);
    // a stopping server lets its clients go one by one, before it closes what is left
    if (!app.ready) reply.header('Connection', 'close');
    if (request.ctx.request.replayed) reply.header('Idempotent-Replayed', 'true');
    const renewed = reply.elapsedTime < renewalMs ? request.renewed : undefined;
    const { session = renewed } = request.ctx.request;
    if (session !== undefined) setSessionCookie(app, reply, session);
  });
  server.addHook('onSend', (request, reply, payload) => compression.send(request, reply, payload));
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.config.route ?? request.routeOptions.url ?? 'unknown';
    metrics.requests.observe({ route, method: request.method, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (reply.statusCode === 429) metrics.refusals.inc({ route });
  });
}

async function identified(request: FastifyRequest, app: App, identify: Identify): Promise<Identified> {
  const { headers } = request;
  const { authorization } = headers;
  const cookieValue = headers.cookie === undefined ? undefined : request.server.parseCookie(headers.cookie)[sessionCookie];
  if (authorization === undefined && cookieValue === undefined) return { principal: null };
  const found = await identify(app, {
    authorization,
    cookie: authorization === undefined ? cookieValue : undefined,
    ip: withoutPort(request.ip),
  });
  const foreign = found.principal?.kind === 'session' ? originRefusal(request, app.config) : undefined;
  return foreign ? { principal: null, refusal: foreign } : found;
}

function setSessionCookie(app: App, reply: FastifyReply, session: { token: string; expiresAt: Date } | null) {
  const host = new URL(app.config.publicUrl);
  const local = host.protocol === 'http:' && /^(localhost|127\.|\[::1\])/.test(host.host);
  const options = { httpOnly: true, sameSite: 'lax', path: '/', secure: !local } as const;
  const end = session ? { expires: session.expiresAt } : { expires: new Date(0), maxAge: 0 };
  reply.header('Set-Cookie', reply.server.serializeCookie(sessionCookie, session?.token ?? '', { ...options, ...end }));
}

const size = (bytes: number) => (bytes < 2 ** 20 ? `${bytes / 2 ** 10} KB` : `${bytes / 2 ** 20} MiB`);

const fastifyErrors: Record<string, (bodyLimit: number) => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (bodyLimit) => tooLarge('body', `must be at most ${size(bodyLimit)}`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => badRequest('The body must be JSON, with Content-Type application/json'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => badRequest('The body must be JSON'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => badRequest('The body is not valid JSON'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('The body does not have the length that Content-Length tells'),
  FST_ERR_BAD_URL: () => notFound('Endpoint'),
};

/** What an error means to the caller; what is a fault of ours becomes one opaque 500. */
function asAppError(error: unknown, bodyLimit: number): AppError | undefined {
  const known = fromDatabase(error);
  if (known) return known;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const ours = code ? fastifyErrors[code] : undefined;
  if (ours) return ours(bodyLimit);
  return statusCode && statusCode >= 400 && statusCode < 500 ? badRequest('The request is malformed') : undefined;
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const answer = answerTo(request.ctx, error, asAppError(error, request.routeOptions.bodyLimit), 'unhandled error');
  if (answer instanceof RateLimited) request.gate.show(answer.spent);
  if (answer.retryAfter !== undefined) reply.header('Retry-After', String(answer.retryAfter));
  const { graphql, page } = request.routeOptions.config;
  if (page) return reply.send(rawBody(reply, errorPage(answer, request.method === 'POST')));
  if (isLost(request)) return reply.send(rawBody(reply, nowhere(request)));
  return reply
    .status(answer.status)
    .type('application/json; charset=utf-8')
    .send((graphql ? graphqlErrorBody : errorBody)(answer, request.id));
}
