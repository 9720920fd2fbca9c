import type { FastifyRequest } from 'fastify';
import { type AppError, denied } from '../kernel/errors.js';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses an unsafe request that a foreign page makes with the browser's cookie. Neither header means no browser. */
export function originRefusal(request: FastifyRequest, publicUrl: string): AppError | undefined {
  if (safe.has(request.method)) return undefined;
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') return denied('A cross-site request with a session cookie is refused');
  if (origin === undefined) return undefined;
  const own = origin === new URL(publicUrl).origin || sameHost(origin, host);
  return own ? undefined : denied('A request from another origin with a session cookie is refused');
}

const sameHost = (origin: string, host: string | undefined) => URL.canParse(origin) && new URL(origin).host === host;
