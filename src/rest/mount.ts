import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { rawBody } from '../http/callbacks.js';
import { anyBodies } from '../http/hardening.js';
import { inOneTurn } from '../http/largeJson.js';
import { allow } from '../kernel/access/access.js';
import type { Bucket } from '../kernel/access/rateLimits.js';
import { notFound } from '../kernel/base/errors.js';
import { Printed } from '../kernel/base/jsonText.js';
import type { RawRequest } from '../kernel/module/routes.js';
import type { Envelope } from './envelope.js';
import { answer, answerRaw, prepare, refuseRetired } from './serve.js';
import type { Passage, sofaRows } from './sofa.js';
import type { MountedRow } from './table.js';

export const basePath = '/api/v1';

/** The rows that SOFA serves; its HTTP layer would be a good part of what a hot one costs. */
const isRegular = ({ row, field }: MountedRow) =>
  row.operation &&
  !row.list &&
  !row.hot &&
  !row.pathArgs &&
  field?.args.every((a) => a.name === 'input' || row.path.includes(`{${a.name}}`));

type Sofa = () => Promise<ReturnType<typeof sofaRows>>;

/** SOFA over the regular rows, loaded and prepared by the first who asks: it takes a fifth of a start, and listening does not need it. */
export function sofaFor(rows: readonly MountedRow[]): Sofa {
  let made: ReturnType<Sofa> | undefined;
  return () => {
    made ??= import('./sofa.js').then(({ sofaRows }) => sofaRows(rows.filter(isRegular), basePath));
    return made;
  };
}

/** Puts every row behind Fastify: the regular ones through SOFA, lists, hot and irregular ones tuned. */
export function mountRest(server: FastifyInstance, rows: readonly MountedRow[], sofa: Sofa): void {
  const handlerOf = (mounted: MountedRow) =>
    isRegular(mounted) ? throughSofa(sofa, mounted) : mounted.row.operation ? tuned(mounted) : own(mounted);
  const [forgiving, strict] = [rows.filter(({ row }) => row.forgiving), rows.filter(({ row }) => !row.forgiving)];
  for (const mounted of strict) server.route(routeOf(mounted, handlerOf(mounted)));
  for (const mounted of rows.filter(({ row }) => row.open)) server.route(preflightOf(mounted));
  server.register(async (inner) => {
    anyBodies(inner);
    for (const mounted of forgiving) inner.route(routeOf(mounted, handlerOf(mounted)));
  });
}

const urlOf = ({ row }: MountedRow) => basePath + row.path.replace(/\{(\w+)\}/g, ':$1');

/** What a browser asks before a page of another origin calls an open row. */
const preflightOf = (mounted: MountedRow): RouteOptions => ({
  method: 'OPTIONS',
  url: urlOf(mounted),
  config: { row: `OPTIONS ${mounted.row.path}`, open: mounted.row.method },
  handler: () => {
    throw notFound('Endpoint');
  },
});

const routeOf = (mounted: MountedRow, handler: RouteHandlerMethod): RouteOptions => ({
  method: mounted.row.method,
  url: urlOf(mounted),
  bodyLimit: mounted.row.bodyCap,
  // Before the body is read: who may not call learns nothing from a 400 and sends no megabytes.
  onRequest: (request, _reply, done) => {
    allow(request.ctx, mounted.needs);
    refuseRetired(mounted.row);
    done();
  },
  config: {
    row: mounted.address,
    open: mounted.row.open ? mounted.row.method : undefined,
    operation: mounted.row.operation,
    buckets: mounted.field?.extensions.buckets as Bucket[] | undefined,
  },
  handler,
});

const rawRequest = (request: FastifyRequest): RawRequest => ({
  params: request.params as Record<string, string>,
  query: request.query as Record<string, string>,
  body: request.body,
});

const json = 'application/json; charset=utf-8';

/** A body as JSON: what the database printed goes out as it stands, at the top or as a member of a member. */
function jsonOf(body: unknown, depth = 2): string {
  if (body instanceof Printed) return body.text;
  if (depth === 0 || typeof body !== 'object' || body === null || Object.getPrototypeOf(body) !== Object.prototype)
    return JSON.stringify(body) ?? 'null';
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value, depth - 1)}`).join(',')}}`;
}

/** The text to send, after its status and headers. A handler that answers the reply itself has Fastify wait for the end of its stream. */
function sent(reply: FastifyReply, { status, headers, body }: Envelope): string {
  reply.status(status).headers(headers).type(json);
  return jsonOf(body);
}

const tuned = (mounted: MountedRow) => async (request: FastifyRequest, reply: FastifyReply) => {
  const prepared = prepare(mounted, request.ctx, rawRequest(request));
  return sent(reply, await answer(mounted, request.ctx, prepared));
};

const throughSofa = (sofa: Sofa, mounted: MountedRow) => async (request: FastifyRequest, reply: FastifyReply) => {
  const prepared = prepare(mounted, request.ctx, rawRequest(request));
  const { input } = prepared.variables;
  // A long body would be printed and parsed once more, without a pause; what is asked for by GET has no body to be passed on.
  const isLong = !(Number(request.headers['content-length']) <= inOneTurn);
  if (input !== undefined && (isLong || mounted.row.method === 'GET')) return sent(reply, await answer(mounted, request.ctx, prepared));
  const passage: Passage = { ctx: request.ctx, prepared };
  // Without the query string, which SOFA would let beat the body; as bytes of the parsed body, never glued text.
  const url = `http://door${request.url.split('?')[0]!.replace(/\/$/, '')}`;
  const body = input === undefined ? undefined : JSON.stringify({ input });
  const inner = new Request(url, { method: mounted.row.method, body, headers: { 'content-type': 'application/json' } });
  await (await sofa()).fetch(inner, { passage } as never);
  if (!passage.outcome) throw notFound('Endpoint');
  return sent(reply, await passage.outcome);
};

const own = (mounted: MountedRow) => async (request: FastifyRequest, reply: FastifyReply) => {
  const answered = await answerRaw(mounted, request.ctx, rawRequest(request));
  return rawBody(reply, { ...answered, status: answered.status ?? mounted.row.status });
};
