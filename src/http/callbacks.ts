import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Callback, Module } from '../kernel/module/module.js';

/** Puts the modules' callbacks at the root of the server: neither limited nor asked for credentials, bodies left as they are. */
export async function mountCallbacks(server: FastifyInstance, modules: readonly Module[]): Promise<void> {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    for (const callback of modules.flatMap((module) => module.callbacks ?? [])) {
      const { method, path } = callback;
      const config = { bare: true, row: `${method} ${path}` };
      scope.route({ method, url: path.replace(/\{(\w+)\}/g, ':$1'), config, handler: handlerOf(callback) });
    }
  });
}

const handlerOf =
  ({ handler }: Callback) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const { status, type, headers, body } = await handler(request.ctx, {
      params: request.params as Record<string, string>,
      query: request.query as Record<string, string>,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    });
    return reply
      .status(status ?? 200)
      .type(type ?? 'application/json; charset=utf-8')
      .headers(headers ?? {})
      .send(body);
  };
