import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Callback, Module } from '../kernel/module/module.js';
import type { RawReply } from '../kernel/module/routes.js';

/**
 * Puts the modules' callbacks at the root of the server: not asked for credentials, limited by their own buckets, bodies left as they are.
 */
export async function mountCallbacks(server: FastifyInstance, modules: readonly Module[]): Promise<void> {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    for (const callback of modules.flatMap((module) => module.callbacks ?? [])) {
      const { method, path, buckets, page, admits, bodyCap: bodyLimit } = callback;
      const config = { bare: true, route: `${method} ${path}`, buckets, page, admits };
      scope.route({ method, url: path.replace(/\{(\w+)\}/g, ':$1'), bodyLimit, config, handler: handlerOf(callback) });
    }
  });
}

/** Of a parameter that comes more than once the last one counts. */
const single = (query: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1)! : value]));

const handlerOf =
  ({ handler }: Callback) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = await handler(request.ctx, {
      params: request.params as Record<string, string>,
      query: single(request.query as Record<string, string | string[]>),
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    });
    return rawBody(reply, answer);
  };

/** The body to send of what a handler answers by itself, after its status and headers. */
export function rawBody(reply: FastifyReply, { status, type, headers, body }: RawReply): RawReply['body'] {
  reply
    .status(status ?? 200)
    .type(type ?? 'application/json; charset=utf-8')
    .headers(headers ?? {});
  return body;
}
