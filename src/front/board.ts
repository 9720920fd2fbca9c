import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Where the build puts the pages: beside the compiled sources. */
const folder = fileURLToPath(new URL('../../pages/', import.meta.url));

/** What the pages may do: run and show what this server hands out, and call it. */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where they are; which of them to show they find out by themselves. */
const pages = ['', '/contacts', '/contacts/:id', '/inbox', '/inbox/:id', '/calendar', '/calls'].map((path) => `/board${path}`);

const year = 365 * 24 * 60 * 60;

/** The board at `/board`: pages that show what a client of this server is like, for browsers. Their files are read once. */
export function mountBoard(server: FastifyInstance): void {
  const page = readFileSync(join(folder, 'index.html'));
  const assets = new Map(readdirSync(join(folder, 'assets')).map((name) => [name, readFileSync(join(folder, 'assets', name))]));
  const config = { bare: true, route: '/board' };
  const show = (_request: unknown, reply: FastifyReply) =>
    reply.type('text/html; charset=utf-8').header('Content-Security-Policy', policy).header('Cache-Control', 'no-cache').send(page);
  for (const url of pages) server.get(url, { config }, show);
  server.get<{ Params: { name: string } }>('/board/assets/:name', { config }, (request, reply) => {
    const { name } = request.params;
    const asset = assets.get(name);
    if (!asset) return reply.callNotFound();
    // The names of the files change with what is in them.
    return reply
      .type(types[extname(name)] ?? 'application/octet-stream')
      .header('Cache-Control', `public, max-age=${year}, immutable`)
      .send(asset);
  });
}
