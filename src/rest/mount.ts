import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { rawBody } from '../http/callbacks.js';
import { anyBodies } from '../http/hardening.js';
import { inOneTurn } from '../http/largeJson.js';
import { allow } from '../kernel/access/access.js';
import type { Bucket } from '../kernel/access/rateLimits.js';
import { notFound } from '../kernel/base/errors.js';
import type { WhileAllowed } from '../kernel/context/callers.js';
import type { RawRequest } from '../kernel/module/routes.js';
import type { BoundEndpoint } from './endpoints.js';
import { type Envelope, jsonOf } from './envelope.js';
import { answer, answerPaged, answerRaw, prepare, refuseRetired } from './serve.js';
import type { Passage, sofaOf } from './sofa.js';

export const basePath = '/api/v1';

/** The endpoints that SOFA serves; its HTTP layer would be a good part of what a hot one costs. */
const isRegular = ({ endpoint, field }: BoundEndpoint) =>
  endpoint.operation &&
  !endpoint.list &&
  !endpoint.hot &&
  !endpoint.pathArgs &&
  field?.args.every((a) => a.name === 'input' || endpoint.path.includes(`{${a.name}}`));

type Sofa = () => Promise<ReturnType<typeof sofaOf>>;

/**
 * SOFA over the regular endpoints, loaded and prepared by the first who asks: it takes a fifth of a start, and listening does not need it.
 */
export function sofaFor(endpoints: readonly BoundEndpoint[]): Sofa {
  let made: ReturnType<Sofa> | undefined;
  return () => {
    made ??= import('./sofa.js').then(({ sofaOf }) => sofaOf(endpoints.filter(isRegular), basePath));
    return made;
  };
}

export interface RestParts {
  endpoints: readonly BoundEndpoint[];
  sofa: Sofa;
  whileAllowed: WhileAllowed;
}

/**
 * Puts every endpoint behind Fastify: the regular ones through SOFA, lists, hot and irregular ones directly, raw ones by their own
 * handlers.
 */
export function mountRest(server: FastifyInstance, { endpoints, sofa, whileAllowed }: RestParts): void {
  const handlerOf = (bound: BoundEndpoint) => {
    if (isRegular(bound)) return throughSofa(sofa, bound);
    if (bound.isPaged) return paged(bound, whileAllowed);
    return bound.endpoint.operation ? direct(bound) : raw(bound);
  };
  const [forgiving, strict] = [
    endpoints.filter(({ endpoint }) => endpoint.forgiving),
    endpoints.filter(({ endpoint }) => !endpoint.forgiving),
  ];
  for (const bound of strict) server.route(routeOf(bound, handlerOf(bound)));
  for (const bound of endpoints.filter(({ endpoint }) => endpoint.open)) server.route(preflightOf(bound));
  server.register(async (inner) => {
    anyBodies(inner);
    for (const bound of forgiving) inner.route(routeOf(bound, handlerOf(bound)));
  });
}

const urlOf = ({ endpoint }: BoundEndpoint) => basePath + endpoint.path.replace(/\{(\w+)\}/g, ':$1');

/** What a browser asks before a page of another origin calls an open endpoint. */
const preflightOf = (bound: BoundEndpoint): RouteOptions => ({
  method: 'OPTIONS',
  url: urlOf(bound),
  config: { route: `OPTIONS ${bound.endpoint.path}`, open: bound.endpoint.method },
  handler: () => {
    throw notFound('Endpoint');
  },
});

const routeOf = (bound: BoundEndpoint, handler: RouteHandlerMethod): RouteOptions => ({
  method: bound.endpoint.method,
  url: urlOf(bound),
  bodyLimit: bound.endpoint.bodyCap,
  // The one place where REST decides it, before the body is read: who may not call learns nothing from a 400 and sends no megabytes.
  onRequest: (request, _reply, done) => {
    allow(request.ctx, bound.needs);
    refuseRetired(bound.endpoint);
    done();
  },
  config: {
    route: bound.address,
    open: bound.endpoint.open ? bound.endpoint.method : undefined,
    operation: bound.endpoint.operation,
    buckets: bound.field?.extensions.buckets as Bucket[] | undefined,
  },
  handler,
});

const rawRequest = (request: FastifyRequest): RawRequest => ({
  params: request.params as Record<string, string>,
  query: request.query as Record<string, string>,
  body: request.body,
});

const json = 'application/json; charset=utf-8';

/** The body to send, after its status and headers. A handler that answers the reply itself has Fastify wait for the end of its stream. */
function applyEnvelope(reply: FastifyReply, { status, headers, body }: Envelope): string | Readable {
  reply.status(status).headers(headers).type(json);
  return body instanceof Readable ? body : jsonOf(body);
}

const direct = (bound: BoundEndpoint) => async (request: FastifyRequest, reply: FastifyReply) => {
  const prepared = prepare(bound, rawRequest(request));
  return applyEnvelope(reply, await answer(bound, request.ctx, prepared));
};

const paged = (bound: BoundEndpoint, whileAllowed: WhileAllowed) => async (request: FastifyRequest, reply: FastifyReply) => {
  const prepared = prepare(bound, rawRequest(request));
  return applyEnvelope(reply, await answerPaged(bound, request.ctx, prepared, whileAllowed(request.ctx)));
};

const throughSofa = (sofa: Sofa, bound: BoundEndpoint) => async (request: FastifyRequest, reply: FastifyReply) => {
  const prepared = prepare(bound, rawRequest(request));
  const { input } = prepared.variables;
  // A long body would be printed and parsed once more, without a pause; one without a Content-Length counts as long. What is asked for by
  // GET has no body to be passed on.
  const isLong = !(Number(request.headers['content-length']) <= inOneTurn);
  if (input !== undefined && (isLong || bound.endpoint.method === 'GET'))
    return applyEnvelope(reply, await answer(bound, request.ctx, prepared));
  const passage: Passage = { ctx: request.ctx, prepared };
  // Without the query string, which SOFA would let beat the body; as bytes of the parsed body, never glued text.
  const url = `http://internal${request.url.split('?')[0]!.replace(/\/$/, '')}`;
  const body = input === undefined ? undefined : JSON.stringify({ input });
  const inner = new Request(url, { method: bound.endpoint.method, body, headers: { 'content-type': 'application/json' } });
  await (await sofa()).fetch(inner, { passage } as never);
  if (!passage.outcome) throw notFound('Endpoint');
  return applyEnvelope(reply, await passage.outcome);
};

const raw = (bound: BoundEndpoint) => async (request: FastifyRequest, reply: FastifyReply) => {
  const answered = await answerRaw(bound, request.ctx, rawRequest(request));
  return rawBody(reply, { ...answered, status: answered.status ?? bound.endpoint.status });
};
